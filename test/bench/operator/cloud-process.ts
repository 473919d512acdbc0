/**
 * The cloud reference server as a process of its own, started with an IPC channel: `cloud-process.ts KEY LATENCY_MS`.
 * Every request takes that long before the server sees it. Answers each message with what was asked of it since the last
 * one: how many calls by method and collection, and when each came that is not the bench's own.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createCloudApi } from '../../../src/reference/cloud-api/core.ts';

const { createServer } = process.getBuiltinModule('node:http');
const [key = '', latency = '0'] = process.argv.slice(2);
const { listener } = await createCloudApi({ apiKeys: [`bench=${key}`], rateLimit: 0 });
let calls: Record<string, number> = {};
let arrivals: [name: string, at: number][] = [];

const server = createServer((request, response) => {
  const [, collection = ''] = /^\/([a-z_]+)/.exec(request.url ?? '') ?? [];
  const name = `${request.method} ${collection}`;
  if (request.headers['x-bench'] === undefined) {
    calls[name] = (calls[name] ?? 0) + 1;
    arrivals.push([name, performance.timeOrigin + performance.now()]);
  }
  setTimeout(() => listener(request, response), Number(latency));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => {
  process.send?.({ calls, arrivals });
  calls = {};
  arrivals = [];
});
process.on('disconnect', () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
