import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation, formatIntent, intentOf } from '../resource/annotations.ts';
import { connection, settleMs, ThingFixture } from './thing.fixture.ts';

/** Its create was sent, and its fate is not known. */
let thing: ThingFixture;

beforeEach(async () => {
  thing = new ThingFixture();
  thing.nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await thing.reconcile();
});

test('an id that a person names during a look-up is not replaced by what the look-up finds', async () => {
  thing.serve({
    list: async function* () {
      await thing.annotate(thing.object, { [annotation.externalID]: 'thing_named' });
      yield { id: 'thing_lost' };
    },
  });
  thing.clock.advance(settleMs);
  await thing.reconcile();
  expect(thing.object.metadata.annotations).toMatchObject({ [annotation.externalID]: 'thing_named' });
  expect(thing.object.metadata.annotations).not.toHaveProperty([annotation.createIntent]);
});

test.each([
  ['by its id', 'thing_odd', 'item thing_odd'],
  ['also where it has none', undefined, 'an item without an id'],
])(
  'what cannot be read keeps a resource for two minutes from when it is to go, and is told of, %s',
  async (_, id, what) => {
    thing.serve({
      list: async function* (_client, _call, onOdd) {
        onOdd({ id, createdAt: undefined, problem: 'active: expected boolean' });
        yield* [];
      },
    });
    thing.clock.advance(settleMs + 600_000);
    await expect(thing.remove()).rejects.toThrow(
      /cannot be read.* remove the annotation edge-operator.dev\/create-intent/,
    );
    thing.clock.advance(119_000);
    await expect(thing.remove()).rejects.toThrow(/cannot be read/);
    expect(thing.told).toEqual([]);
    thing.clock.advance(1_000);
    expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
    thing.clock.advance(2_000);
    expect(await thing.remove()).toEqual({ kind: 'finished' });
    expect(thing.told).toEqual([
      `Orphaned ${what} of the list, which cannot be read, may be the thing of an unanswered create, and is left behind`,
    ]);
  },
);

test('what is found of one that is to go and keeps what it made is told of', async () => {
  thing.object = { ...thing.object, spec: { deletionPolicy: 'Retain' } };
  thing.serve({
    list: async function* () {
      yield { id: 'thing_lost' };
    },
    delete: () => Promise.reject(new Error('called')),
  });
  thing.clock.advance(settleMs);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(thing.kept).toBe('thing thing_lost is left behind: deletionPolicy is Retain');
});

/** Lists show what a create made as what cannot be read; returns what ends that. */
function serveUnreadable(): () => void {
  let isOdd = true;
  thing.serve({
    list: async function* (_client, _call, onOdd) {
      if (isOdd) onOdd({ id: 'thing_lost', createdAt: undefined, problem: 'active: expected boolean' });
      else yield { id: 'thing_lost' };
    },
  });
  return () => {
    isOdd = false;
  };
}

