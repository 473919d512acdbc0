import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { annotation } from '../../src/operator/reconcile/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { endpointConfiguration, kindCases } from './kinds.ts';

/*
 * What every kind must do, by the exact calls it makes. One operator, as a process of its own, checks for drift every
 * second; every test has its own namespace.
 */

let world: World;
let namespace: string;

beforeAll(async () => {
  world = await startWorld();
  world.cloud.seed({ endpoint_configurations: [endpointConfiguration] });
  world.startOperator(['--resync-interval', '1s', '--requests-per-minute', '10000']);
});
beforeEach(async () => {
  namespace = await world.namespace();
  world.cloud.clearFaults();
  world.cloud.clearRequests();
});
afterAll(() => world.stop());

const mutations = () => world.cloud.requests().filter((request) => request.method !== 'GET');
const sweeps = (path: string) =>
  world.cloud.requests().filter((request) => request.method === 'GET' && request.path === path);
const idOf = (object: ManagedObject) => object.status?.id as string;

describe.each(kindCases)('$kind', ({ kind, path, spec, created, changes, drift, status }) => {
  const apply = (name: string, fields: object = spec, annotations: object = {}) =>
    world.apply(kind, namespace, name, fields, annotations);
  const available = async (name: string, fields: object = spec, annotations: object = {}) =>
    world.reason(await apply(name, fields, annotations), 'Available');
  const external = async (id: string) => (await world.cloud.call('GET', `${path}/${id}`)).body;
  const create = async (body: object) => (await world.cloud.call('POST', path, body)).body.id as string;
  const nextSweep = async (count = 1) => {
    const before = sweeps(path).length;
    await until('the next sweep', () => sweeps(path).length >= before + count + 1);
  };

  test('create: one POST, then ids and status', async () => {
    const object = await available('a');
    expect(mutations().map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'POST', path, body: created },
    ]);
    expect(mutations()[0]?.headers).toMatchObject({
      'service-version': '2',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^edge-operator\//),
    });
    expect(object.status).toMatchObject(status(await external(idOf(object))));
    expect(object.status?.observedGeneration).toBe(object.metadata.generation);
    expect(object.metadata.annotations?.[annotation.externalID]).toBe(idOf(object));
    expect(object.metadata.annotations?.[annotation.createIntent]).toBeUndefined();
    await world.eventsOf(object, 'Created');
    expect((await world.events(object)).map((event) => event.reason)).toEqual(['Created']);
  });

  test('steady state: no write to the cloud or to Kubernetes, over three checks', async () => {
    const before = await available('a');
    world.cloud.clearRequests();
    await nextSweep(3);
    expect((await world.get(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(mutations()).toEqual([]);
    expect(
      world.cloud.requests().filter((request) => request.path !== '/reserved_addrs' && request.path !== '/bot_users'),
    ).toEqual([]);
  });

  test('a replacement that wipes finalizer and annotations loses nothing', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    await world.replace(object, { ...spec, resyncIntervalSeconds: 30 });
    const found = await until('the records to be back', async () => {
      const { metadata } = (await world.get(object)) as ManagedObject;
      return (
        metadata.annotations?.[annotation.createdID] !== undefined && metadata.finalizers?.length === 1 && metadata
      );
    });
    expect(found.annotations).toEqual(object.metadata.annotations);
    await world.delete(object);
    await world.gone(object);
    expect(mutations().map(({ method }) => method)).toEqual(['DELETE']);
  });

  test('a list that is refused, as when its cursor has just been deleted, stalls nobody', async () => {
    const object = await available('a');
    world.cloud.fault(`GET ${path} status=400 count=1`);
    const told = await world.reason(object, 'Unreachable');
    expect(conditionOf(told, 'Stalled')).toBeUndefined();
    await world.reason(object, 'Available');
  });

  test.each(changes)('a changed $field is one PATCH of that field', async ({ field, value, patched }) => {
    const object = await available('a');
    world.cloud.clearRequests();
    await available('a', { ...spec, [field]: value });
    expect(mutations().map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'PATCH', path: `${path}/${idOf(object)}`, body: patched },
    ]);
    const notes = (await world.eventsOf(object, 'Updated')).map((event) => event.note);
    expect(notes).toEqual([expect.stringContaining(field)]);
  });

  test('drift is put back, with one event that names the field', async () => {
    const object = await available('a');
    await world.cloud.call('PATCH', `${path}/${idOf(object)}`, drift.body);
    world.cloud.clearRequests();
    await until('the drift to be put back', () => mutations().length > 0);
    expect(mutations().map(({ method, body }) => ({ method, body }))).toEqual([
      { method: 'PATCH', body: drift.patched },
    ]);
    await nextSweep();
    const events = await world.eventsOf(object, 'DriftCorrected');
    expect(events.map((event) => event.note)).toEqual([expect.stringContaining(drift.field)]);
    expect(mutations()).toHaveLength(1);
  });

  test('what vanished behind our back is created again, once', async () => {
    const object = await available('a');
    await world.cloud.call('DELETE', `${path}/${idOf(object)}`);
    world.cloud.clearRequests();
    const again = await until('another id', async () => {
      const found = await world.get(object);
      return found && idOf(found) !== undefined && idOf(found) !== idOf(object) && found;
    });
    await nextSweep();
    expect(mutations().map((request) => request.method)).toEqual(['POST']);
    expect((await external(idOf(again))).id).toBe(idOf(again));
  });

  test('delete: one DELETE, and only then the resource goes', async () => {
    const object = await available('a');
    world.cloud.fault(`DELETE ${path}/* status=500 count=1`);
    await world.delete(object);
    await until('the failed delete to show', async () => {
      const found = await world.get(object);
      return found && conditionOf(found, 'Ready')?.message.startsWith('deleting:');
    });
    await world.gone(object);
    const deletes = mutations().filter((request) => request.method === 'DELETE');
    expect(deletes.map((request) => request.status)).toEqual([500, 204]);
    expect((await world.cloud.call('GET', `${path}/${idOf(object)}`)).status).toBe(404);
  });

  test('delete: what is gone already counts as deleted', async () => {
    const object = await available('a', { ...spec, resyncIntervalSeconds: 3_600 });
    await world.cloud.call('DELETE', `${path}/${idOf(object)}`);
    await world.delete(object);
    await world.gone(object);
  });

  test('Retain leaves the external object', async () => {
    const object = await available('a', { ...spec, deletionPolicy: 'Retain' });
    world.cloud.clearRequests();
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual([]);
    expect((await external(idOf(object))).id).toBe(idOf(object));
  });

  test('an id set by hand imports an existing object', async () => {
    const id = await create({ ...created, ...drift.body });
    world.cloud.clearRequests();
    const object = await available('a', spec, { [annotation.externalID]: id });
    expect(idOf(object)).toBe(id);
    expect(mutations().map(({ method, body }) => ({ method, body }))).toEqual([
      { method: 'PATCH', body: drift.patched },
    ]);
    await Promise.all(['Adopted', 'Updated'].map((reason) => world.eventsOf(object, reason)));
    expect((await world.events(object)).map((event) => event.reason).sort()).toEqual(['Adopted', 'Updated']);
  });

  test('an imported object that does not exist is reported, not created', async () => {
    const object = await apply('a', spec, { [annotation.externalID]: 'x_nothing' });
    await world.reason(object, 'ExternalNotFound');
    expect(mutations()).toEqual([]);
    await world.delete(object);
    await world.gone(object);
  });

  test('Observe sends no mutating call, reports drift and lets go without deleting', async () => {
    const id = await create(created);
    world.cloud.clearRequests();
    const object = await available('a', { ...spec, managementPolicy: 'Observe' }, { [annotation.externalID]: id });
    await world.cloud.call('PATCH', `${path}/${id}`, drift.body);
    const drifted = await world.reason(object, 'DriftDetected');
    expect(conditionOf(drifted, 'Ready')?.message).toContain(drift.field);
    expect(conditionOf(drifted, 'Stalled')?.status).toBe('True');
    await world.delete(object);
    await world.gone(object);
    expect(mutations().filter((request) => request.headers['user-agent'] !== 'node')).toEqual([]);
  });

  test('Observe of nothing says what to set', async () => {
    const object = await world.reason(await apply('a', { ...spec, managementPolicy: 'Observe' }), 'ExternalNotFound');
    expect(conditionOf(object, 'Ready')?.message).toContain(annotation.externalID);
  });

  test('paused: no call until the annotation goes', async () => {
    const object = await apply('a', spec, { [annotation.paused]: 'true' });
    await world.reason(object, 'Paused');
    expect(mutations()).toEqual([]);
    await world.annotate(object, { [annotation.paused]: null });
    await world.reason(object, 'Available');
    expect(mutations()).toHaveLength(1);
  });

  test('reconcile-at asks for a sync now and is echoed', async () => {
    const object = await available('a', { ...spec, resyncIntervalSeconds: 3_600 });
    await world.cloud.call('PATCH', `${path}/${idOf(object)}`, drift.body);
    world.cloud.clearRequests();
    await world.annotate(object, { [annotation.reconcileAt]: 'now' });
    await until(
      'the annotation to be echoed',
      async () => (await world.get(object))?.status?.lastHandledReconcileAt === 'now',
    );
    expect(mutations().map(({ method, body }) => ({ method, body }))).toEqual([
      { method: 'PATCH', body: drift.patched },
    ]);
  });

  test('a response dropped after the POST was done: adopted, not created again', async () => {
    world.cloud.fault(`POST ${path} drop count=1`);
    const object = await available('a', { ...spec, ...uniqueSpec(kind) });
    expect(mutations().map((request) => request.method)).toEqual(['POST']);
    await world.eventsOf(object, 'Adopted');
  });

  test('twins whose creates were lost together get an object each', async () => {
    world.cloud.fault(`POST ${path} drop count=3`);
    const unique = { ...spec, ...uniqueSpec(kind) };
    const objects = await Promise.all(['a', 'b', 'c'].map((name) => apply(name, unique)));
    const ready = await Promise.all(objects.map((object) => world.reason(object, 'Available', 25_000)));
    expect(new Set(ready.map(idOf)).size).toBe(3);
    expect(mutations().filter((request) => request.method === 'POST')).toHaveLength(3);
  });

  test('a create that may be one of several stops and names them', async () => {
    const unique = uniqueSpec(kind);
    world.cloud.fault(`POST ${path} drop count=1`);
    const [foreign] = await Promise.all([
      until('the lost POST', () => mutations().length === 1).then(() => create({ ...created, ...unique })),
      apply('a', { ...spec, ...unique, resyncIntervalSeconds: 3_600 }),
    ]);
    const object = await world.reason(
      await apply('a', { ...spec, ...unique, resyncIntervalSeconds: 3_600 }),
      'AmbiguousCreate',
    );
    expect(conditionOf(object, 'Ready')?.message).toContain(foreign);
    await world.annotate(object, { [annotation.externalID]: foreign });
    expect(idOf(await world.reason(object, 'Available'))).toBe(foreign);
  });

  test('a restored resource, without its status, sends no POST', async () => {
    const object = await available('a', { ...spec, deletionPolicy: 'Retain' });
    const kept = object.metadata.annotations ?? {};
    await world.delete(object);
    await world.gone(object);
    world.cloud.clearRequests();
    const restored = await available('a', spec, kept);
    expect(idOf(restored)).toBe(idOf(object));
    expect(mutations()).toEqual([]);
  });

  test('a wiped annotation is put back from the status', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    await world.annotate(object, { [annotation.externalID]: null, [annotation.createdID]: null });
    await until(
      'the annotation',
      async () => (await world.get(object))?.metadata.annotations?.[annotation.externalID] === idOf(object),
    );
    expect(mutations()).toEqual([]);
  });

  test('two resources on one object: the older has it, the other takes over when it goes', async () => {
    const first = await available('a', { ...spec, deletionPolicy: 'Retain' });
    const id = idOf(first);
    await until('a later second', () => Date.now() - Date.parse(first.metadata.creationTimestamp ?? '') > 1_100);
    const second = await apply('b', spec, { [annotation.externalID]: id });
    const loser = await world.reason(second, 'Conflict');
    expect(conditionOf(loser, 'Ready')?.message).toContain(`${namespace}/a`);
    world.cloud.clearRequests();
    await world.delete(first);
    expect(idOf(await world.reason(second, 'Available'))).toBe(id);
    expect(mutations()).toEqual([]);
  });

  test('a loser that is deleted leaves the object to the winner', async () => {
    const first = await available('a');
    await until('a later second', () => Date.now() - Date.parse(first.metadata.creationTimestamp ?? '') > 1_100);
    const second = await apply('b', spec, { [annotation.externalID]: idOf(first) });
    await world.reason(second, 'Conflict');
    world.cloud.clearRequests();
    await world.delete(second);
    await world.gone(second);
    expect(mutations()).toEqual([]);
  });

  test('force-orphan lets go without a call, and says what is left behind', async () => {
    const object = await available('a');
    world.cloud.clearRequests();
    world.cloud.fault(`DELETE ${path}/* status=401`);
    await world.annotate(object, { [annotation.forceOrphan]: 'true' });
    await world.delete(object);
    await world.gone(object);
    expect(mutations()).toEqual([]);
    const [orphaned] = await world.eventsOf(object, 'Orphaned');
    expect(orphaned).toMatchObject({ type: 'Warning', note: expect.stringContaining(idOf(object)) });
  });
});

/** Content that nothing else in the account has, so that a look-up finds what this test made and nothing more. */
function uniqueSpec(kind: string): Readonly<Record<string, unknown>> {
  const text = `unique ${namespace} ${Math.random()}`;
  return kind === 'ReservedAddr' ? { description: text } : { name: text };
}
