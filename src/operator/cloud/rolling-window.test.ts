import { expect, test } from '@jest/globals';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { RollingWindow, windowMs } from './rolling-window.ts';

test('what an earlier process sent leaves at once, however much it was', () => {
  let left = 0;
  const window = new RollingWindow<string>(() => {
    left += 1;
  });
  window.carry(
    Array.from({ length: 40_000 }, () => 'a'),
    0,
  );
  window.carry(['b'], 1);
  const tookMs = cpuTimer();
  window.advance(windowMs);
  expect([left, window.nextChange()]).toEqual([40_000, windowMs + 1]);
  expect(tookMs()).toBeLessThan(1_000);
});
