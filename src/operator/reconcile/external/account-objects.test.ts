import { expect, test } from '@jest/globals';
import type { Call } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import { guarded } from './account-objects.ts';

/** What is made at each second is named by it. */
const identityOf = (second: string | number) => ({
  id: String(second),
  createdAt: new Date(Number(second) * 1_000 || 0).toISOString(),
});
const call: Call = { priority: 'resync', signal: new AbortController().signal };

test('while the service is away one list in a while is sent for all, later and later', async () => {
  const state = { now: 0, lists: 0, away: true };
  const list = guarded({
    list: async function* () {
      state.lists += 1;
      if (state.away) throw new Error('away');
      yield 'a';
    },
    now: () => state.now,
    identityOf,
  });
  const ask = () => list(call, () => {});
  for (; state.now <= 120_000; state.now += 100) await expect(ask()).rejects.toThrow('away');
  // At 0, 0.5, 1.5, 3.5, 7.5, 15.5 s, and then every 10 s.
  expect(state.lists).toBe(16);

  state.away = false;
  state.now += 30_000;
  expect(await ask()).toEqual(['a']);
  state.away = true;
  await expect(ask()).rejects.toThrow('away');
  state.away = false;
  state.now += 500;
  expect(await ask()).toEqual(['a']);
});

test.each([
  ['Unauthorized', 403],
  ['RateLimited', 429],
] as const)('%s may be over by now: nobody is told of it without asking', async (reason, status) => {
  let refused = true;
  const list = guarded({
    list: async function* () {
      if (refused) throw new ApiError(`${status}`, { reason, status, definite: true });
      yield 'a';
    },
    now: () => 0,
    identityOf,
  });
  await expect(list(call, () => {})).rejects.toThrow(`${status}`);
  refused = false;
  expect(await list(call, () => {})).toEqual(['a']);
});

const seconds = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

/** Of those that are made after the second 1,000. */
async function wantedOf(items: readonly number[]) {
  let read = 0;
  const list = guarded({
    list: async function* () {
      for (const item of items) {
        read += 1;
        yield item;
      }
    },
    now: () => 0,
    identityOf,
  });
  const isWanted = (item: number) => item > 1_000;
  return { found: await list(call, () => {}, isWanted), read };
}

test('little is read beyond what is wanted of a list that is newest first', async () => {
  expect(await wantedOf(seconds(1_002).reverse())).toEqual({ found: [1_002, 1_001], read: 22 });
});

test('nor beyond a page of what is as old as all else', async () => {
  expect(await wantedOf(seconds(500).map(() => 7))).toEqual({ found: [], read: 100 });
});

test.each([
  ['oldest first', seconds(1_002)],
  ['of one second and then of later ones', [...seconds(99).map(() => 7), 1_001, 1_002]],
  ['in no order', seconds(1_002).map((n) => ((n * 389) % 1_002) + 1)],
  ['newest first for a while', [...seconds(19).reverse(), 1_001, 500, 1_002]],
])('one that is %s is read to its end', async (_, items) => {
  const { found, read } = await wantedOf(items);
  expect([found.toSorted(), read]).toEqual([[1_001, 1_002], items.length]);
});
