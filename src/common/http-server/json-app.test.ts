import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { until } from '../../../test/support/until.ts';
import { createJsonApp, type JsonRoute, serve } from './json-app.ts';

let app: FastifyInstance;
let causes: string[];
afterEach(() => app.close());

/** An app that takes POST at `/`, answers late at `/late`, and tells the cause of each refusal. */
async function connected(): Promise<Socket> {
  causes = [];
  app = createJsonApp({
    name: 'server',
    timeouts: { headMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000, quietMs: 0, checkMs: 5_000 },
    readBody: (body) => JSON.parse(String(body)),
    refusal: (_, { cause }) => {
      causes.push(cause);
      return { status: cause === 'bodyTypeWrong' ? 415 : 400, body: { cause } };
    },
  });
  let atWork = 0;
  const late = async () => {
    atWork += 1;
    return delay(100, { atWork }).finally(() => (atWork -= 1));
  };
  const routes: readonly JsonRoute<unknown>[] = [
    { method: 'POST', path: '/', status: 204, handle: () => undefined },
    { method: 'GET', path: '/late', status: 200, handle: late },
  ];
  serve(app, routes, {
    read: () => undefined,
    refuse: () => new Error('no such method'),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return connect((app.server.address() as AddressInfo).port, '127.0.0.1');
}

const head = (method: string, length: number, more = '') =>
  `${method} / HTTP/1.1\r\nHost: localhost\r\n${more}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test('a client that breaks off its body is no fault of the server', async () => {
  const socket = await connected();
  const arrived = new Promise((resolve) => app.server.once('request', resolve));
  socket.write(`${head('POST', 100)}{`);
  await arrived;
  socket.destroy();
  // The connection ends in the middle of a message, and so does what reads it.
  await until('both to be told', () => causes.length > 1);
  expect(causes).toEqual(['requestMalformed', 'requestMalformed']);
});

test.each([
  ['that is too long', 'POST', 400, '{"cause":"bodyTooLarge"}'],
  ['of a method that is not there', 'PUT', 400, '{"cause":"internal"}'],
  ['of which there is no need', 'GET', 200, '{"atWork":1}'],
])('a client that sends its last body, %s, whole before it reads has its answer', async (_, method, status, body) => {
  const socket = await connected();
  const length = 20_000_000;
  socket.write(head(method, length, 'Connection: close\r\n').replace('GET /', 'GET /late'));
  // As clients that block: what is not yet sent is sent, whatever has come meanwhile.
  await new Promise((resolve, reject) => {
    socket.once('error', reject).write(Buffer.alloc(length, ' '), (error) => (error ? reject(error) : resolve(error)));
  });
  const answer = await text(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} (.*\r\n)+connection: close\r\n`, 'i'));
  expect(answer).toContain(body);
});

test.each([
  ['that is wrong', 1, '{'],
  ['that is too long', 2_000_000, undefined],
])('behind a body %s the connection goes on', async (_, length, body = ' '.repeat(length)) => {
  const socket = await connected();
  socket.write(`${head('POST', body.length)}${body}${head('PUT', 0, 'Connection: close\r\n')}`);
  const answers = (await text(socket)).split(/(?<=\})(?=HTTP)/);
  expect(answers).toEqual([expect.stringMatching(/^HTTP\/1\.1 400 /), expect.stringMatching(/^HTTP\/1\.1 400 /)]);
  expect(causes).toHaveLength(2);
});

test('an expectation that is not known is none', async () => {
  const socket = await connected();
  socket.write(`${head('POST', 2, 'Expect: wonders\r\nConnection: close\r\n')}{}`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 /);
});

test.each([
  ['Content-Encoding: gzip', 415, 'bodyTypeWrong'],
  ['Content-Encoding: identity', 204, undefined],
  ['Transfer-Encoding: gzip, chunked', 415, 'bodyTypeWrong'],
  ['Transfer-Encoding: Chunked', 204, undefined],
])('a body with %s is %s', async (coding, status, cause) => {
  const socket = await connected();
  const isChunked = coding.startsWith('Transfer');
  const start = head('POST', 2, `${coding}\r\nConnection: close\r\n`);
  socket.write(isChunked ? `${start.replace('Content-Length: 2\r\n', '')}2\r\n{}\r\n0\r\n\r\n` : `${start}{}`);
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(causes).toEqual(cause === undefined ? [] : [cause]);
});

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

test('what is no request is answered behind the requests before it', async () => {
  const socket = await connected();
  const late = 'GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n';
  socket.write(`${late}${late}garbage\r\n\r\n`);
  // More of it comes meanwhile, as from a client that reads nothing yet.
  for (let i = 0; i < 20; i += 1) {
    await delay(2);
    socket.write('garbage\r\n\r\n');
  }
  expect(statuses(await text(socket))).toEqual([200, 200, 400]);
});

test('requests that come at once are carried out one after the other', async () => {
  const socket = await connected();
  const late = 'GET /late HTTP/1.1\r\nHost: localhost\r\n';
  socket.write(`${late}\r\n${late}\r\n${late}Connection: close\r\n\r\n`);
  const answers = await text(socket);
  expect([...answers.matchAll(/"atWork":(\d)/g)].map(([, count]) => count)).toEqual(['1', '1', '1']);
});

test.each([
  [100, 101],
  [101, 0],
])('behind a request %i others may wait: %i answers', async (count, answers) => {
  const socket = await connected();
  const others = `${head('POST', 2)}{}`.repeat(count - 1) + head('POST', 2, 'Connection: close\r\n');
  socket.on('error', () => {}).write(`GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n${others}{}`);
  expect(statuses(await text(socket).catch(() => ''))).toHaveLength(answers);
});

test('a request that was answered already is not answered again where the rest of it fails', async () => {
  const socket = await connected();
  socket.write(head('PUT', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked'));
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  await until('the answer', () => answer !== '');
  socket.write('no chunk\r\n');
  await once(socket, 'close');
  expect(statuses(answer)).toEqual([400]);
});
