import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { systemRuntime } from '../runtime.ts';
import { body } from './answer.ts';
import { HttpClient } from './http-client.ts';
import { patience } from './service.ts';

let proxy: Server;
/** What the proxy was asked for. */
let asked: string[];
let open: Set<Socket>;
const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];
let before: (string | undefined)[];

beforeEach(async () => {
  [asked, open] = [[], new Set()];
  before = names.map((name) => process.env[name]);
  for (const name of names) delete process.env[name];
  proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  proxy.on('connect', (request, socket) => {
    asked.push(`${request.method} ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  // Those that asked for a way are the server's no more.
  proxy.on('connection', (socket) => void open.add(socket.on('error', () => {})));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});

afterEach(async () => {
  for (const [index, name] of names.entries()) {
    if (before[index] === undefined) delete process.env[name];
    else process.env[name] = before[index];
  }
  for (const socket of open) socket.destroy();
  proxy.close();
  await once(proxy, 'close');
});

const address = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

async function ask(url: string, isOutside = true, timeouts = patience): Promise<unknown> {
  const service = {
    ...{ answered: 'answered', urlName: 'URL', timeouts, isOutside },
    errorBody: () => ({ messages: [] }),
  };
  const client = new HttpClient(service, { ...systemRuntime, baseURL: new URL(url), userAgent: 'test' });
  try {
    return await client.send({ method: 'GET', path: '/x', read: body(z.object({})) });
  } finally {
    await client.close();
  }
}

test('requests to the outside go through the proxy that the environment names', async () => {
  process.env.HTTP_PROXY = address();
  await ask('http://cloud.test');
  expect(asked).toEqual([expect.stringMatching(/^(GET http:\/\/cloud\.test\/x|CONNECT cloud\.test:80)$/)]);
});

test('a proxy that lets nobody through is named, and nothing was sent', async () => {
  process.env.https_proxy = address();
  await expect(ask('https://cloud.test')).rejects.toMatchObject({
    message: 'the proxy that the environment names answered 403',
    reason: 'Unreachable',
    definite: true,
  });
  expect(asked).toEqual(['CONNECT cloud.test:443']);
});

test('a proxy that closes the connection is named, and nothing was sent', async () => {
  proxy.removeAllListeners('connect').on('connect', (_, socket) => socket.destroy());
  process.env.https_proxy = address();
  await expect(ask('https://cloud.test')).rejects.toMatchObject({
    message: 'the proxy that the environment names: the connection broke',
    definite: true,
  });
});

test('a proxy that does not answer is waited for no longer than for a connection', async () => {
  proxy.removeAllListeners('connect').on('connect', (_, socket) => void socket.resume());
  process.env.https_proxy = address();
  const timeouts = { ...patience, connectMs: 100 };
  await expect(ask('https://cloud.test', true, timeouts)).rejects.toMatchObject({
    message: 'the proxy that the environment names: timed out waiting for the answer',
    reason: 'Unreachable',
    definite: true,
  });
});

test.each([
  ['is not there', () => 'http://user:hunter2@127.0.0.1:9', 'the connection was refused'],
  ['does not speak HTTP', address, 'what answers there does not speak HTTP: check the address'],
])('of a proxy that %s that is said, and nothing was sent', async (_, given, why) => {
  proxy.removeAllListeners('connect').on('connect', (__, socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  process.env.https_proxy = given();
  await expect(ask('https://cloud.test')).rejects.toMatchObject({
    message: `the proxy that the environment names: ${why}`,
    definite: true,
  });
});

test('a proxy that asks for a password is named', async () => {
  proxy.removeAllListeners('request').on('request', (_, response) => void response.writeHead(407).end());
  process.env.http_proxy = address();
  await expect(ask('http://cloud.test')).rejects.toMatchObject({ message: expect.stringContaining('407') });
});

test.each([
  ['what NO_PROXY names', 'http://cloud.test', true],
  ['what is not outside', 'http://other.test', false],
])('%s is asked without it', async (_, url, isOutside) => {
  process.env.HTTP_PROXY = address();
  process.env.NO_PROXY = 'cloud.test';
  await expect(ask(url, isOutside)).rejects.toMatchObject({ reason: 'Unreachable', definite: true });
  expect(asked).toEqual([]);
});

test.each([
  ['without a scheme', () => address().replace('http://', ''), undefined],
  ['that is none', () => 'socks9://user:hunter2@proxy', 'https_proxy names no proxy: write http://host:port'],
  ['with a stray %', () => 'us%zzer:hunter2@proxy', 'https_proxy has a % in its user or password: write %25'],
  ['that is no URL', () => 'http://:hunter2@', 'https_proxy names no proxy: write http://host:port'],
])('an address %s', async (_, given, refusal) => {
  process.env.https_proxy = given();
  const failure = await ask('http://cloud.test').catch((error: Error) => error.message);
  expect(failure).toEqual(refusal ?? {});
  expect(asked).toHaveLength(refusal === undefined ? 1 : 0);
});

test('what is on this machine is asked without it', async () => {
  process.env.HTTP_PROXY = 'http://127.0.0.1:9';
  await ask(address());
  expect(asked).toEqual(['GET /x']);
});
