import { afterEach, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { rawRequest } from '../../../test/support/raw-request.ts';
import { defaultSeed } from './seed/default.ts';

let cloud: TestCloud;
afterEach(() => cloud.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const control = async (method: string, path: string, body?: object): Promise<{ status: number; body: any }> => {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(cloud.url + path, { method, ...init });
  return { status: response.status, body: response.status === 204 ? undefined : await response.json() };
};

test('/_faults sets, shows and clears faults, without a key', async () => {
  cloud = await startTestCloud();
  const spec = 'GET /bot_users status=503 count=2';
  expect(await control('POST', '/_faults', { spec })).toMatchObject({ status: 201 });
  expect((await cloud.call('GET', '/bot_users')).status).toBe(503);
  expect((await control('GET', '/_faults')).body).toEqual({ faults: [{ spec, struck: 1, remaining: 1 }] });
  expect((await control('DELETE', '/_faults')).status).toBe(204);
  expect((await cloud.call('GET', '/bot_users')).status).toBe(200);
});

test('a fault that is written wrong is 400 and sets nothing', async () => {
  cloud = await startTestCloud();
  const { status, body } = await control('POST', '/_faults', { spec: 'GET /x explode' });
  expect([status, body.msg]).toEqual([400, expect.stringContaining('explode')]);
  expect((await control('GET', '/_faults')).body).toEqual({ faults: [] });
});

test('/_requests shows what was received, in order, without the key', async () => {
  cloud = await startTestCloud();
  await cloud.call('POST', '/bot_users', { name: 'a' });
  await cloud.call('GET', '/bot_users?limit=5');
  await cloud.call('POST', '/bot_users', { nope: 1 });
  const { requests } = (await control('GET', '/_requests')).body;
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: '/bot_users',
      query: {},
      status: 201,
      body: { name: 'a' },
      at: expect.stringMatching(/Z$/),
    },
    { method: 'GET', path: '/bot_users', query: { limit: '5' }, status: 200 },
    { method: 'POST', path: '/bot_users', status: 400, body: { nope: 1 } },
  ]);
  expect(requests[0].headers).toMatchObject({ 'service-version': '2', 'content-type': 'application/json' });
  expect(JSON.stringify(requests)).not.toContain(cloud.apiKey);
  expect(cloud.requests()).toEqual(requests);
  expect((await control('DELETE', '/_requests')).status).toBe(204);
  expect(cloud.requests()).toEqual([]);
});

test('/_requests shows no secret of a body', async () => {
  cloud = await startTestCloud({ seeds: [defaultSeed] });
  const [edge] = defaultSeed.https_edges ?? [];
  const route = `/edges/https/${edge?.id}/routes/${edge?.routes?.[0]}`;
  await cloud.call('PUT', `${route}/webhook_verification`, { provider: 'github', secret: 'canary' });
  await cloud.call('PUT', `${route}/saml`, { idp_metadata: '<canary/>' });
  const { body } = await control('GET', '/_requests');
  expect(body.requests).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain('canary');
});

describe('who may steer', () => {
  const path = '/_requests';
  const as = async (host: string, ...headers: string[]) => {
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', ''];
    return (await rawRequest(cloud.url, lines.join('\r\n'))).status;
  };

  test.each([
    ['this machine by its name', 'localhost', 200],
    ['this machine by an address and port', '127.0.0.1:8080', 200],
    ['a page of another site whose name resolves to this machine', 'evil.test', 401],
    ['a proxy for others', 'cloud.example.com:8080', 401],
  ])('%s, without a key: Host %s', async (_who, host, status) => {
    cloud = await startTestCloud();
    expect(await as(host)).toBe(status);
  });

  test('whoever has a key, which takes nothing of its rate limit and needs no version', async () => {
    cloud = await startTestCloud({ rateLimit: 1 });
    for (let count = 0; count < 3; count += 1) {
      expect(await as('cloud.example.com', `Authorization: Bearer ${cloud.apiKey}`)).toBe(200);
    }
    expect(await as('cloud.example.com', 'Authorization: Bearer other')).toBe(403);
    expect(cloud.requests()).toEqual([]);
  });
});

test('a fault on every path does not lock test control out', async () => {
  cloud = await startTestCloud({ faults: ['* ** reset'] });
  expect((await control('DELETE', '/_faults')).status).toBe(204);
});

test('without fault control neither exists and nothing is recorded', async () => {
  cloud = await startTestCloud({ faultControl: false });
  expect((await control('GET', '/_faults')).status).toBe(401);
  expect((await cloud.call('GET', '/_faults')).status).toBe(404);
  expect((await cloud.call('GET', '/_requests')).status).toBe(404);
  expect(cloud.requests()).toEqual([]);
});
