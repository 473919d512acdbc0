import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { movedAccount, ownershipOf, placeRecord, recordedURLOf } from '../ownership/ownership.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import { CurrentResource } from '../resource/current-resource.ts';
import type { ManagedObject } from '../resource/resource.ts';
import type { ObjectWriter } from '../resource/writer.ts';
import { connection, settleMs, ThingFixture } from './thing.fixture.ts';

let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
});

test('what could not be changed is shown as it is, its id first of all', async () => {
  thing.serve({
    diff: () => [{ field: 'description' }],
    update: async () => {
      throw new ApiError('no', { reason: 'Unreachable', definite: true });
    },
  });
  expect(await thing.reconcile()).toMatchObject({ reason: 'Unreachable', message: 'no', fields: { id: 'thing_1' } });
});

test('what an earlier process made is proven also while it cannot be changed', async () => {
  const annotations = { [annotation.recordOf]: 'u', [annotation.createdID]: 'made', [annotation.externalID]: 'made' };
  thing.object = { ...thing.object, metadata: { ...thing.object.metadata, annotations } };
  thing.serve({
    diff: () => [{ field: 'description' }],
    update: async () => {
      throw new ApiError('no', { reason: 'Rejected', definite: true });
    },
  });
  const ownership = { id: 'made', how: 'Created', account: 'default' };
  expect(await thing.reconcile()).toMatchObject({ reason: 'Rejected', fields: { id: 'made' }, ownership });
});

test('what another one has got while the change waited for its turn is not changed', async () => {
  const annotations = { [annotation.recordOf]: 'u', [annotation.externalID]: 'named' };
  thing.object = { ...thing.object, metadata: { ...thing.object.metadata, annotations } };
  const holder: ManagedObject = {
    ...thing.object,
    metadata: { ...thing.object.metadata, name: 'b', uid: 'v' },
    status: { id: 'named', ownership: { id: 'named', how: 'Imported' } },
  };
  let holders: ManagedObject[] = [];
  const index = { get: () => undefined, list: () => holders, claimants: () => holders };
  const peers = new Peers({ index, memory: thing.memory, accountOf: () => ({ identity: 'default' }) });
  thing.serve({
    diff: () => [{ field: 'description' }],
    update: async (_client, _id, _spec, _fields, call) => {
      holders = [holder];
      try {
        call.permit?.();
      } catch (cause) {
        throw new ApiError('not sent', { reason: 'Unreachable', definite: true, cause });
      }
      throw new Error('sent');
    },
  });
  const message = expect.stringContaining('another resource may have it by now');
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Updating', message });
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Conflict' });
});

test('what was made is shown, though its reconcile is given up before it is as the spec asks', async () => {
  const stop = new AbortController();
  thing.serve({
    create: async () => {
      stop.abort(new Error('the operator stops'));
      return { id: 'thing_1' };
    },
    diff: () => [{ field: 'description' }],
    update: async () => stop.signal.throwIfAborted() as never,
  });
  expect(await thing.reconcile({}, { call: { priority: 'change', signal: stop.signal } })).toMatchObject({
    reason: 'Updating',
    fields: { id: 'thing_1' },
    ownership: { id: 'thing_1', how: 'Created' },
  });
});

test('what was made is shown, and no trouble, where a later look at it is given up', async () => {
  await thing.reconcile();
  const stop = new AbortController();
  thing.serve({
    get: async () => {
      stop.abort();
      throw new ApiError('not sent: something more urgent came', { reason: 'Unreachable', definite: true });
    },
  });
  const call = { priority: 'change', signal: stop.signal } as const;
  expect(await thing.reconcile({ requested: true }, { call })).toMatchObject({
    reason: 'Updating',
    ownership: { id: 'thing_1', how: 'Created' },
  });
});

test('what was made is on record where it was made, though the spec names another account meanwhile', async () => {
  const there = { connection: { ...connection, key: 'ns/one', url: 'https://api' } };
  thing.object = { ...thing.object, spec: { accountRef: { name: 'one' } } };
  thing.serve({
    create: async () => {
      thing.object = { ...thing.object, spec: { accountRef: { name: 'other' } } };
      return { id: 'thing_1' };
    },
  });
  expect(await thing.reconcile({}, there)).toMatchObject({ ownership: { account: 'CloudAccount/one', id: 'thing_1' } });
  expect(movedAccount(thing.object)).toMatch('is in CloudAccount/one');
});

test('what was only observed is not managed by a spec that names nothing any more', async () => {
  const changed: string[] = [];
  thing.object = { ...thing.object, status: { id: 'thing_of_somebody' } };
  thing.serve({
    diff: () => [{ field: 'description' }],
    update: async (_, id) => {
      changed.push(id);
      return { id };
    },
  });
  expect(await thing.reconcile()).toMatchObject({ reason: 'Rejected' });
  expect({ changed, creates: thing.creates }).toEqual({ changed: [], creates: 0 });
  await thing.annotate(thing.object, { [annotation.externalID]: 'thing_of_somebody' });
  thing.serve({});
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available' });
});

