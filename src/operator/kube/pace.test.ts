import { expect, test } from '@jest/globals';
import { Pace } from './pace.ts';

test('a burst, then evenly; a quiet time earns another burst', () => {
  const pace = new Pace({ perSecond: 10, burst: 3 });
  expect([0, 0, 0, 0, 0].map((now) => pace.take(now))).toEqual([0, 0, 0, 100, 200]);
  expect(pace.take(200)).toBe(100);
  expect([5_000, 5_000, 5_000, 5_000].map((now) => pace.take(now))).toEqual([0, 0, 0, 100]);
});
