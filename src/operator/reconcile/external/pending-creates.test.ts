import { expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import type { Call } from '../../../common/priority.ts';
import { guarded } from './pending-creates.ts';

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
  });
  await expect(list(call, () => {})).rejects.toThrow(`${status}`);
  refused = false;
  expect(await list(call, () => {})).toEqual(['a']);
});

test('no page is read beyond what is wanted', async () => {
  const read: number[] = [];
  const list = guarded({
    list: async function* () {
      for (const item of [5, 4, 3, 2, 1]) {
        read.push(item);
        yield item;
      }
    },
    now: () => 0,
  });
  expect(
    await list(
      call,
      () => {},
      (item) => item > 3,
    ),
  ).toEqual([5, 4]);
  expect(read).toEqual([5, 4, 3]);
});