test('what could not be read is read again, and not taken from a list that was there before', async () => {
  const mend = serveUnreadable();
  thing.clock.advance(settleMs);
  expect((await thing.reconcile()).message).toMatch(/thing_lost .* cannot be read/);
  // As the reconciler notes it, a moment later.
  thing.clock.advance(10);
  thing.memory.of('u').failedAt = thing.clock.now();
  mend();
  thing.clock.advance(1_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_lost' } });
});

test('nor, at a late retry, from one that others read soon after', async () => {
  const mend = serveUnreadable();
  thing.clock.advance(settleMs);
  await thing.reconcile();
  thing.memory.of('u').failedAt = thing.clock.now();
  thing.clock.advance(10_000);
  await thing.reconcile();
  mend();
  thing.clock.advance(290_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_lost' } });
});

test('what was adopted was seen by the look that found it, and is not looked for once more', async () => {
  let lists = 0;
  thing.serve({
    list: async function* () {
      lists += 1;
      yield { id: 'thing_lost' };
    },
  });
  thing.clock.advance(1_000);
  const asked = { requested: false, lastDue: () => Number.NEGATIVE_INFINITY };
  expect(await thing.reconcile(asked)).toMatchObject({ reason: 'Available', fields: { id: 'thing_lost' } });
  expect(lists).toBe(1);
});

test('what was adopted is proven by the status, also where the rest of what is asked for is refused', async () => {
  const refused = new ApiError('400', { reason: 'Rejected', definite: true });
  thing.serve({
    list: async function* () {
      yield { id: 'thing_lost' };
    },
    diff: () => [{ field: 'description' }],
    update: () => Promise.reject(refused),
  });
  expect(await thing.reconcile()).toMatchObject({
    reason: 'Rejected',
    ownership: { account: 'default', how: 'Created', id: 'thing_lost' },
  });
});

test('nothing is said to be left behind where it is certain that nothing was made', async () => {
  thing.clock.advance(settleMs);
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(2_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(thing.told).toEqual([]);
});

test('a create is repeated after two lists, and not after one that came late', async () => {
  let lists = 0;
  thing.serve({
    list: (...given) => {
      lists += 1;
      return thing.contract.list(...given);
    },
  });
  thing.clock.advance(settleMs + 1_000);
  thing.nextError = undefined;
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating', retry: { kind: 'after', ms: 2_000 } });
  expect([lists, thing.creates]).toEqual([1, 1]);
  thing.clock.advance(2_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available' });
  expect([lists, thing.creates]).toEqual([2, 2]);
});

test('a withdrawal that fails is tried again, and not the search begun anew', async () => {
  thing.clock.advance(settleMs + 1_000);
  await thing.reconcile();
  const { insist } = thing.writer;
  Object.assign(thing.writer, { insist: () => Promise.reject(new Error('409')) });
  thing.clock.advance(2_000);
  await expect(thing.reconcile()).rejects.toThrow('409');
  Object.assign(thing.writer, { insist });
  thing.nextError = undefined;
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available' });
  expect(thing.creates).toBe(2);
});

test('a list during which another key came tells nothing', async () => {
  const rekeyed = { connection: { ...connection, since: 0 } };
  let until = 0;
  thing.serve({
    list: (...given) => {
      until -= 1;
      if (until === 0) rekeyed.connection.since = thing.clock.now();
      return thing.contract.list(...given);
    },
  });
  thing.clock.advance(settleMs + 1_000);
  expect(await thing.reconcile({}, rekeyed)).toMatchObject({ reason: 'Creating' });
  thing.clock.advance(2_000);
  until = 1;
  expect(await thing.reconcile({}, rekeyed)).toMatchObject({ reason: 'Creating' });
  expect(thing.creates).toBe(1);
});

describe('when the service’s clock, by which it is marked, was set back before it was carried out', () => {
  const aheadMs = 400_000;
  let offsetMs: number;
  const timed = { connection: { ...connection, serviceTime: () => thing.clock.now() + offsetMs } };
  const clockOfMark = () => JSON.parse(thing.object.metadata.annotations?.[annotation.createIntent] ?? '{}').clock;
  let madeAt: number;

  beforeEach(async () => {
    thing = new ThingFixture();
    offsetMs = aheadMs;
    thing.nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
    await thing.reconcile({}, timed);
    madeAt = thing.clock.now();
    const identity = ({ id }: { readonly id: string }) => ({ id, createdAt: new Date(madeAt).toISOString() });
    thing.serve({
      identity,
      list: async function* () {
        yield { id: 'thing_lost' };
      },
    });
    thing.clock.advance(8_000);
    offsetMs = 0;
  });

  test('who sent it finds it', async () => {
    expect(await thing.reconcile({}, timed)).toMatchObject({ reason: 'Available', fields: { id: 'thing_lost' } });
  });

  test('a process that does not know when it was sent asks a person, also when the clock has caught up', async () => {
    delete thing.memory.of('u').unresolved;
    expect(clockOfMark()).toBe('service');
    await thing.reconcile({}, timed);
    expect(clockOfMark()).toBe('own');
    thing.clock.advance(2 * aheadMs);
    await thing.reconcile({}, timed);
    thing.clock.advance(settleMs);
    expect(await thing.reconcile({}, timed)).toMatchObject({ reason: 'AmbiguousCreate' });
    expect(thing.creates).toBe(1);
  });
});

test('a mark that somebody garbled says nothing of a spec that cannot be read: the status does', async () => {
  await thing.annotate(thing.object, { [annotation.createIntent]: 'garbled' });
  thing.object = { ...thing.object, spec: { deletionPolicy: 'Perhaps' } };
  expect(await thing.remove()).toMatchObject({
    reason: 'Rejected',
    message: expect.stringMatching(/^deleting: spec.deletionPolicy: /),
  });
});

test('what was there before a create was begun is taken for what that made only when nothing else can come', async () => {
  const createdAt = new Date(thing.clock.now() - 58_000).toISOString();
  thing.serve({
    identity: ({ id }) => ({ id, createdAt }),
    list: async function* () {
      yield { id: 'thing_before' };
    },
  });
  thing.clock.advance(1_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating', retry: { kind: 'after' } });
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_before' } });
});

test('what a create of another installation may have made is its own for as long as its answer may come', async () => {
  await thing.annotate(thing.object, { [annotation.installation]: 'one' });
  const annotations = {
    [annotation.createIntent]: formatIntent({ ...intentOf(thing.object), ...dated(200) }),
    [annotation.recordOf]: 'v',
    [annotation.installation]: 'two',
  };
  const list = async function* () {
    yield { id: 'thing_either' };
  };
  thing.serve({ list }, [
    { ...thing.object, metadata: { ...thing.object.metadata, uid: 'v', name: 'b', annotations } },
  ]);
  thing.clock.advance(1_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
  expect(thing.object.metadata.annotations).not.toHaveProperty([annotation.createdID]);
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_either' } });
});

const dated = (ms: number) => ({ at: new Date(thing.clock.now() + ms).toISOString() });
