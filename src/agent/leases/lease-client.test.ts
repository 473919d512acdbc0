import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import type { Endpoint } from './endpoint.ts';
import { LeaseClient } from './lease-client.ts';

const endpoint: Endpoint = {
  public_url: 'tcp://127.0.0.1:5432',
  proto: 'tcp',
  hostport: '127.0.0.1:5432',
  region: 'eu',
  metadata: '',
  tunnel: 'tn_a',
};

let cloud: TestCloud;
let client: LeaseClient;
let key: string;

beforeEach(async () => {
  cloud = await startTestCloud();
  key = cloud.apiKey;
  client = new LeaseClient({ url: `${cloud.url}/`, key: () => key, userAgent: 'test/1' });
});
afterEach(async () => {
  await client.close();
  await cloud.stop();
});

const ids = async () => (await cloud.call('GET', '/endpoints')).body.endpoints.map(({ id }: { id: string }) => id);
const failure = () => client.put('ep_a', endpoint).catch((error: Error) => error);

test('put and delete, the latter also of what is not there', async () => {
  await client.put('ep_a', endpoint);
  expect(await ids()).toEqual(['ep_a']);
  expect(cloud.requests()[0]).toMatchObject({ headers: { 'user-agent': 'test/1', 'service-version': '2' } });
  await client.delete('ep_a');
  await client.delete('ep_a');
  expect(await ids()).toEqual([]);
});

test.each([
  ['a refusal', { region: 'moon' }, /^answered 400: .*"region"/],
  ['an id that is not an endpoint of its own', { tunnel: '' }, /^answered 400: .*"tunnel"/],
])('%s says why', async (_, wrong, message) => {
  await expect(client.put('ep_a', { ...endpoint, ...wrong })).rejects.toThrow(message);
});

test.each([
  ['status=429 retry-after=7', 'answered 429', 7_000],
  ['status=429 retry-after=999', 'answered 429', 300_000],
  ['status=503', 'answered 503', undefined],
  ['reset', 'cannot be reached: ', undefined],
  ['html', "a 200 that is not of the service's own form; check the cloud URL", undefined],
])('%s', async (fault, message, retryAfterMs) => {
  cloud.fault(`PUT ** ${fault}`);
  expect(await failure()).toMatchObject({
    name: 'ApiError',
    message: expect.stringContaining(message),
    retryAfterMs,
  });
});

test('no error holds the key, not even one that the cloud says back', async () => {
  key = 'wrong-key';
  expect(await failure()).toMatchObject({ message: 'answered 403: the API key is unknown' });
  cloud.fault(`PUT ** status=400 body='{"msg":"your key wrong-key\\n is\\u0007 bad"}'`);
  expect(await failure()).toMatchObject({ message: 'answered 400: your key … is bad' });
  key = 'two\nlines';
  expect(await failure()).toMatchObject({ message: expect.stringMatching(/^was not asked: (?!.*lines)/) });
});

test('a redirect is not followed: the key goes nowhere else', async () => {
  cloud.fault('PUT ** status=307');
  expect(await failure()).toMatchObject({ message: expect.stringMatching(/^answered 307/) });
});

test('the base URL may have a path', async () => {
  const below = new LeaseClient({ url: `${cloud.url}/v/1/`, key: () => key, userAgent: 'test/1' });
  await expect(below.put('ep_a', endpoint)).rejects.toThrow('answered 404');
  expect(cloud.requests().at(-1)?.path).toBe('/v/1/_agent/endpoints/ep_a');
  await below.close();
});
