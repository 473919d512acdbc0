/**
 * The embedded Kubernetes API as a process of its own, started with an IPC channel. Answers each message with the writes
 * since the start by method, type and subresource.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createKubeApi } from '../../../src/reference/kube-api/core.ts';
import { kubeconfigText } from '../../../src/reference/kube-api/kubeconfig.ts';
import { parseRoute } from '../../../src/reference/kube-api/route.ts';
import { loadCrds } from '../../../src/reference/kube-api/types/load-crds.ts';

const { createServer } = process.getBuiltinModule('node:http');
const { listener, token } = createKubeApi({ crds: loadCrds(join(import.meta.dirname, '../../../crds')) });
const writes: Record<string, number> = {};

const server = createServer((request, response) => {
  const { method = 'GET', url = '' } = request;
  const { plural = '', subresource } = parseRoute(url.replace(/\?.*$/, '')) ?? {};
  const name = `${method} ${plural}${subresource === undefined ? '' : `/${subresource}`}`;
  if (method !== 'GET') writes[name] = (writes[name] ?? 0) + 1;
  listener(request, response);
});
server.keepAliveTimeout = 120_000;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
process.on('message', () => process.send?.(writes));
process.on('disconnect', () => process.exit());
process.send?.({ url, token, kubeconfig: kubeconfigText({ url, token, certificate: undefined }) });
