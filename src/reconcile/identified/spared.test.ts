import { expect, test } from '@jest/globals';
import type { Call } from '../external.ts';
import { spared } from './spared.ts';

const call: Call = { priority: 'resync', signal: new AbortController().signal };

test('while the service is away one list in a while is sent for all, later and later', async () => {
  const state = { now: 0, lists: 0, away: true };
  const list = spared(
    async function* () {
      state.lists += 1;
      if (state.away) throw new Error('away');
      yield 'a';
    },
    () => state.now,
  );
  const ask = () => Array.fromAsync(list(call));
  for (; state.now <= 120_000; state.now += 100) await expect(ask()).rejects.toThrow('away');
  // At 0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 s, and then every 30 s.
  expect(state.lists).toBe(9);

  state.away = false;
  state.now += 30_000;
  expect(await ask()).toEqual(['a']);
  state.away = true;
  await expect(ask()).rejects.toThrow('away');
  state.away = false;
  state.now += 500;
  expect(await ask()).toEqual(['a']);
});
