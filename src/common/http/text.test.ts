import { expect, test } from '@jest/globals';
import { hasMoreValues } from './text.ts';

test.each([
  ['{"a":[1,2,{"b":"c"}]}', 5],
  ['["[,{", "\\"[,", "\\\\", ","]', 4],
  ['["never ended [,,,', 1],
])('the values of %s are counted', (text, values) => {
  const long = text.padEnd(100);
  expect([hasMoreValues(long, values - 1), hasMoreValues(long, values)]).toEqual([true, false]);
});

test('what has fewer characters has no more values', () => {
  expect(hasMoreValues('[[[', 3)).toBe(false);
});