test.each([
  ['and of which another was refused', {}],
  ['and gives way to what a person named', { [annotation.externalID]: 'thing_named' }],
])('what is gone %s keeps the resource at no address', async (_, named) => {
  const ownership = {
    installation: 'one',
    account: 'default',
    apiURL: 'https://old',
    id: 'thing_0',
    how: 'Created',
  } as const;
  thing.object = { ...thing.object, status: { id: 'thing_0', ownership } };
  const there = { connection: { ...connection, url: 'https://old' } };
  await thing.annotate(thing.object, { ...placeRecord(there.connection), ...named });
  await thing.annotate(thing.object, { [annotation.createdID]: 'thing_0', [annotation.recordOf]: 'u' });
  thing.nextError = new ApiError('400', { reason: 'Rejected', definite: true });
  thing.serve({ get: async () => undefined });
  expect(await thing.reconcile({}, there)).toMatchObject({ reason: 'Creating' });
  thing.clock.advance(600_000);
  await thing.reconcile({}, there);
  expect(ownershipOf(thing.object)).toEqual({ installation: 'one' });
  expect(recordedURLOf(thing.object)).toBeUndefined();
});

test('what another one turns out to have made, while it is looked at, is left as it is', async () => {
  await thing.annotate(thing.object, { [annotation.externalID]: 'thing_new', [annotation.recordOf]: 'u' });
  const claimants: ManagedObject[] = [];
  const annotations = { [annotation.createdID]: 'thing_new', [annotation.recordOf]: 'v' };
  const maker = { ...thing.object, metadata: { name: 'maker', namespace: 'ns', uid: 'v', annotations } };
  let updates = 0;
  thing.serve({
    get: async (_, id) => {
      claimants.push(maker);
      return { id };
    },
    diff: () => [{ field: 'description' }],
    update: async (_, id) => {
      updates += 1;
      return { id };
    },
  });
  const index = { get: () => thing.object, list: () => claimants, claimants: () => claimants };
  const peers = new Peers({ index, memory: thing.memory, accountOf: () => ({ identity: 'default' }) });
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Conflict' });
  expect(updates).toBe(0);
});

test('what another one has made, and has yet to see on record, is neither taken over nor deleted', async () => {
  const intent = { [annotation.createIntent]: '{}', [annotation.recordOf]: 'v' };
  const maker = { ...thing.object, metadata: { name: 'maker', namespace: 'ns', uid: 'v' } };
  const deletes: string[] = [];
  thing.serve({
    delete: async (_, id) => {
      deletes.push(id);
      return 'deleted';
    },
  });
  const cut: Partial<ObjectWriter> = {
    record: async () => maker,
    insist: () => Promise.reject(new Error('no answer')),
  };
  const making = { resource: new CurrentResource(maker, cut as ObjectWriter), facts: thing.memory.of('v') };
  await expect(thing.reconcile({}, making)).rejects.toThrow('no answer');
  const known = { ...maker, metadata: { ...maker.metadata, annotations: intent } };
  const index = { get: () => thing.object, list: () => [known, thing.object], claimants: () => [thing.object] };
  const peers = new Peers({ index, memory: thing.memory, accountOf: () => ({ identity: 'default' }) });
  await thing.annotate(thing.object, { [annotation.externalID]: 'thing_1' });
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Conflict' });
  await thing.annotate(thing.object, { [annotation.createdID]: 'thing_1', [annotation.recordOf]: 'u' });
  thing.writer.fateOf = async () => 'changed';
  expect(await thing.remove({ peers })).toMatchObject({ message: expect.stringContaining('has just changed') });
  thing.writer.fateOf = async () => 'unknown';
  expect(await thing.remove({ peers })).toMatchObject({ message: expect.stringContaining('"true" to leave all') });
  thing.writer.fateOf = async () => 'stays';
  expect(await thing.remove({ peers })).toEqual({ kind: 'finished' });
  expect(deletes).toEqual([]);
});

test('what is gone the status shows no more by the time that another is made, also where it does not say whose it was', async () => {
  const made = { [annotation.externalID]: 'thing_old', [annotation.createdID]: 'thing_old' };
  await thing.annotate(thing.object, { ...made, [annotation.recordOf]: 'u', [annotation.account]: 'default' });
  thing.object = { ...thing.object, status: { id: 'thing_old' } };
  let shown: unknown;
  thing.serve({
    get: async (_, id) => (id === 'thing_old' ? undefined : { id }),
    create: async () => {
      shown = thing.object.status;
      return { id: 'thing_new' };
    },
  });
  await thing.reconcile();
  thing.clock.advance(settleMs);
  await thing.reconcile();
  expect(shown).not.toHaveProperty('id');
});

test.each([
  ['what it made and was found to be gone, is one for another', ['thing_old'], 'Available'],
  ['something else that is not there, is to be corrected', [], 'ExternalNotFound'],
])('an old manifest that is applied again and names %s', async (_, former, reason) => {
  await thing.annotate(thing.object, { [annotation.externalID]: 'thing_old' });
  thing.memory.of('u').former = former;
  thing.serve({ get: async (_, id) => (id === 'thing_old' ? undefined : { id }) });
  await thing.reconcile();
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason });
});
