import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { definitions } from '../../src/operator/kinds/index.ts';
import type { KubeObject, ResourceType } from '../../src/operator/kube/types.ts';
import { annotation } from '../../src/operator/reconcile/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource.ts';
import { elapsedMs, quickestMs } from '../support/elapsed.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  authorities,
  hooks,
  idp,
  ipPolicies,
  metadata,
  type Parents,
  type PartCase,
  parentsOf,
  partKindCases,
  rules,
  secret,
  seedOf,
} from './part-kinds.ts';

/*
 * What every kind that is made of modules must do, by the exact calls it makes. One operator, as a process of its own,
 * checks for drift every second; every test has its own namespace, edges and route.
 */

/** The longest that a change of a Secret or ConfigMap may take to reach the cloud; issue 3. */
const followedWithinMs = 5_000;

let world: World;
let namespace: string;
let parents: Parents;
let tests = 0;

beforeAll(async () => {
  world = await startWorld();
  world.cloud.seed({ ip_policies: ipPolicies, certificate_authorities: authorities });
  world.startOperator(['--resync-interval', '1s', '--requests-per-minute', '10000']);
});
beforeEach(async () => {
  tests += 1;
  parents = parentsOf(tests);
  world.cloud.seed(seedOf(parents));
  namespace = await world.namespace();
  await put('Secret', 'hooks', hooks);
  await put('ConfigMap', 'idp', idp);
  world.cloud.clearFaults();
  world.cloud.clearRequests();
});
afterAll(() => world.stop());

const types: Readonly<Record<'Secret' | 'ConfigMap', ResourceType>> = {
  Secret: { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true },
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true },
};

function typeOf(kind: string): ResourceType {
  const found = definitions.find((definition) => definition.type.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found.type;
}

function put(kind: 'Secret' | 'ConfigMap', name: string, data: Readonly<Record<string, string>>): Promise<KubeObject> {
  const body = {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace },
    ...(kind === 'Secret' ? { data: encoded(data) } : { data }),
  };
  return world.client.patch(
    types[kind],
    { name, namespace },
    { type: 'apply', body, fieldManager: 'test', force: true },
  );
}

