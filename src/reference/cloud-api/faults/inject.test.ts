import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../../common/runtime.ts';

let cloud: TestCloud;
let random = 0;

beforeEach(async () => {
  cloud = await startTestCloud({ runtime: { ...systemRuntime, random: () => random + Math.random() / 1e6 } });
});
afterEach(() => cloud.stop());

const create = () => cloud.call('POST', '/bot_users', { name: 'a' });
const count = async () => (await cloud.call('GET', '/bot_users')).body.bot_users.length;
const codeOf = (error: unknown) => (error as { cause?: { code?: string } }).cause?.code;

describe('each fault', () => {
  test('status: answers so, without work, as often as count says', async () => {
    cloud.fault('POST /bot_users status=503 count=2');
    expect((await create()).body).toMatchObject({ error_code: 'ERR_EDGE_900', status_code: 503 });
    expect((await create()).status).toBe(503);
    expect(await count()).toBe(0);
    expect((await create()).status).toBe(201);
  });

  test('status with Retry-After and a body of its own', async () => {
    cloud.fault(`POST ** status=429 retry-after=7 body='{"a":1}' count=1`);
    const answer = await create();
    expect(answer).toMatchObject({ status: 429, body: { a: 1 } });
    expect(answer.headers.get('retry-after')).toBe('7');
  });

  test('status 429 without a body looks as the rate limit does', async () => {
    cloud.fault('POST ** status=429');
    expect((await create()).body).toMatchObject({ error_code: 'ERR_EDGE_120', status_code: 429 });
  });

  test('latency: answers late, and right', async () => {
    cloud.fault('POST /bot_users latency=150ms count=1');
    const start = performance.now();
    expect((await create()).status).toBe(201);
    expect(performance.now() - start).toBeGreaterThanOrEqual(145);
  });

  test('drop: the work is done, the answer is lost', async () => {
    cloud.fault('POST /bot_users drop count=1');
    expect(codeOf(await create().catch((error) => error))).toBe('UND_ERR_SOCKET');
    expect(await count()).toBe(1);
    expect(cloud.requests()[0]?.status).toBe(201);
  });

  test('drop of a delete, which has no body', async () => {
    const { id } = (await create()).body;
    cloud.fault('DELETE /bot_users/* drop count=1');
    await expect(cloud.call('DELETE', `/bot_users/${id}`)).rejects.toThrow();
    expect(await count()).toBe(0);
  });

  test('reset: the connection is reset before any work', async () => {
    cloud.fault('POST /bot_users reset count=1');
    expect(codeOf(await create().catch((error) => error))).toBe('ECONNRESET');
    expect(await count()).toBe(0);
    expect(cloud.requests()[0]?.status).toBeNull();
  });

  test('hang: no answer and no work, until the caller gives up', async () => {
    cloud.fault('POST /bot_users hang count=1');
    const headers = { authorization: `Bearer ${cloud.apiKey}`, 'service-version': '2' };
    const signal = AbortSignal.timeout(200);
    const answer = fetch(`${cloud.url}/bot_users`, { method: 'POST', headers, signal });
    await expect(answer).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
    expect(await count()).toBe(0);
  });

  test('html: status 200 and a page, without work', async () => {
    cloud.fault('POST /bot_users html count=1');
    const answer = await create();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.body).toMatch(/^<!DOCTYPE html>/);
    expect(await count()).toBe(0);
  });

  test('malformed: the work is done; the first field, or the named one, has a wrong type', async () => {
    cloud.fault('POST /bot_users malformed count=1');
    expect((await create()).body).toMatchObject({ id: expect.any(Number), name: 'a' });
    cloud.fault('GET /bot_users malformed=active count=1');
    expect((await cloud.call('GET', '/bot_users')).body.bot_users[0]).toMatchObject({ active: expect.any(String) });
    cloud.fault('GET /bot_users malformed=uri count=1');
    expect((await cloud.call('GET', '/bot_users')).body.uri).toEqual(expect.any(Number));
    expect(await count()).toBe(1);
  });
});

describe('which requests are struck', () => {
  test('by method and path only', async () => {
    cloud.fault('GET /bot_users/* status=500');
    expect(await count()).toBe(0);
    expect((await cloud.call('GET', '/bot_users/x')).status).toBe(500);
    expect((await cloud.call('DELETE', '/bot_users/x')).status).toBe(404);
  });

  test('skip lets the first pass', async () => {
    cloud.fault('GET /bot_users status=500 skip=1 count=1');
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await cloud.call('GET', '/bot_users')).status);
    expect(statuses).toEqual([200, 500, 200]);
  });

  test('probability draws each time', async () => {
    cloud.fault('GET /bot_users status=500 probability=0.5');
    random = 0.6;
    expect((await cloud.call('GET', '/bot_users')).status).toBe(200);
    random = 0.4;
    expect((await cloud.call('GET', '/bot_users')).status).toBe(500);
  });

  test('the first fault that matches, then the next when it is used up', async () => {
    cloud.fault('* ** status=500 count=1');
    cloud.fault('* ** status=502 count=1');
    expect((await cloud.call('GET', '/bot_users')).status).toBe(500);
    expect((await cloud.call('GET', '/bot_users')).status).toBe(502);
    cloud.fault('* ** status=500');
    cloud.clearFaults();
    expect((await cloud.call('GET', '/bot_users')).status).toBe(200);
  });
});

test('closing does not wait for hanging or late requests', async () => {
  const other = await startTestCloud({ faults: ['GET /bot_users hang', 'GET /endpoints latency=60s'] });
  const calls = ['/bot_users', '/endpoints'].map((path) => other.call('GET', path).catch(() => 'cut'));
  while (other.requests().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await other.stop();
  expect(await Promise.all(calls)).toEqual(['cut', 'cut']);
});
