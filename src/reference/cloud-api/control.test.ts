import { afterEach, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

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
