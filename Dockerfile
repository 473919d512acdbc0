# By digest where builds must be repeatable: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# JavaScript is the same everywhere: built once, on whatever the builder is.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install
COPY scripts/build.ts scripts/
COPY tsconfig.json ./
COPY src src
RUN npm run build:image && rm dist/*.map

FROM ${NODE_IMAGE}
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
COPY package.json LICENSE ./
COPY --from=build /build/dist dist
USER 65532:65532
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["run"]
