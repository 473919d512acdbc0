import { beforeEach, expect, test } from '@jest/globals';
import { mainKey, secondKey } from '../core/story.ts';
import { noMoreThanNeeded } from './no-more-than-needed.ts';
import { condition, FakeWorld, madeBotUser, operator } from './witness/witness.fixture.ts';

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
  world.judge(noMoreThanNeeded);
});

const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
const put = (enabled: boolean, more: object = {}) => world.call({ method: 'PUT', path, body: { enabled }, ...more });

test('what changes something', async () => {
  await put(true);
  await put(false);
  await put(true);
  expect(world.said).toEqual([]);
});

test('the same again', async () => {
  await put(true);
  await put(true);
  expect(world.said).toEqual([`no-more-than-needed: PUT ${path} by op-0.0 (200) changes nothing`]);
});

test('the same again, after an answer that was lost: once', async () => {
  await put(true, { arrives: false });
  await put(true);
  expect(world.said).toEqual([]);
  await put(true);
  expect(world.said).toHaveLength(1);
});

test('the same again, after a look with another key', async () => {
  await put(true);
  await world.call({ method: 'GET', path, key: secondKey, status: 404 });
  await put(true);
  expect(world.said).toEqual([]);
});

test.each([
  ['did so too', 'narrow-0.0', 0],
  ['had done so', operator, 1],
])('the same as another installation, since the look of this one, %s', async (_, by, times) => {
  await world.call({ method: 'GET', path, status: 404 });
  await world.pass(10);
  await put(true, { by });
  await put(true);
  expect(world.said).toHaveLength(times);
});

test('the same as was put with another key of the account since the look', async () => {
  world = new FakeWorld({ cloud: { apiKeys: [`main=${mainKey}`, 'main=also-main'] } });
  world.judge(noMoreThanNeeded);
  const keyed = { key: 'also-main' };
  for (const more of [keyed, {}]) await world.call({ method: 'GET', path, status: 404, ...more });
  await world.pass(10);
  await put(true, keyed);
  await put(true);
  expect(world.said).toEqual([]);
  await put(true);
  expect(world.said).toHaveLength(1);
});

test('the same as another installation had put before the look', async () => {
  await put(true, { by: 'narrow-0.0' });
  await world.pass(10);
  await world.call({ method: 'GET', path, answer: { enabled: true } });
  await put(true);
  expect(world.said).toHaveLength(1);
});

test.each([
  ['cannot be', 'watches-frozen', 0],
  ['can be', 'slow-acts', 1],
])('the same once more, where the status that says it is as asked %s known', async (_, name, times) => {
  world = new FakeWorld({ acts: [{ at: 10, do: 'trouble', name, forMs: 60_000 }] });
  world.judge(noMoreThanNeeded);
  const spec = { edgeID: 'edghts_a', routeID: 'edghtsrt_a', compression: {} };
  await world.write('HttpsRouteModules', 'route', { spec });
  await put(true);
  await world.write('HttpsRouteModules', 'route', { spec: { ...spec, saml: {} } });
  await world.pass(20);
  const conditions = [condition('CompressionReady', 'True', 'Any', 2)];
  await world.write('HttpsRouteModules', 'route', { status: { observedGeneration: 2, conditions }, by: operator });
  await put(true);
  expect(world.said).toHaveLength(times);
});

test('the same once more, where no status says that it is as the edited spec asks', async () => {
  const spec = { edgeID: 'edghts_a', routeID: 'edghtsrt_a', compression: {} };
  await world.write('HttpsRouteModules', 'route', { spec });
  await put(true);
  const said = (generation: number, status: string) => ({
    status: { observedGeneration: generation, conditions: [condition('CompressionReady', status, 'Any', generation)] },
    by: operator,
  });
  await world.write('HttpsRouteModules', 'route', said(1, 'True'));
  await world.write('HttpsRouteModules', 'route', { spec: { ...spec, saml: {} } });
  await put(true);
  await world.write('HttpsRouteModules', 'route', said(2, 'False'));
  await put(true);
  expect(world.said).toEqual([]);
  await world.write('HttpsRouteModules', 'route', said(2, 'True'));
  await put(true);
  expect(world.said).toHaveLength(1);
});

test.each([
  ['another key of the account', 'also-main', 0],
  ['the same key', mainKey, 1],
])('the same once more, where the edited spec was put there with %s', async (_, key, times) => {
  world = new FakeWorld({ cloud: { apiKeys: [`main=${mainKey}`, 'main=also-main'] } });
  world.judge(noMoreThanNeeded);
  const spec = { edgeID: 'edghts_a', routeID: 'edghtsrt_a', compression: {} };
  await world.write('HttpsRouteModules', 'route', { spec });
  await put(true);
  await world.write('HttpsRouteModules', 'route', { spec: { ...spec, compression: { enabled: false } } });
  await put(false, { key });
  const conditions = [condition('CompressionReady', 'True', 'Any', 2)];
  await world.write('HttpsRouteModules', 'route', { status: { observedGeneration: 2, conditions }, by: operator });
  await world.pass(60_000);
  await world.call({ method: 'GET', path, answer: { enabled: false } });
  await put(false);
  expect(world.said).toHaveLength(times);
});

test('what is to be put back', async () => {
  await put(true);
  await put(false, { by: 'person' });
  await put(true);
  expect(world.said).toEqual([]);
});

test('a body of which the module shows only a part', async () => {
  const answer = { enabled: true };
  await put(true, { body: { enabled: true, secret: 'a' }, answer });
  await put(true, { body: { enabled: true, secret: 'b' }, answer });
  expect(world.said).toEqual([]);
});

test('a PATCH of what is so already', async () => {
  const id = await madeBotUser(world);
  const rename = () => world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'new' } });
  await rename();
  expect(world.said).toEqual([]);
  await rename();
  expect(world.said).toHaveLength(1);
});

test.each(['lagging-lists', 'gateway-404'])('who is told what is not so, by %s, does not know better', async (name) => {
  world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name, forMs: 60_000 }] });
  world.judge(noMoreThanNeeded);
  await put(true);
  await put(true);
  expect(world.said).toEqual([]);
});