function encoded(data: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** What the operator asked of this test's edges and route. */
const operatorCalls = () =>
  world.cloud.requests().filter(({ path, headers }) => {
    const ours = Object.values(parents).some((id) => path.split('/').includes(id));
    return ours && String(headers['user-agent']).startsWith('edge-operator/');
  });

/** Parts do not wait for each other: the order of their calls means nothing. */
const byPath = (calls: readonly Sent[]) => calls.toSorted((a, b) => (a.path < b.path ? -1 : 1));

/** What the operator asked the cloud to change. */
const mutations = () =>
  byPath(
    operatorCalls()
      .filter((request) => request.method !== 'GET')
      .map(({ method, path, body }) => (body === undefined ? { method, path } : { method, path, body })),
  );
const puts = (parts: readonly PartCase[]) =>
  byPath(parts.map((part) => ({ method: 'PUT', path: part.path(parents), body: part.sent })));
const deletes = (parts: readonly PartCase[]) =>
  byPath(parts.map((part) => ({ method: 'DELETE', path: part.path(parents) })));

const looksAt = (part: PartCase) =>
  operatorCalls().filter(({ method, path }) => method === 'GET' && path === part.path(parents)).length;

/** Waits until the operator looked at every one of the modules `count` times again. */
async function rounds(parts: readonly PartCase[], count: number): Promise<void> {
  const before = parts.map(looksAt);
  await until(`${count} rounds`, () => parts.every((part, index) => looksAt(part) >= (before[index] ?? 0) + count));
}

const call = (method: string, part: PartCase, body?: unknown) => world.cloud.call(method, part.path(parents), body);
const readyOf = (object: ManagedObject) => conditionOf(object, 'Ready');
const eventsOf = async (object: ManagedObject, reason: string, atLeast?: number) =>
  (await world.eventsOf(object, reason, atLeast)).map((event) => event.note);

/** Creation times have whole seconds. */
const aLaterSecond = (object: ManagedObject) =>
  until('a later second', () => Date.now() - Date.parse(object.metadata.creationTimestamp ?? '') > 1_100);

describe.each(partKindCases)('$kind', ({ kind, ids, parts }) => {
  const specOf = (chosen: readonly PartCase[] = parts, changed: object = {}) => ({
    ...ids(parents),
    ...Object.assign({}, ...chosen.map((part) => (part.name === undefined ? part.spec : { [part.name]: part.spec }))),
    ...changed,
  });
  const apply = (name: string, spec: object = specOf(), annotations: object = {}) =>
    world.apply(kind, namespace, name, spec, annotations);
  const available = async (name: string, spec: object = specOf(), annotations: object = {}) =>
    world.reason(await apply(name, spec, annotations), 'Available');
  const conditions = (object: ManagedObject) => parts.map(({ condition }) => conditionOf(object, condition)?.reason);
  const all = <T>(value: T): T[] => parts.map(() => value);

  test('create: one PUT for each part, then status and conditions', async () => {
    const object = await available('a');
    expect(mutations()).toEqual(puts(parts));
    expect(conditions(object)).toEqual(all('Available'));
    expect(object.status?.observedGeneration).toBe(object.metadata.generation);
    for (const part of parts) {
      const shown = (await call('GET', part)).body;
      const status = part.name === undefined ? object.status : object.status?.[part.name];
      expect(status).toMatchObject({ ...part.status(shown), ...(part.name === undefined ? {} : { applied: true }) });
    }
    expect(await eventsOf(object, 'Created', parts.length)).toHaveLength(parts.length);
    expect(await world.events(object)).toHaveLength(parts.length);
  });

  test('steady state: no write to the cloud or to Kubernetes, over three checks', async () => {
    const before = await available('a');
    world.cloud.clearRequests();
    await rounds(parts, 3);
    expect(mutations()).toEqual([]);
    expect((await world.get(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('what is there and as asked is taken over without a PUT', async () => {
    for (const part of parts) expect((await call('PUT', part, part.sent)).status).toBe(200);
    const object = await available('a');
    await rounds(parts, 1);
    expect(mutations()).toEqual([]);
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual(deletes(parts));
  });

  const changes = parts.flatMap((part) => part.changes.map((change) => ({ part, ...change })));
  test.each(changes)('a changed $field of $part.name is one PUT', async ({ part, field, spec, sent }) => {
    const object = await available('a', specOf([part]));
    world.cloud.clearRequests();
    const changed = { ...part.spec, ...spec };
    await available(
      'a',
      part.name === undefined ? { ...ids(parents), ...changed } : specOf([], { [part.name]: changed }),
    );
    expect(mutations()).toEqual([{ method: 'PUT', path: part.path(parents), body: { ...part.sent, ...sent } }]);
    expect(await eventsOf(object, 'Updated')).toEqual([expect.stringContaining(`updated ${field} of `)]);
  });

  test('drift is put back, with one event for each part that names the field', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    for (const part of parts) await call('PUT', part, { ...part.sent, ...part.drift.body });
    await until('the drift to be put back', () => mutations().length >= parts.length);
    await rounds(parts, 2);
    expect(mutations()).toEqual(puts(parts));
    const notes = await eventsOf(object, 'DriftCorrected', parts.length);
    expect(notes.toSorted()).toEqual(
      parts.map(({ drift }) => expect.stringContaining(`put back ${drift.field} of `)).toSorted(byNote(notes)),
    );
  });

  test('what vanished behind our back is put back, once', async () => {
    await available('a');
    world.cloud.clearRequests();
    for (const part of parts) await call('DELETE', part);
    await until('the modules to be put back', () => mutations().length >= parts.length);
    await rounds(parts, 2);
    expect(mutations()).toEqual(puts(parts));
  });

  test('a PUT that was done but whose answer was lost is not sent again', async () => {
    for (const part of parts) world.cloud.fault(`PUT ${part.path(parents)} drop count=1`);
    await available('a');
    expect(mutations()).toEqual(puts(parts));
  });

  test('delete: one DELETE for each part, and only then the resource goes', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual(deletes(parts));
    for (const part of parts) expect((await call('GET', part)).status).toBe(404);
  });

  test('delete: a DELETE that fails keeps the resource, and is sent again', async () => {
    const object = await available('a');
    const [first] = parts;
    world.cloud.fault(`DELETE ${first?.path(parents)} status=500`);
    await world.delete(object);
    await until('the failed delete to show', async () => {
      const found = await world.get(object);
      return found && readyOf(found)?.message.startsWith('deleting:');
    });
    world.cloud.clearFaults();
    await world.gone(object);
    for (const part of parts) expect((await call('GET', part)).status).toBe(404);
  });

  test('delete: what is gone already counts as deleted', async () => {
    const object = await available('a', specOf(parts, { resyncIntervalSeconds: 3_600 }));
    for (const part of parts) await call('DELETE', part);
    await world.delete(object);
    await world.gone(object);
  });

  test('Retain leaves the modules', async () => {
    const object = await available('a', specOf(parts, { deletionPolicy: 'Retain' }));
    world.cloud.clearRequests();
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual([]);
    for (const part of parts) expect((await call('GET', part)).status).toBe(200);
  });

  test('Observe sends no mutating call, reports drift and lets go without deleting', async () => {
    for (const part of parts) await call('PUT', part, part.sent);
    const object = await available('a', specOf(parts, { managementPolicy: 'Observe' }));
    for (const part of parts) await call('PUT', part, { ...part.sent, ...part.drift.body });
    const drifted = await until('all drift to be reported', async () => {
      const found = await world.get(object);
      return found && conditions(found).every((reason) => reason === 'DriftDetected') && found;
    });
    for (const { drift } of parts) expect(readyOf(drifted)?.message).toContain(drift.field);
    expect(conditionOf(drifted, 'Stalled')?.status).toBe('True');
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual([]);
  });

  test('Observe of nothing says so for each part', async () => {
    const object = await apply('a', specOf(parts, { managementPolicy: 'Observe' }));
    expect(conditions(await world.reason(object, 'ExternalNotFound'))).toEqual(all('ExternalNotFound'));
    expect(mutations()).toEqual([]);
  });

  test('paused: no call until the annotation goes', async () => {
    const object = await apply('a', specOf(), { [annotation.paused]: 'true' });
    await world.reason(object, 'Paused');
    expect(operatorCalls()).toEqual([]);
    await world.annotate(object, { [annotation.paused]: null });
    await world.reason(object, 'Available');
    expect(mutations()).toEqual(puts(parts));
  });

  test('reconcile-at asks for a look now and is echoed', async () => {
    const object = await available('a', specOf(parts, { resyncIntervalSeconds: 3_600 }));
    for (const part of parts) await call('PUT', part, { ...part.sent, ...part.drift.body });
    world.cloud.clearRequests();
    await world.annotate(object, { [annotation.reconcileAt]: 'now' });
    const handled = async () => (await world.get(object))?.status?.lastHandledReconcileAt === 'now';
    await until('the annotation to be echoed', handled);
    expect(mutations()).toEqual(puts(parts));
  });

  test('two resources on the same parts: the older has them, the other takes over when it goes', async () => {
    const first = await available('a', specOf(parts, { deletionPolicy: 'Retain' }));
    await aLaterSecond(first);
    world.cloud.clearRequests();
    const loser = await world.reason(await apply('b'), 'Conflict');
    expect(conditions(loser)).toEqual(all('Conflict'));
    expect(readyOf(loser)?.message).toContain(`${namespace}/a`);
    expect(conditionOf(loser, 'Stalled')?.status).toBe('True');
    await world.delete(first);
    await world.reason(loser, 'Available');
    expect(mutations()).toEqual([]);
  });

  test('a loser that is deleted leaves the parts to the winner', async () => {
    const first = await available('a');
    await aLaterSecond(first);
    const loser = await world.reason(await apply('b'), 'Conflict');
    world.cloud.clearRequests();
    await world.delete(loser);
    await world.gone(loser);
    await rounds(parts, 1);
    expect(mutations()).toEqual([]);
  });

  test('force-orphan lets go without a call, and says what is left behind', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    world.cloud.fault('DELETE /edges/* status=401');
    await world.annotate(object, { [annotation.forceOrphan]: 'true' });
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual([]);
    const [note] = await eventsOf(object, 'Orphaned');
    expect(note).toContain(String(ids(parents).edgeID));
  });
});

/** Sorts matchers as the notes that they match. */
function byNote(notes: readonly string[]) {
  const position = (matcher: { asymmetricMatch(note: string): boolean }) =>
    notes.toSorted().findIndex((note) => matcher.asymmetricMatch(note));
  return (a: unknown, b: unknown) => position(a as never) - position(b as never);
}

describe('parts of one route', () => {
  const kind = 'HttpsRouteModules';
  const [route] = partKindCases;
  const partOf = (name: string): PartCase => {
    const found = route?.parts.find((part) => part.name === name);
    if (found === undefined) throw new Error(`no part ${name}`);
    return found;
  };
  const [saml, ipRestriction, webhook, compression] = [
    partOf('saml'),
    partOf('ipRestriction'),
    partOf('webhookVerification'),
    partOf('compression'),
  ];
  const apply = (name: string, parts: object) =>
    world.apply(kind, namespace, name, { ...route?.ids(parents), ...parts });
  const available = async (name: string, parts: object) => world.reason(await apply(name, parts), 'Available');
  /** Waits until a part's own condition has the reason. */
  const partReason = (object: ManagedObject, { condition }: PartCase, reason: string) =>
    until(`${condition} to be ${reason}`, async () => {
      const found = await world.get(object);
      return found && conditionOf(found, condition)?.reason === reason && found;
    });
  const stored = async (part: PartCase) => (await call('GET', part)).body;

  test('a part that leaves the spec is one DELETE; the others and their conditions stay', async () => {
    const object = await available('a', { saml: saml.spec, compression: {} });
    world.cloud.clearRequests();
    const changed = await available('a', { saml: saml.spec });
    expect(mutations()).toEqual(deletes([compression]));
    expect(conditionOf(changed, 'CompressionReady')).toBeUndefined();
    expect(changed.status).not.toHaveProperty('compression');
    expect(conditionOf(changed, 'SamlReady')?.status).toBe('True');
    expect(await eventsOf(object, 'Deleted')).toHaveLength(1);
    await available('a', {});
    expect(mutations()).toEqual(deletes([compression, saml]));
  });

  test('a part whose removal fails says so and is removed later', async () => {
    await available('a', { saml: saml.spec, compression: {} });
    world.cloud.fault(`DELETE ${compression.path(parents)} status=500`);
    const failing = await partReason(await apply('a', { saml: saml.spec }), compression, 'Unreachable');
    expect(readyOf(failing)).toMatchObject({ status: 'False', message: expect.stringMatching(/^compression: /) });
    world.cloud.clearFaults();
    await world.reason(failing, 'Available');
    expect((await call('GET', compression)).status).toBe(404);
  });

  test('a part that leaves the spec is removed even when the status was lost', async () => {
    const object = await available('a', { compression: {}, ipRestriction: ipRestriction.spec });
    await world.annotate(object, { [annotation.paused]: 'true' });
    await world.reason(object, 'Paused');
    const patch = { type: 'merge', body: { status: { compression: null, conditions: null } } } as const;
    await world.client.patch(typeOf(kind), object.metadata, patch, { subresource: 'status' });
    world.cloud.clearRequests();
    await apply('a', { ipRestriction: ipRestriction.spec });
    await world.annotate(object, { [annotation.paused]: null });
    await world.reason(object, 'Available');
    expect(mutations()).toEqual(deletes([compression]));
  });

  test('what is put where a part was removed already stays, while another part cannot be removed yet', async () => {
    const object = await available('a', { saml: saml.spec, compression: {} });
    world.cloud.clearRequests();
    world.cloud.fault(`DELETE ${saml.path(parents)} status=500`);
    await world.delete(object);
    const tries = () => mutations().filter(({ path }) => path === saml.path(parents)).length;
    await until('a removal that failed', () => tries() === 1);
    await until('the other to be removed', async () => (await call('GET', compression)).status === 404);
    await call('PUT', compression, { enabled: false });
    await until('another try', () => tries() === 2);
    world.cloud.clearFaults();
    await world.gone(object);
    expect(await stored(compression)).toEqual({ enabled: false });
  });

  test('a part that leaves the spec by a replacement, which wipes all records, is removed', async () => {
    const object = await available('a', { ipRestriction: ipRestriction.spec, compression: {} });
    await world.replace(object, { ...route?.ids(parents), ipRestriction: ipRestriction.spec });
    await until('the part to go', async () => (await call('GET', compression)).status === 404);
    await world.delete(await world.reason(object, 'Available'));
    await world.gone(object);
    expect((await call('GET', ipRestriction)).status).toBe(404);
  });

  test('parts that were never named are never touched, nor looked at', async () => {
    const others = [saml, webhook, compression];
    for (const part of others) await call('PUT', part, part.sent);
    const object = await available('a', { ipRestriction: ipRestriction.spec });
    await rounds([ipRestriction], 1);
    await world.delete(object);
    await world.gone(object);
    expect(new Set(operatorCalls().map(({ path }) => path))).toEqual(new Set([ipRestriction.path(parents)]));
    for (const part of others) expect((await call('GET', part)).status).toBe(200);
  });

  test('two resources with different parts share the route', async () => {
    const first = await available('a', { compression: {} });
    const second = await available('b', { ipRestriction: ipRestriction.spec });
    expect(mutations()).toEqual(puts([compression, ipRestriction]));
    world.cloud.clearRequests();
    await world.delete(first);
    await world.gone(first);
    expect(mutations()).toEqual(deletes([compression]));
    await world.reason(second, 'Available');
  });

  test('of two resources on one part the older has it; the rest of the younger works', async () => {
    const first = await available('a', { compression: {} });
    await aLaterSecond(first);
    const second = await apply('b', { compression: { enabled: false }, ipRestriction: ipRestriction.spec });
    const loser = await world.reason(second, 'Conflict');
    expect(conditionOf(loser, 'CompressionReady')).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining(`${namespace}/a`),
    });
    expect(conditionOf(loser, 'IpRestrictionReady')?.reason).toBe('Available');
    await available('a', {});
    await world.reason(second, 'Available');
    expect(await stored(compression)).toEqual({ enabled: false });
  });

  test('one part that fails does not hold up the others', async () => {
    world.cloud.fault(`PUT ${saml.path(parents)} status=500`);
    const object = await apply('a', { saml: saml.spec, compression: {}, ipRestriction: ipRestriction.spec });
    const failing = await partReason(object, saml, 'Unreachable');
    expect(conditionOf(failing, 'CompressionReady')?.reason).toBe('Available');
    expect(conditionOf(failing, 'IpRestrictionReady')?.reason).toBe('Available');
    expect(readyOf(failing)).toMatchObject({ status: 'False', message: expect.stringMatching(/^saml: /) });
    world.cloud.clearFaults();
    await world.reason(object, 'Available');
    const others = [compression.path(parents), ipRestriction.path(parents)];
    expect(mutations().filter(({ path }) => others.includes(path))).toEqual(puts([compression, ipRestriction]));
  });

  test('what the cloud refuses is Rejected, and not sent again and again', async () => {
    const object = await apply('a', { ipRestriction: { ipPolicyIDs: ['ipp_nothing'] }, compression: {} });
    const refused = await world.reason(object, 'Rejected');
    expect(readyOf(refused)?.message).toMatch(/^ipRestriction: .*ERR_EDGE_309/);
    const before = looksAt(ipRestriction);
    await until('the resource to be woken and looked at, twice', async () => {
      await world.annotate(object, { nudge: String(Date.now()) });
      return looksAt(ipRestriction) >= before + 2;
    });
    expect(mutations().filter(({ path }) => path === ipRestriction.path(parents))).toHaveLength(1);
    await available('a', { ipRestriction: ipRestriction.spec, compression: {} });
  });

  test('what somebody else put there stays, where the cloud refused to replace it', async () => {
    const module = { enabled: false, ip_policy_ids: ['ipp_1'] };
    await call('PUT', ipRestriction, module);
    const object = await apply('a', { ipRestriction: { ipPolicyIDs: ['ipp_nothing'] } });
    await world.reason(object, 'Rejected');
    await world.delete(object);
    await world.gone(object);
    expect((await call('GET', ipRestriction)).body).toMatchObject({ enabled: false, ip_policies: [{ id: 'ipp_1' }] });
  });

  test('a route that does not exist yet', async () => {
    const nowhere = { edgeID: parents.edge, routeID: 'edghtsrt_nowhere', compression: {} };
    const object = await world.reason(await world.apply(kind, namespace, 'a', nowhere), 'DependencyNotReady');
    expect(readyOf(object)?.message).toContain('route edghtsrt_nowhere');
    await world.delete(object);
    await world.gone(object);
  });

  test('a Secret that is missing holds up its part only, and heals', async () => {
    const secretRef = { name: 'late', key: 'k' };
    const parts = { webhookVerification: { provider: 'github', secretRef }, compression: {} };
    const object = await apply('a', parts);
    const waiting = await partReason(object, webhook, 'DependencyNotReady');
    expect(conditionOf(waiting, webhook.condition)?.message).toContain(`Secret ${namespace}/late does not exist`);
    await partReason(object, compression, 'Available');
    const heal = async () => {
      await put('Secret', 'late', { other: 'x' });
      await until('the missing key to be named', async () => {
        const found = await world.get(object);
        return found && conditionOf(found, webhook.condition)?.message.includes('has no key "k"');
      });
      return elapsedMs(async () => {
        await put('Secret', 'late', { k: secret('4') });
        await world.reason(object, 'Available');
      });
    };
    expect(await quickestMs(followedWithinMs, heal)).toBeLessThan(followedWithinMs);
    expect((await stored(webhook)).secret).toBe(secret('4'));
  });

  test('an empty secret is refused before any PUT', async () => {
    await put('Secret', 'empty', { k: '' });
    const parts = { webhookVerification: { provider: 'github', secretRef: { name: 'empty', key: 'k' } } };
    const object = await world.reason(await apply('a', parts), 'Rejected');
    expect(readyOf(object)?.message).toContain('secretRef');
    expect(mutations()).toEqual([]);
    await put('Secret', 'empty', { k: secret('5') });
    await world.reason(object, 'Available');
  });

  test('the notification service needs no secret', async () => {
    await available('a', { webhookVerification: { provider: 'SNS' } });
    expect(mutations()).toEqual([
      { method: 'PUT', path: webhook.path(parents), body: { enabled: true, provider: 'SNS' } },
    ]);
  });

  test('a Secret that changes reaches the cloud in time, by one PUT', async () => {
    await put('Secret', 'own', { k: secret('6') });
    const secretRef = { name: 'own', key: 'k' };
    const object = await available('a', { webhookVerification: { provider: 'github', secretRef } });
    const change = async (index: number) => {
      world.cloud.clearRequests();
      const k = secret(`${7 + index}`);
      const tookMs = await elapsedMs(async () => {
        await put('Secret', 'own', { k });
        await until('the new secret in the cloud', () => mutations().length > 0);
      });
      const body = { enabled: true, provider: 'github', secret: k };
      expect(mutations()).toEqual([{ method: 'PUT', path: webhook.path(parents), body }]);
      await world.reason(object, 'Available');
      return tookMs;
    };
    expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
  });

  test.each(['ConfigMap', 'Secret'] as const)('SAML metadata follows its %s', async (source) => {
    await put(source, 'meta', { xml: metadata('5') });
    const ref = { [source === 'Secret' ? 'secretKeyRef' : 'configMapKeyRef']: { name: 'meta', key: 'xml' } };
    await available('a', { saml: { idpMetadataFrom: ref } });
    const change = (index: number) =>
      elapsedMs(async () => {
        const xml = metadata(`${6 + index}`);
        await put(source, 'meta', { xml });
        await until('the new metadata in the cloud', async () => (await stored(saml)).idp_metadata === xml);
      });
    expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
  });

  test('what the user left out is not compared', async () => {
    await available('a', { saml: { idpMetadata: metadata('7') } });
    expect(mutations()).toEqual([
      { method: 'PUT', path: saml.path(parents), body: { enabled: true, idp_metadata: metadata('7') } },
    ]);
    await call('PUT', saml, { idp_metadata: metadata('7'), cookie_prefix: 'foreign.', authorized_groups: ['x'] });
    world.cloud.clearRequests();
    await rounds([saml], 2);
    expect(mutations()).toEqual([]);
  });
});

describe('TLS termination of an edge that passes TLS through', () => {
  const upstream = () => `edghts_up${tests}`;
  const apply = (tlsTermination: object) =>
    world.apply('HttpsEdgeModules', namespace, 'a', { edgeID: upstream(), tlsTermination });
  const putsOf = () =>
    world.cloud.requests().filter(({ method, path }) => method === 'PUT' && path.includes(`/${upstream()}/`));
  beforeEach(() => world.cloud.seed({ https_edges: [{ id: upstream(), terminate_at: 'upstream' }] }));

  test('minVersion is refused before any PUT, and the status says why', async () => {
    const object = await world.reason(await apply({ minVersion: '1.3' }), 'Rejected');
    expect(conditionOf(object, 'TlsTerminationReady')?.message).toMatch(/terminateAt is upstream.*remove minVersion/);
    expect(object.status?.tlsTermination).toEqual({ applied: false, terminateAt: 'upstream' });
    expect(conditionOf(object, 'Stalled')?.status).toBe('True');
    await world.reason(await apply({}), 'Available');
    expect(putsOf()).toEqual([]);
  });

  test('the rest of the module works', async () => {
    const object = await world.reason(await apply({ enabled: false }), 'Available');
    expect(putsOf().map(({ body }) => body)).toEqual([{ enabled: false }]);
    expect(object.status?.tlsTermination).toEqual({ applied: true, terminateAt: 'upstream' });
  });
});

describe('traffic policy from a ConfigMap', () => {
  const policyFrom = { configMapKeyRef: { name: 'policy', key: 'p' } };
  const apply = () => world.apply('TlsEdgeTrafficPolicy', namespace, 'a', { edgeID: parents.tlsEdge, policyFrom });
  const sentValues = () => mutations().map(({ body }) => (body as { value: string }).value);
  const yaml = 'inbound:\n  - name: y\n    expressions: []\n    actions:\n      - type: deny\n';

  test('a missing ConfigMap heals; YAML is sent as compact JSON; a change reaches the cloud in time', async () => {
    const object = await world.reason(await apply(), 'DependencyNotReady');
    expect(readyOf(object)?.message).toContain(`ConfigMap ${namespace}/policy does not exist`);
    const change = async () => {
      world.cloud.clearRequests();
      await put('ConfigMap', 'policy', { p: yaml });
      await until('the policy in the cloud', () => mutations().length === 1);
      expect((await world.reason(object, 'Available')).status?.ruleCount).toBe(1);
      const tookMs = await elapsedMs(async () => {
        await put('ConfigMap', 'policy', { p: JSON.stringify(rules('log', 'deny'), null, 2) });
        await until('the new policy in the cloud', () => mutations().length === 2);
      });
      expect(sentValues()).toEqual([
        '{"inbound":[{"name":"y","expressions":[],"actions":[{"type":"deny"}]}]}',
        JSON.stringify(rules('log', 'deny')),
      ]);
      return tookMs;
    };
    expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
  });

  test('the same policy written otherwise is not sent again', async () => {
    await put('ConfigMap', 'policy', { p: yaml });
    const object = await world.reason(await apply(), 'Available');
    await put('ConfigMap', 'policy', {
      p: '{"inbound": [{"actions": [{"type": "deny"}], "expressions": [], "name": "y"}]}',
    });
    const part = partKindCases[2]?.parts ?? [];
    await rounds(part, 2);
    expect(mutations()).toHaveLength(1);
    expect(readyOf(object)?.reason).toBe('Available');
  });

  test('a malformed policy names its path, sends nothing and heals', async () => {
    const malformed = JSON.stringify({
      inbound: [...rules('a', 'b').inbound, { name: 'c', expressions: [], actions: [{}] }],
    });
    await put('ConfigMap', 'policy', { p: malformed });
    const object = await world.reason(await apply(), 'Rejected');
    expect(readyOf(object)?.message).toContain('inbound[2].actions[0].type');
    expect(conditionOf(object, 'Stalled')?.status).toBe('True');
    expect(mutations()).toEqual([]);
    await put('ConfigMap', 'policy', { p: yaml });
    await world.reason(object, 'Available');
  });
});

describe('what the API server refuses', () => {
  const ref = { name: 'n', key: 'k' };
  const route = (parts: object) => ({ edgeID: 'e', routeID: 'r', ...parts });
  const cases: readonly [why: string, kind: string, spec: object, message: RegExp][] = [
    ['no edge', 'HttpsEdgeModules', {}, /spec\.edgeID: Required value/],
    ['no route', 'HttpsRouteModules', { edgeID: 'e' }, /spec\.routeID: Required value/],
    ['SAML without metadata', 'HttpsRouteModules', route({ saml: {} }), /spec\.saml: .*exactly one of idpMetadata and/],
    [
      'SAML with metadata twice',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', idpMetadataFrom: { secretKeyRef: ref } } }),
      /spec\.saml: .*exactly one of idpMetadata and/,
    ],
    [
      'a source of metadata that names two',
      'HttpsRouteModules',
      route({ saml: { idpMetadataFrom: { secretKeyRef: ref, configMapKeyRef: ref } } }),
      /spec\.saml\.idpMetadataFrom: .*exactly one of configMapKeyRef and/,
    ],
    [
      'a timeout of 2^32 seconds',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', inactivityTimeoutSeconds: 2 ** 32 } }),
      /spec\.saml\.inactivityTimeoutSeconds: .*less than or equal to 4294967295/,
    ],
    [
      'a negative duration',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', maximumDurationSeconds: -1 } }),
      /spec\.saml\.maximumDurationSeconds: .*greater than or equal to 0/,
    ],
    [
      'an id twice',
      'HttpsRouteModules',
      route({ ipRestriction: { ipPolicyIDs: ['ipp_1', 'ipp_1'] } }),
      /spec\.ipRestriction\.ipPolicyIDs.*([Dd]uplicate)/,
    ],
    [
      'a provider without its secret',
      'HttpsRouteModules',
      route({ webhookVerification: { provider: 'github' } }),
      /spec\.webhookVerification: .*secretRef is required by every provider but sns/,
    ],
    [
      'a secret in the open',
      'HttpsRouteModules',
      route({ webhookVerification: { provider: 'github', secret: 's' } }),
      /secret/,
    ],
    ['no policy', 'TlsEdgeTrafficPolicy', { edgeID: 'e' }, /spec: .*exactly one of policy and policyFrom/],
    [
      'two policies',
      'TlsEdgeTrafficPolicy',
      { edgeID: 'e', policy: rules(), policyFrom: { configMapKeyRef: ref } },
      /spec: .*exactly one of policy and policyFrom/,
    ],
    [
      'a rule without the type of its action',
      'TlsEdgeTrafficPolicy',
      { edgeID: 'e', policy: { inbound: [{ name: 'n', expressions: [], actions: [{ config: {} }] }] } },
      /spec\.policy\.inbound\[0\]\.actions\[0\]\.type: Required value/,
    ],
  ];
  test.each(cases)('%s', async (_why, kind, spec, message) => {
    await expect(world.apply(kind, namespace, 'a', spec)).rejects.toThrow(message);
  });

  test.each(partKindCases)('another parent of $kind', async ({ kind, ids, parts }) => {
    const spec = Object.assign({}, ...parts.filter(({ name }) => name === undefined).map((part) => part.spec));
    const paused = { [annotation.paused]: 'true' };
    await world.apply(kind, namespace, 'a', { ...ids(parents), ...spec }, paused);
    for (const id of Object.keys(ids(parents))) {
      const moved = world.apply(kind, namespace, 'a', { ...ids(parents), ...spec, [id]: 'other' }, paused);
      await expect(moved).rejects.toThrow(new RegExp(`spec\\.${id}: .*${id} cannot be changed`));
    }
  });

  test.each(['sns', 'SNS', 'Sns'])('but not provider %s without a secret', async (provider) => {
    const spec = route({ webhookVerification: { provider } });
    await world.apply('HttpsRouteModules', namespace, 'a', spec, { [annotation.paused]: 'true' });
  });
});
