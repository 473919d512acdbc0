import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Call, Reserved } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation } from '../resource/annotations.ts';
import { connection, ThingFixture } from './thing.fixture.ts';

let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
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

test('what was made, or updated, is of the key that it was sent with, where another is in force before the answer', async () => {
  const rekeyed = { ...connection, keyMark: 'a1b2-00000001', since: 0 };
  const answerLate = async () => {
    thing.clock.freeze(10);
    [rekeyed.keyMark, rekeyed.since] = ['a1b2-00000002', thing.clock.now()];
    thing.clock.freeze(10);
    return { id: 'thing_1', text: 'new' };
  };
  const answer = async () => (rekeyed.since === 0 ? { id: 'thing_1', text: 'old' } : undefined);
  const mark = () => thing.object.metadata.annotations?.[annotation.keyMark];
  const diff = (_: unknown, shown: { readonly text?: string }) => (shown.text === 'new' ? [] : [{ field: 'text' }]);

  thing.serve({ create: answerLate, get: answer });
  thing.clock.freeze(1);
  await thing.reconcile({}, { connection: rekeyed });
  expect([mark(), thing.object.metadata.annotations?.[annotation.createdID]]).toEqual(['a1b2-00000001', 'thing_1']);

  [rekeyed.keyMark, rekeyed.since] = ['a1b2-00000001', 0];
  thing.serve({ diff, update: answerLate, get: answer });
  await thing.reconcile({}, { connection: rekeyed });
  await thing.reconcile({}, { connection: rekeyed });
  expect(mark()).toBe('a1b2-00000001');
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

describe('what was taken for gone, and is there again when the turn of another one comes, is taken back', () => {
  let there: string[];
  let lists: number;
  let create: () => { readonly id: string };
  let isHeld: boolean;
  /** Waits for the budget. */
  let reserve: (call: Call) => Promise<Reserved>;

  const reserving = { ...connection, reserve: (call: Call) => reserve(call) };

  const attempt = async () => {
    const { ownership, reason } = await thing.reconcile({ drift: true }, { connection: reserving });
    if (ownership !== undefined) thing.object = { ...thing.object, status: { ...thing.object.status, ownership } };
    thing.clock.advance(5_000);
    return reason;
  };

  beforeEach(async () => {
    [there, lists, isHeld] = [[], 0, false];
    create = () => {
      there = [`thing_${thing.creates}`];
      return { id: `thing_${thing.creates}` };
    };
    reserve = async (call) => ({ call, [Symbol.dispose]: () => {} });
    thing.serve({
      get: async (_, id) => (there.includes(id) ? { id } : undefined),
      list: async function* () {
        if (isHeld) throw new Error('it would wait for ever');
        lists += 1;
        yield* there.map((id) => ({ id }));
      },
      create: async () => {
        thing.creates += 1;
        return create();
      },
    });
    await attempt();
    there = [];
    expect(await attempt()).toBe('Creating');
  });

  test('after that was refused', async () => {
    create = () => {
      throw new ApiError('429', { reason: 'RateLimited', definite: true });
    };
    expect(await attempt()).toBe('RateLimited');
    const before = lists;
    await attempt();
    // What was looked at just now is not looked at again.
    expect([lists - before, thing.creates]).toEqual([0, 3]);
    there = ['thing_1'];
    thing.clock.advance(3_600_000);
    expect(await attempt()).toBe('Available');
    expect([lists - before, thing.creates]).toEqual([1, 3]);
    expect(thing.object.metadata.annotations).toMatchObject({ [annotation.createdID]: 'thing_1' });
  });

  /** Each create waits for an hour, after which nothing else is sent while it has its turn. */
  const slowly = (happens: () => void) => async (call: Call) => {
    happens();
    thing.clock.advance(3_600_000);
    isHeld = true;
    const release = () => {
      isHeld = false;
    };
    return { call, [Symbol.dispose]: release };
  };

  test('after that had waited', async () => {
    reserve = slowly(() => {
      there = ['thing_1'];
    });
    expect(await attempt()).toBe('Available');
    expect(thing.creates).toBe(1);
    expect(thing.object.metadata.annotations).toMatchObject({ [annotation.createdID]: 'thing_1' });
  });

  test('and where it is not, is made again, however long that takes', async () => {
    reserve = slowly(() => {});
    const before = lists;
    expect(await attempt()).toBe('Available');
    // By one list it is known to be gone, by another that it is still.
    expect([lists - before, thing.creates]).toEqual([2, 2]);
  });
});
