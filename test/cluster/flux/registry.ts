import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chartDir, helm } from '../../deploy/helm.ts';

export interface Registry {
  /** Without the scheme: `127.0.0.1:5000`. */
  readonly host: string;
  close(): Promise<void>;
}

interface Blob {
  readonly type: string;
  readonly bytes: Buffer;
}

const digestOf = ({ bytes }: Blob) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const described = (blob: Blob) => ({ mediaType: blob.type, digest: digestOf(blob), size: blob.bytes.length });
const json = (type: string, value: object): Blob => ({ type, bytes: Buffer.from(JSON.stringify(value)) });

/** An OCI registry on loopback that has the chart, whatever it is asked for by name. */
export async function startRegistry(dir: string, version: string): Promise<Registry> {
  await helm(['package', chartDir, '--destination', dir]);
  const chart: Blob = {
    type: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    bytes: readFileSync(join(dir, `edge-operator-${version}.tgz`)),
  };
  const config = json('application/vnd.cncf.helm.config.v1+json', { name: 'edge-operator', version });
  const manifest = json('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: described(config),
    layers: [described(chart)],
  });
  const blobs = new Map([chart, config, manifest].map((blob) => [digestOf(blob), blob]));
  blobs.set(version, manifest);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    if (pathname === '/v2/') return response.end('{}');
    const [, name = ''] = /\/(?:manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    const blob = blobs.get(name);
    if (blob === undefined) return response.writeHead(404).end('{"errors":[]}');
    const headers = { 'content-type': blob.type, 'docker-content-digest': digestOf(blob) };
    response.writeHead(200, { ...headers, 'content-length': blob.bytes.length });
    return response.end(request.method === 'HEAD' ? undefined : blob.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
