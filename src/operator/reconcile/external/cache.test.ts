import { describe, expect, test } from '@jest/globals';
import type { Call } from '../../../common/call.ts';
import { ExternalCache } from './cache.ts';

interface Thing {
  readonly id: string;
  readonly value: number;
}

const call: Call = { priority: 'resync', signal: new AbortController().signal };

function world() {
  const state = {
    now: 1_000,
    things: [{ id: 'a', value: 1 }] as Thing[],
    lists: 0,
    gate: Promise.resolve(),
    fail: false,
  };
  const observations = new ExternalCache<Thing>({
    now: () => state.now,
    identityOf: ({ id }) => ({ id, createdAt: '' }),
    list: async () => {
      state.lists += 1;
      const page = [...state.things];
      await state.gate;
      if (state.fail) throw new Error('list failed');
      return page;
    },
  });
  return { state, observations };
}

/** Holds lists back until what it returns is called. */
function shut(state: { gate: Promise<void> }): () => void {
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  return gate.resolve;
}

describe('ExternalCache', () => {
  test('a read that is answered after a write it was sent before says nothing new', () => {
    const { observations } = world();
    observations.record({ id: 'a', value: 2 }, 1_500);
    observations.record({ id: 'a', value: 1 }, 1_200);
    expect(observations.known('a', 1_000)).toEqual({ id: 'a', value: 2 });
    observations.forget('b');
    observations.record({ id: 'b', value: 1 }, 900);
    expect(observations.current()).toEqual([{ id: 'a', value: 2 }]);
  });

  test('what a list shows is listed until a call of its own shows it', async () => {
    const { state, observations } = world();
    await observations.sweep(1_000, call);
    expect([observations.isListed('a'), observations.isListed('b')]).toEqual([true, false]);
    observations.record({ id: 'a', value: 2 }, 1_500);
    expect(observations.isListed('a')).toBe(false);
    state.now = 2_000;
    await observations.sweep(2_000, call);
    expect(observations.isListed('a')).toBe(true);
  });

  test('everybody who asks at the same time shares one list', async () => {
    const { state, observations } = world();
    await Promise.all(Array.from({ length: 50 }, () => observations.sweep(1_000, call)));
    expect(state.lists).toBe(1);
    expect(observations.known('a', 1_000)).toEqual({ id: 'a', value: 1 });
  });

  test('an item that cannot be read is told of, and hides none of the others', async () => {
    const odd = { id: 'b', createdAt: undefined, problem: 'name: expected string' };
    const cache = new ExternalCache<Thing>({
      now: () => 1_000,
      identityOf: ({ id }) => ({ id, createdAt: '' }),
      list: async (_, onOdd) => {
        onOdd(odd);
        return [{ id: 'a', value: 1 }];
      },
    });
    expect(cache.odd()).toEqual([]);
    expect(await cache.sweep(1_000, call)).toEqual([{ id: 'a', value: 1 }]);
    expect(cache.odd()).toEqual([odd]);
    expect(cache.known('b', 0)).toBeUndefined();
  });

  test('a sweep that is fresh enough is not repeated, an older one is', async () => {
    const { state, observations } = world();
    await observations.sweep(1_000, call);
    state.now = 2_000;
    await observations.sweep(1_000, call);
    expect(state.lists).toBe(1);
    await observations.sweep(1_500, call);
    expect(state.lists).toBe(2);
  });

  test('one who needs a later sweep waits for the running one to end and starts another', async () => {
    const { state, observations } = world();
    const open = shut(state);
    const early = observations.sweep(1_000, call);
    state.now = 2_000;
    const late = observations.sweep(2_000, call);
    state.things = [{ id: 'b', value: 2 }];
    open();
    expect(await early).toEqual([{ id: 'a', value: 1 }]);
    expect(await late).toEqual([{ id: 'b', value: 2 }]);
  });

  test('our own write is newer than a sweep that began before it', async () => {
    const { state, observations } = world();
    const open = shut(state);
    const sweep = observations.sweep(1_000, call);
    state.now = 1_500;
    observations.record({ id: 'a', value: 2 }, 1_500);
    open();
    await sweep;
    expect(observations.known('a', 1_000)).toEqual({ id: 'a', value: 2 });
  });

  test('a later sweep is newer than our own write', async () => {
    const { state, observations } = world();
    observations.record({ id: 'a', value: 2 }, 1_500);
    state.now = 2_000;
    await observations.sweep(2_000, call);
    expect(observations.known('a', 1_000)).toEqual({ id: 'a', value: 1 });
  });

  test('what is older than asked for is not known', async () => {
    const { observations } = world();
    await observations.sweep(1_000, call);
    expect(observations.known('a', 1_001)).toBeUndefined();
  });

  test('what we deleted is not known, also when a list still shows it', async () => {
    const { observations, state } = world();
    await observations.sweep(1_000, call);
    state.now = 1_100;
    observations.forget('a');
    expect(observations.known('a', 0)).toBeUndefined();
  });

  test('what a list does not show any more is lost, until one shows it again', async () => {
    const { observations, state } = world();
    const sweep = async (now: number, ...ids: readonly string[]) => {
      Object.assign(state, { now, things: ids.map((id) => ({ id, value: 1 })) });
      await observations.sweep(now, call);
    };
    await sweep(1_000, 'a', 'b');
    observations.record({ id: 'made', value: 1 }, 1_500);
    await sweep(2_000, 'b');
    expect(['a', 'b', 'made'].map((id) => observations.lossOf(id))).toEqual([
      { thereAt: 1_000, missedAt: 2_000 },
      undefined,
      { thereAt: 1_500, missedAt: 2_000 },
    ]);
    observations.forget('b');
    await sweep(3_000, 'a');
    expect(observations.lossOf('a')).toBeUndefined();
    expect(observations.lossOf('b')).toBeUndefined();
    expect(observations.lossOf('made')).toEqual({ thereAt: 1_500, missedAt: 2_000 });
  });

  test('a failed sweep fails all who waited and leaves the last one in force', async () => {
    const { state, observations } = world();
    await observations.sweep(1_000, call);
    state.now = 2_000;
    state.fail = true;
    const waiting = [observations.sweep(2_000, call), observations.sweep(2_000, call)];
    for (const one of waiting) await expect(one).rejects.toThrow('list failed');
    expect(observations.known('a', 1_000)).toBeDefined();
    state.fail = false;
    await observations.sweep(2_000, call);
    expect(observations.known('a', 2_000)).toBeDefined();
  });

  test('what we deleted while it was listed is not in the list', async () => {
    const { state, observations } = world();
    const open = shut(state);
    const sweep = observations.sweep(1_000, call);
    state.now = 1_500;
    observations.forget('a');
    open();
    expect(await sweep).toEqual([]);
  });
});

