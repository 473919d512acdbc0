import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { silentLog } from '../../src/common/log.ts';
import { systemRuntime } from '../../src/common/runtime.ts';
import { KubeClient } from '../../src/operator/kube/client.ts';
import { connect } from '../../src/operator/kube/connection.ts';
import { secretType } from '../../src/operator/kube/types.ts';
import { createCertificate } from '../../src/reference/kube-api/certificate.ts';
import { until } from '../support/until.ts';

const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"name":"","resourceVersion":"1"}}}\n';

test('where the API server speaks HTTP/2 many watches share a connection, and each ends alone', async () => {
  const { certificate, key } = createCertificate('127.0.0.1', Date.now());
  const server = createSecureServer({ cert: certificate, key, allowHTTP1: true });
  const [sessions, streams] = [new Set(), new Set()];
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream) => {
    streams.add(stream);
    stream.on('close', () => streams.delete(stream));
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    stream.write(bookmark);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'http2-'));
  const kubeconfig = join(folder, 'config');
  const ca = Buffer.from(certificate).toString('base64');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const connection = await connect({ ...systemRuntime, kubeconfig, userAgent: 'test', log: silentLog });
  const client = new KubeClient(connection, systemRuntime);
  const [first, rest] = [new AbortController(), new AbortController()];
  let brought = 0;
  const watch = async (signal: AbortSignal) => {
    for await (const event of client.watch(secretType, { signal })) if (event.type === 'BOOKMARK') brought++;
  };
  const watches = Array.from({ length: 80 }, (_, index) =>
    watch(index === 0 ? first.signal : rest.signal).catch((error: unknown) => error),
  );
  await until('all watches', () => brought === 80);
  expect(sessions.size).toBe(1);
  first.abort();
  expect(await watches[0]).toMatchObject({ name: 'AbortError' });
  await until('the end of one', () => streams.size === 79);
  rest.abort();
  await Promise.all(watches);
  await connection.close();
  server.close();
  await rm(folder, { recursive: true });
});
