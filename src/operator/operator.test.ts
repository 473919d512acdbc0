import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../test/support/until.ts';
import { silentLog } from '../common/log.ts';
import { systemRuntime } from '../common/runtime.ts';
import { runOperator } from './operator.ts';
import { parseSettings } from './settings.ts';

const { monotonic } = systemRuntime;
/** Waits for a moment where others wait for seconds. */
const runtime = {
  ...systemRuntime,
  monotonic: { ...monotonic, sleep: (ms: number, signal?: AbortSignal) => monotonic.sleep(Math.min(ms, 50), signal) },
};

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

/** An API server that has nothing but a namespace, for whose reads it has these statuses; answers a kubeconfig. */
async function startKube(statusOfNamespace: () => number): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const isNamespace = /^\/api\/v1\/namespaces\/[^/]+$/.test(url);
    response.writeHead(isNamespace ? statusOfNamespace() : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: { name: 'ops', uid: '0123456789' } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dir = await mkdtemp(join(tmpdir(), 'edge-operator-'));
  stack.defer(async () => {
    server.close();
    await rm(dir, { recursive: true });
  });
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'ops' } }],
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    users: [{ name: 'u', user: { token: 't' } }],
  };
  await writeFile(join(dir, 'kubeconfig'), JSON.stringify(config));
  return join(dir, 'kubeconfig');
}

/** Runs one until the test is over; answers how to read a metric of it. */
async function started(kubeconfig: string): Promise<(name: string) => Promise<string | undefined>> {
  const served = Promise.withResolvers<unknown>();
  const info = (message: string, fields: object = {}) => {
    if (message === 'serving metrics' && 'url' in fields) served.resolve(fields.url);
  };
  const stop = new AbortController();
  const settings = parseSettings({ kubeconfig, metricsAddr: '127.0.0.1:0', healthAddr: '0' });
  const log = { ...silentLog, info };
  const running = runOperator({ settings, apiKey: undefined, log, runtime }, stop.signal);
  stack.defer(async () => {
    stop.abort();
    await running;
  });
  const url = await served.promise;
  return async (name) => {
    const body = await (await fetch(`${url}/metrics`)).text();
    return body.split('\n').find((line) => line.startsWith(name));
  };
}

test('nobody acts in a shard, nor is shown to, before it is known by what name', async () => {
  let [status, reads] = [500, 0];
  const kubeconfig = await startKube(() => {
    reads += 1;
    return status;
  });
  const metric = await started(kubeconfig);
  await until('it to ask twice', () => reads > 1);
  expect(await metric('edge_operator_shard_held')).toBe('edge_operator_shard_held{shard="0"} 0');
  expect(await metric('edge_operator_leader')).toBe('edge_operator_leader 0');
  status = 200;
  await until('it to act', async () => (await metric('edge_operator_shard_held'))?.endsWith(' 1') === true);
  expect(await metric('edge_operator_leader')).toBe('edge_operator_leader 1');
});
