import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Act, mainKey } from '../core/story.ts';
import { surroundings } from '../core/surroundings.ts';
import { sameAsFresh } from './same-as-fresh.ts';
import {
  available,
  type CloudCall,
  condition,
  FakeWorld,
  madeBotUser,
  operator,
  unready,
} from './witness/witness.fixture.ts';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

beforeEach(async () => {
  world = new FakeWorld({ cloud: { apiKeys: [`main=${mainKey}`, 'b=b-key', 'other=other-key'] } });
  judge = world.judge(sameAsFresh);
  await world.pass(1_000);
});

async function spoke() {
  await judge.atRest?.();
  return world.said.map((line) => line.replace('same-as-fresh: ', ''));
}

const rename = (id: string, name: string) =>
  world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name }, by: 'person' });

test('what is as it would be from the start', async () => {
  await madeBotUser(world);
  expect(await spoke()).toEqual([]);
});

test('a status that would be another from the start', async () => {
  await madeBotUser(world);
  await world.write('BotUser', 'bot', { status: unready(1, 'Unreachable', 'Reconciling'), by: operator });
  expect(await spoke()).toEqual([
    'BotUser a/bot is {"Ready":"False Unreachable"}; from the start it would be {"Ready":"True Available"}',
  ]);
});

test('content that would be another from the start', async () => {
  const id = await madeBotUser(world);
  await rename(id, 'other');
  expect(await spoke()).toEqual([
    'BotUser a/bot has {"active":true,"name":"other"}; from the start it would be {"active":true,"name":"bot"}',
  ]);
});

test('what was imported may be as it was before', async () => {
  const id = await madeBotUser(world);
  await rename(id, 'other');
  await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/external-id': null } });
  await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/external-id': id } });
  expect(await spoke()).toEqual([]);
});

test('what could not be kept apart from the start is not compared', async () => {
  const two = { name: 'two', settings: { watchNamespaces: 'b', resyncInterval: '1m' } };
  const acts: readonly Act[] = [{ at: 0, do: 'start', installation: 'two' }];
  world = new FakeWorld({ seed: 2, installations: [{ name: 'op' }, two], acts });
  judge = world.judge(sameAsFresh);
  const [edge] = surroundings.httpsEdges;
  const spec = { edgeID: edge?.id, tlsTermination: { enabled: true } };
  const { conditions } = available(1) as { conditions: readonly unknown[] };
  const status = { conditions: [...conditions, condition('TlsTerminationReady', 'True', 'Available', 1)] };
  await world.write('HttpsEdgeModules', 'elder', { spec, status, by: operator });
  const path = `/edges/https/${edge?.id}/tls_termination`;
  await world.call({ method: 'PUT', path, body: { enabled: true, min_version: '1.2' } });
  // Which has a second part to be read: from the start of this seed it is managed by who sees it alone.
  const parts = { tlsTermination: { enabled: false }, mutualTLS: { certificateAuthorityIDs: [] } };
  const rival = { namespace: 'b', spec: { ...spec, ...parts } };
  await world.write('HttpsEdgeModules', 'rival', { ...rival, status: unready(1, 'Conflict', 'Stalled'), by: operator });
  expect(await spoke()).toEqual([]);
});

