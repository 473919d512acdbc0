import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation } from '../annotations.ts';
import { CurrentResource } from '../current-resource.ts';
import { movedAccount, ownershipOf, placeRecord, recordedURLOf } from '../ownership.ts';
import { Peers } from '../peers.ts';
import type { ManagedObject } from '../resource.ts';
import type { ObjectWriter } from '../writer.ts';
import { connection, ThingFixture } from './thing.fixture.ts';

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
  thing.writer.writeStatus = async (_object, status) => {
    thing.object = { ...thing.object, status };
    return thing.object;
  };
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

test('what was missed before is not taken for the answer to a delete', async () => {
  await thing.reconcile();
  const deletes: string[] = [];
  thing.serve({
    get: async () => undefined,
    delete: async (_, id) => {
      deletes.push(id);
      return 'deleted';
    },
  });
  thing.clock.advance(1_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
  expect(thing.memory.of('u').absent).toMatchObject({ id: 'thing_1' });
  thing.clock.advance(600_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toEqual(['thing_1']);
});

test.each([
  ['a list shows it', undefined],
  ['another key is in force', 1_030_000],
])('a delete that was answered with a 404 is sent again when %s', async (_, since) => {
  await thing.reconcile();
  const answers = ['absent', 'deleted'] as const;
  let deletes = 0;
  let there = since === undefined;
  thing.serve({
    list: async function* () {
      if (there) yield { id: 'thing_1' };
    },
    delete: async () => answers[deletes++] ?? 'deleted',
  });
  const remove = () => {
    const isNewKey = since !== undefined && thing.clock.now() >= since;
    return thing.remove({ connection: { ...connection, ...(isNewKey && { since }) } });
  };
  expect(await remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(30_000);
  there = true;
  if (since === undefined) expect(await remove()).toMatchObject({ reason: 'Deleting' });
  expect(await remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(2);
});

test('what was denied, and in doubt for minutes, is deleted once more before it counts as gone', async () => {
  await thing.reconcile();
  let deletes = 0;
  thing.serve({
    list: async function* (_client, _call, onOdd) {
      onOdd({ id: undefined, createdAt: undefined, problem: 'id: expected string' });
      yield* [];
    },
    delete: async () => (++deletes === 1 ? 'absent' : 'deleted'),
  });
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(90_000);
  expect(await thing.remove()).toMatchObject({ reason: 'Unreachable' });
  thing.clock.advance(60_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(2);
});

test('a 404 after a delete that was not answered is one witness, and that delete was perhaps never carried out', async () => {
  await thing.reconcile();
  const lost = new ApiError('408', { reason: 'Unreachable', definite: false });
  let deletes = 0;
  thing.serve({
    list: async function* () {
      yield { id: 'thing_1' };
    },
    delete: async () => {
      deletes += 1;
      if (deletes === 1) throw lost;
      return deletes === 2 ? 'absent' : 'deleted';
    },
  });
  expect(await thing.remove()).toMatchObject({ reason: 'Unreachable', message: 'deleting: 408' });
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(30_000);
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting', message: expect.stringContaining('is in a list') });
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(3);
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

test('the key is on record with which the object was there for the last time', async () => {
  let there = true;
  thing.serve({ get: async (_, id) => (there ? { id } : undefined) });
  const recorded = async (keyMark: string, since: number) => {
    thing.clock.advance(1);
    await thing.reconcile({}, { connection: { ...connection, keyMark, since } });
    return thing.object.metadata.annotations?.[annotation.keyMark];
  };
  expect(await recorded('a1b2-00000001', 0)).toBe('a1b2-00000001');
  there = false;
  expect(await recorded('a1b2-00000002', thing.clock.now())).toBe('a1b2-00000001');
  there = true;
  expect(await recorded('a1b2-00000003', thing.clock.now())).toBe('a1b2-00000003');
});

test('the key is on record before a create, and not after one that was refused for certain', async () => {
  const marks: unknown[] = [];
  thing.serve({
    create: async () => {
      marks.push(thing.object.metadata.annotations?.[annotation.keyMark]);
      throw new ApiError('400', { reason: 'Rejected', definite: true });
    },
  });
  await thing.reconcile({}, { connection: { ...connection, keyMark: 'a1b2-00000001' } });
  marks.push(thing.object.metadata.annotations?.[annotation.keyMark]);
  expect(marks).toEqual(['a1b2-00000001', undefined]);
});

describe('what was taken for gone by a process that knew only a wrong key', () => {
  let rekeyedAt = Number.NEGATIVE_INFINITY;
  const hadAnotherKey = (at: number) => at <= rekeyedAt;
  const there = { connection: { ...connection, url: 'https://api', since: 0, hadAnotherKey } };
  /** What the key in force opens. */
  let account: string[];

  /** As the reconciler writes it. */
  async function reconcile() {
    const { fields, ownership, ...said } = await thing.reconcile({ requested: false }, there);
    const status = { ...thing.object.status, ...fields, ...(ownership && { ownership }) };
    thing.object = { ...thing.object, status };
    thing.clock.advance(600_000);
    return { ...said, id: thing.object.metadata.annotations?.[annotation.externalID] };
  }

  beforeEach(async () => {
    thing.writer.writeStatus = async (_object, status) => {
      thing.object = { ...thing.object, status };
      return thing.object;
    };
    account = [];
    thing.serve({
      get: async (_, id) => (account.includes(id) ? { id } : undefined),
      list: async function* () {
        yield* account.map((id) => ({ id }));
      },
      create: async () => {
        thing.creates += 1;
        account = [`thing_${thing.creates}`];
        return { id: `thing_${thing.creates}` };
      },
    });
    await reconcile();
    // Another process begins, with the key of another account.
    thing.memory.forget('u');
    account = [];
    there.connection.since = thing.clock.now();
    await reconcile();
    expect(await reconcile()).toMatchObject({ reason: 'Available', id: 'thing_2' });
    there.connection.since = thing.clock.now();
    rekeyedAt = thing.clock.now();
    thing.clock.advance(1);
  });

  test('is taken back when the right key is', async () => {
    account = ['thing_1'];
    await reconcile();
    expect(await reconcile()).toMatchObject({ reason: 'Available', id: 'thing_1' });
    expect(thing.creates).toBe(2);
  });

  test('is taken back where a create with the wrong key was given up', async () => {
    account = ['thing_1'];
    thing.object = { ...thing.object, metadata: { ...thing.object.metadata, annotations: {} }, status: {} };
    expect(await reconcile()).toMatchObject({ reason: 'Available', id: 'thing_1' });
    expect(thing.creates).toBe(2);
  });

  test('stays in doubt with yet another key', async () => {
    account = [];
    await reconcile();
    expect(await reconcile()).toMatchObject({ reason: 'Unreachable', message: expect.stringMatching(/right key\?/) });
    expect(thing.creates).toBe(2);
  });
});
