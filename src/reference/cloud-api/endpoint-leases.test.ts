import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../common/runtime.ts';

const path = '/_agent/endpoints/ep_a';
const lease = {
  public_url: 'http://web.localhost:8080',
  proto: 'http',
  hostport: 'web.localhost:8080',
  metadata: 'm',
  tunnel: 'tn_a',
} as const;

let cloud: TestCloud;
let now: number;
const runtime = { ...systemRuntime, clock: { ...systemRuntime.clock, now: () => now } };

beforeEach(async () => {
  now = 0;
  cloud = await startTestCloud({ runtime, apiKeys: ['other=other-key'] });
});
afterEach(() => cloud.stop());

const list = async () => (await cloud.call('GET', '/endpoints')).body.endpoints;

test('PUT makes an ephemeral endpoint active, with its tunnel Ref, as the API shows it', async () => {
  const { status, body } = await cloud.call('PUT', path, lease);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    ...lease,
    id: 'ep_a',
    region: 'us',
    created_at: '1970-01-01T00:00:00Z',
    updated_at: '1970-01-01T00:00:00Z',
    type: 'ephemeral',
    tunnel: { id: 'tn_a', uri: `${cloud.url}/tunnels/tn_a` },
  });
  expect((await cloud.call('GET', '/endpoints/ep_a')).body).toEqual(body);
  expect(await list()).toEqual([body]);
});

test('30 s after the last PUT it is gone, from the list and by its id', async () => {
  await cloud.call('PUT', path, lease);
  now = 10_000;
  await cloud.call('PUT', path, lease);
  now = 39_999;
  expect(await list()).toHaveLength(1);
  now = 40_000;
  expect((await cloud.call('GET', '/endpoints/ep_a')).status).toBe(404);
  expect(await list()).toEqual([]);
  expect((await cloud.call('PUT', path, lease)).body.created_at).toBe('1970-01-01T00:00:40Z');
});

test('one that comes back is as new in the list as by its time', async () => {
  const ids = async () => (await list()).map(({ id }: { readonly id: string }) => id);
  await cloud.call('PUT', path, lease);
  await cloud.call('PUT', '/_agent/endpoints/ep_b', lease);
  expect(await ids()).toEqual(['ep_b', 'ep_a']);
  now = 30_000;
  await cloud.call('PUT', '/_agent/endpoints/ep_b', lease);
  now = 31_000;
  await cloud.call('PUT', path, lease);
  await cloud.call('PUT', '/_agent/endpoints/ep_b', lease);
  expect(await ids()).toEqual(['ep_a', 'ep_b']);
});

test('a renewal changes nothing that shows; a change of what is served does', async () => {
  const { body } = await cloud.call('PUT', path, lease);
  now = 10_000;
  expect((await cloud.call('PUT', path, lease)).body).toEqual(body);
  const changed = { ...body, metadata: 'new', updated_at: '1970-01-01T00:00:10Z' };
  expect((await cloud.call('PUT', path, { ...lease, metadata: 'new' })).body).toEqual(changed);
});

test('DELETE ends it at once; then it is unknown', async () => {
  await cloud.call('PUT', path, lease);
  expect((await cloud.call('DELETE', path)).status).toBe(204);
  expect(await list()).toEqual([]);
  expect((await cloud.call('DELETE', path)).body.error_code).toBe('ERR_EDGE_202');
});

test('an endpoint that no agent reported is left alone', async () => {
  cloud.seed({ endpoints: [{ ...lease, id: 'ep_a', type: 'ephemeral' }] });
  expect(await cloud.call('PUT', path, lease)).toMatchObject({ status: 409, body: { error_code: 'ERR_EDGE_410' } });
  expect((await cloud.call('DELETE', path)).status).toBe(404);
  now = 1_000_000;
  expect(await list()).toHaveLength(1);
});

test.each([
  ['another scheme', { ...lease, proto: 'udp' }, '"proto"'],
  ['no tunnel', { ...lease, tunnel: undefined }, '"tunnel"'],
  ['an id that is none of a tunnel', { ...lease, tunnel: 'ep_b' }, '"tunnel"'],
  ['a relative URL', { ...lease, public_url: '/web' }, '"public_url"'],
  ['an address without port', { ...lease, hostport: 'web' }, '"hostport"'],
  ['a port beyond those there are', { ...lease, hostport: 'web:65536' }, '"hostport"'],
  ['port 0', { ...lease, hostport: 'web:0' }, '"hostport"'],
  ['an unknown field', { ...lease, type: 'edge' }, '"type"'],
])('%s is refused by name', async (_, body, field) => {
  const answer = await cloud.call('PUT', path, body);
  expect([answer.status, answer.body.msg]).toEqual([400, expect.stringContaining(field)]);
});

test('it is read as every endpoint, not here', async () => {
  expect((await cloud.call('GET', path)).headers.get('allow')).toBe('PUT, DELETE');
});

test('an id of another type is refused', async () => {
  expect((await cloud.call('PUT', '/_agent/endpoints/ra_a', lease)).body.msg).toContain('ep_');
});

describe('the account', () => {
  const send = (key: string | undefined, url = cloud.url) =>
    fetch(url + path, {
      method: 'PUT',
      headers: {
        'service-version': '2',
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(lease),
    });

  test('is that of the key', async () => {
    expect((await send(undefined)).status).toBe(401);
    expect((await send('other-key')).status).toBe(200);
    expect(await list()).toEqual([]);
  });

  test('pays nothing of its rate limit', async () => {
    const limited = await startTestCloud({ rateLimit: 1 });
    try {
      for (let index = 0; index < 3; index += 1) expect((await send(limited.apiKey, limited.url)).status).toBe(200);
      expect((await limited.call('GET', '/endpoints')).status).toBe(200);
      expect((await limited.call('GET', '/endpoints')).status).toBe(429);
    } finally {
      await limited.stop();
    }
  });
});

test('leases outlive a restart of the server and no more than that', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'leases-'));
  const options = { runtime, data: join(dir, 'cloud.db') };
  try {
    const first = await startTestCloud(options);
    await first.call('PUT', path, lease);
    await first.stop();
    now = 29_000;
    const second = await startTestCloud(options);
    expect((await second.call('GET', '/endpoints/ep_a')).status).toBe(200);
    now = 30_000;
    expect((await second.call('GET', '/endpoints/ep_a')).status).toBe(404);
    await second.stop();
  } finally {
    await rm(dir, { recursive: true });
  }
});