describe('a field of a module that the spec leaves out', () => {
  const { id: edgeID, routes } = surroundings.httpsEdges[0] as { id: string; routes: readonly string[] };
  const parent = { edgeID, routeID: String(routes[0]) };
  const ids = surroundings.ipPolicies.slice(0, 1);

  const path = `/edges/https/${edgeID}/routes/${parent.routeID}/ip_restriction`;
  const put = (more: object, call: Partial<CloudCall> = {}) =>
    world.call({
      ...{ method: 'PUT', path, key: 'b-key', body: { enabled: true, ...more } },
      ...{ answer: { enabled: true, ip_policies: [] }, ...call },
    });
  const shown = { enabled: true, ip_policies: ids.map((id) => ({ id })) };

  async function ownAccount() {
    await world.data('Secret', 'own', { key: 'b-key' });
    const account = { spec: { apiKeySecretRef: { name: 'own', key: 'key' } } };
    await world.write('CloudAccount', 'own', { ...account, status: available(1) });
  }

  beforeEach(ownAccount);

  const own = { ...parent, accountRef: { name: 'own' } };
  const restricted = { ipRestriction: { ipPolicyIDs: ids } };
  const differs = 'HttpsRouteModules a/route has {"ipRestriction":';

  async function leavesOut(generation = 1) {
    const { conditions } = available(generation) as { conditions: readonly unknown[] };
    const status = { conditions: [...conditions, condition('IpRestrictionReady', 'True', 'Available', generation)] };
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, ipRestriction: {} }, status, by: operator });
  }

  test('is as the service chooses it', async () => {
    await leavesOut();
    await put({});
    expect(await spoke()).toEqual([]);
  });

  test('is not what it asked for before', async () => {
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, ...restricted } });
    await put({ ip_policy_ids: ids }, { answer: shown });
    await leavesOut();
    expect(await spoke()).toEqual([expect.stringContaining(differs)]);
  });

  test('may be what one before it left there', async () => {
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, ...restricted, deletionPolicy: 'Retain' } });
    await put({ ip_policy_ids: ids }, { answer: shown });
    await world.remove('HttpsRouteModules', 'route');
    await world.pass(1_000);
    await leavesOut();
    expect(await spoke()).toEqual([]);
    await put({ ip_policy_ids: ids }, { answer: shown });
    expect(await spoke()).toEqual([]);
  });

  test('may be what another had left there before it named the module', async () => {
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, compression: {} } });
    await world.pass(1_000);
    await world.write('HttpsRouteModules', 'other', { spec: { ...own, ...restricted } });
    await put({ ip_policy_ids: ids }, { answer: shown });
    await world.pass(1_000);
    await world.write('HttpsRouteModules', 'other', { deleting: true });
    await leavesOut();
    expect(await spoke()).toEqual([]);
  });

  test('may be what a person chose there', async () => {
    await leavesOut();
    await put({ ip_policy_ids: ids }, { answer: shown, by: 'people' });
    await put({ ip_policy_ids: ids }, { answer: shown });
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['may be', 'after', 2_000, []],
    ['is not', 'before', 500, [expect.stringContaining(differs)]],
  ])('%s what it asked for %s the backup from which Kubernetes was restored', async (_may, _when, forMs, said) => {
    world = new FakeWorld({
      cloud: { apiKeys: [`main=${mainKey}`, 'b=b-key'] },
      acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs }],
    });
    judge = world.judge(sameAsFresh);
    await ownAccount();
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, ...restricted } });
    await world.pass(1_000);
    await put({ ip_policy_ids: ids }, { answer: shown });
    await leavesOut();
    expect(await spoke()).toEqual(said);
  });

  test.each([
    ['may be', 'its key was wrong', parent, []],
    ['is not', 'it had the account', own, [expect.stringContaining(differs)]],
  ])('%s what another resource put there while %s', async (_may, _why, spec, said) => {
    await world.write('HttpsRouteModules', 'other', { spec: { ...spec, ...restricted } });
    world.begin('op-0.1', {}, 'b-key');
    await put({ ip_policy_ids: ids }, { answer: shown, by: 'op-0.1' });
    world.begin('op-0.2');
    await leavesOut();
    await world.write('HttpsRouteModules', 'other', { deleting: true });
    expect(await spoke()).toEqual(said);
  });

  test.each([
    ['may be', 'another key', 'b-key-2', []],
    ['is not', 'the same key', 'b-key', [expect.stringContaining(differs)]],
  ])('%s what a resource with %s of the account put there', async (_may, _key, key, said) => {
    world = new FakeWorld({ cloud: { apiKeys: [`main=${mainKey}`, 'b=b-key', 'b=b-key-2'] } });
    judge = world.judge(sameAsFresh);
    for (const [name, value] of Object.entries({ own: 'b-key', other: key })) {
      await world.data('Secret', name, { key: value });
      const spec = { apiKeySecretRef: { name, key: 'key' } };
      await world.write('CloudAccount', name, { spec, status: available(1) });
    }
    await world.write('HttpsRouteModules', 'other', {
      spec: { ...parent, accountRef: { name: 'other' }, ...restricted },
    });
    await put({ ip_policy_ids: ids }, { answer: shown, key });
    await leavesOut();
    await world.write('HttpsRouteModules', 'other', { deleting: true });
    expect(await spoke()).toEqual(said);
  });

  test.each([
    ['may be what it asked for before a wrong key, with which it was done with', 'b-key', 'other-key', []],
    ['is not, where that was before it', 'b-key', 'b-key', [expect.stringContaining(differs)]],
  ])('%s', async (_, before, meanwhile, said) => {
    await world.data('Secret', 'own', { key: before });
    await world.write('HttpsRouteModules', 'route', { spec: { ...own, ...restricted } });
    await put({ ip_policy_ids: ids }, { answer: shown });
    await world.pass(1_000);
    await world.data('Secret', 'own', { key: meanwhile });
    await leavesOut(2);
    await world.pass(1_000);
    await world.data('Secret', 'own', { key: before });
    expect(await spoke()).toEqual(said);
    await put({ ip_policy_ids: ids }, { answer: shown });
    expect(await spoke()).toEqual(said);
  });
});
