import { once } from 'node:events';
import { type IncomingMessage, METHODS, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { bodiless, rawRequest, unreadable } from '../../../test/support/raw-request.ts';

/* What takes a connection of one's own to ask. */

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(() => cloud.stop());

/** Silent ones are cut at once. */
const short = { headMs: 200, requestMs: 200, keepAliveMs: 200, quietMs: 0, checkMs: 50 };

test.each([
  ['nothing', ''],
  ['half a head', 'GET /bot_users HTTP/1.1\r\nHo'],
  ['half a body', 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{'],
])('a client that sends %s is 408 in time', async (_, sent) => {
  const impatient = await startTestCloud({ timeouts: short });
  try {
    const head = `POST /bot_users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${cloud.apiKey}\r\nService-Version: 2\r\n`;
    const answer = await rawRequest(impatient.url, sent.startsWith('Content') ? head + sent : sent);
    expect(answer).toMatchObject({ status: 408, body: { error_code: 'ERR_EDGE_206', status_code: 408 } });
  } finally {
    await impatient.stop();
  }
});

const good = () => ({ authorization: `Bearer ${cloud.apiKey}`, 'service-version': '2' });

/** With any method, which fetch does not allow. */
async function raw(method: string, path: string): Promise<IncomingMessage> {
  const sent = request(cloud.url + path, { method, headers: good(), agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer.resume();
}

test('every method that Node reads is known: 405 where there is something, else 404', async () => {
  for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
    const allow = ['GET', 'HEAD', 'POST'].includes(method) ? undefined : 'GET, HEAD, POST';
    const answer = await raw(method, '/bot_users');
    expect([method, answer.headers.allow]).toEqual([method, allow]);
    expect(answer).toMatchObject({ statusCode: { GET: 200, HEAD: 200, POST: 400 }[method] ?? 405 });
    expect((await raw(method, '/nope')).statusCode).toBe(404);
  }
});

/** What is longer than the system itself takes in for the two ends. */
const pages = 5;

test('a client that reads none of its answers is cut off', async () => {
  const impatient = await startTestCloud({ timeouts: { ...short, quietMs: 200 } });
  try {
    const description = 'x'.repeat(1_000_000);
    for (let index = 0; index < 5; index += 1) await impatient.call('POST', '/reserved_addrs', { description });
    const socket = connect(Number(new URL(impatient.url).port), '127.0.0.1').pause();
    const head = `Host: localhost\r\nAuthorization: Bearer ${cloud.apiKey}\r\nService-Version: 2\r\n\r\n`;
    socket.write(`GET /reserved_addrs HTTP/1.1\r\n${head}`.repeat(pages));
    await setTimeout(3_000);
    let read = 0;
    socket
      .on('data', ({ length }) => (read += length))
      .on('error', () => {})
      .resume();
    await once(socket, 'close');
    expect(read).toBeLessThan(pages * 5_000_000);
  } finally {
    await impatient.stop();
  }
});

test('an answer that a fault keeps back comes all the same', async () => {
  const impatient = await startTestCloud({ timeouts: { ...short, quietMs: 100 }, faults: ['* /** latency=400ms'] });
  try {
    expect((await impatient.call('GET', '/bot_users')).status).toBe(200);
  } finally {
    await impatient.stop();
  }
});

test.each(unreadable)('%s has the shape of the others', async (_, text, status) => {
  const number = status === 431 ? 205 : 204;
  expect(await rawRequest(cloud.url, text)).toStrictEqual({
    status,
    type: 'application/json; charset=utf-8',
    body: {
      error_code: `ERR_EDGE_${number}`,
      status_code: status,
      msg: expect.stringMatching(/./),
      details: { operation_id: expect.stringMatching(/^op_[0-9A-Za-z]{27}$/) },
    },
  });
});

test.each(bodiless)('a DELETE of a client %s is carried out', async (_, text) => {
  const { body } = await cloud.call('POST', '/bot_users', { name: 'gone' });
  const head = `Host: localhost\r\nAuthorization: Bearer ${cloud.apiKey}\r\nService-Version: 2\r\nConnection: close\r\n`;
  const answer = await rawRequest(cloud.url, `DELETE /bot_users/${body.id} HTTP/1.1\r\n${head}${text}`);
  expect(answer).toEqual({ status: 204, type: undefined, body: undefined });
});

const uriFor = (host: string) =>
  new Promise<string>((resolve, reject) => {
    const get = request(`${cloud.url}/bot_users`, { headers: { ...good(), host } }, async (response) => {
      const chunks = await response.toArray();
      resolve(JSON.parse(Buffer.concat(chunks).toString()).uri);
    });
    get.on('error', reject).end();
  });

test('uri values are built from what the request was sent to', async () => {
  expect(await uriFor('cloud.test:81')).toBe('http://cloud.test:81/bot_users');
});