describe('a look', () => {
  const [old, made] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  const backTo = Date.parse('2026-01-01T12:00:00Z');
  const dated = (items: readonly { readonly id: string; readonly createdAt: string }[]) => {
    const state = { items, now: 1_000, read: [] as string[], gate: Promise.resolve(), fail: false };
    const cache = new ExternalCache<(typeof items)[number]>({
      now: () => state.now,
      identityOf: (item) => item,
      list: async (_, __, isWanted = () => true) => {
        const { fail } = state;
        state.read.push('list');
        await state.gate;
        if (fail) throw new Error('list failed');
        return state.items.filter(isWanted);
      },
    });
    return { state, cache };
  };

  test('reads as far back as it is asked to, and is shared by all who ask for no more', async () => {
    const { state, cache } = dated([
      { id: 'b', createdAt: made },
      { id: 'a', createdAt: old },
    ]);
    const ids = async (since: number, to: number) => (await cache.recent(since, to, call)).items().map(({ id }) => id);
    expect(await Promise.all([ids(1_000, backTo), ids(1_000, backTo + 1)])).toEqual([['b'], ['b']]);
    expect(state.read).toHaveLength(1);
    expect(await ids(1_000, Date.parse(old))).toEqual(['b', 'a']);
    state.now = 2_000;
    expect(await ids(1_000, backTo)).toEqual(['b']);
    expect(state.read).toHaveLength(2);
    await ids(2_000, backTo);
    expect(state.read).toHaveLength(3);
  });

  test.each([false, true])(
    'all who ask while an older one is under way share the next (it fails: %s)',
    async (fails) => {
      const { state, cache } = dated([
        { id: 'b', createdAt: made },
        { id: 'a', createdAt: old },
      ]);
      const open = shut(state);
      state.fail = fails;
      const first = cache.recent(1_000, backTo, call);
      const later = [1_100, 1_200, 1_300].map((now) => {
        state.now = now;
        return cache.recent(now, now === 1_200 ? Date.parse(old) : backTo, call);
      });
      state.fail = false;
      open();
      expect((await first.catch(() => undefined))?.items().length).toBe(fails ? undefined : 1);
      expect((await Promise.all(later)).map(({ items }) => items().length)).toEqual([1, 2, 1]);
      expect(state.read).toHaveLength(2);
    },
  );

  test('knows of what we made and deleted since', async () => {
    const { state, cache } = dated([{ id: 'b', createdAt: made }]);
    await cache.recent(1_000, backTo, call);
    state.now = 1_500;
    cache.record({ id: 'c', createdAt: made }, 1_500);
    cache.forget('b');
    expect((await cache.recent(1_000, backTo, call)).items().map(({ id }) => id)).toEqual(['c']);
  });

  test('knows of what is deleted after it ended, also by a list that came later', async () => {
    const { state, cache } = dated([
      { id: 'b', createdAt: made },
      { id: 'a', createdAt: made },
    ]);
    const found = await cache.recent(1_000, backTo, call);
    state.now = 1_500;
    cache.forget('b');
    expect(found.items().map(({ id }) => id)).toEqual(['a']);
    state.items = [{ id: 'a', createdAt: made }];
    state.now = 2_000;
    await cache.sweep(2_000, call);
    expect(found.items().map(({ id }) => id)).toEqual(['a']);
  });
});
