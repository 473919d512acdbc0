# Bases are taken by the digest of their index of platforms; the tag says what that was.

# JavaScript is the same everywhere: built once, on whatever the builder is.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install
COPY scripts/build.ts scripts/
COPY tsconfig.json ./
COPY src src
RUN npm run build:image

# Nothing of it but the executable of Node, for the platform of the image.
FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS node

# What that is linked with, certificates and time zones: no shell and no package manager.
FROM gcr.io/distroless/cc-debian13:nonroot@sha256:e792ab3d241a468a4fd7519ddbbebe66b49b5f365771716ea688ad40b6c6f1c2
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Edge Operator" \
      org.opencontainers.image.description="Kubernetes operator that manages a cloud edge account declaratively" \
      org.opencontainers.image.url="https://github.com/edge-operator/edge-operator" \
      org.opencontainers.image.source="https://github.com/edge-operator/edge-operator" \
      org.opencontainers.image.documentation="https://github.com/edge-operator/edge-operator/blob/main/README.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY package.json LICENSE ./
COPY --from=build /build/dist dist
USER 65532:65532
# With the flag no signal opens Node's inspector, which can do whatever the process can.
ENTRYPOINT ["/usr/local/bin/node", "--disable-sigusr1", "/app/dist/main.js"]
CMD ["run"]
