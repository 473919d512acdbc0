import { expect, test } from '@jest/globals';
import { runsIn } from './runs.ts';

const found = (texts: readonly string[], ...runs: string[]) => [
  ...runsIn(texts, new Set(runs), runs[0]?.length ?? 0, 'salt'),
];

test.each([
  ['at its beginning', 'abcdefgh and more', ['abcdefgh']],
  ['at its end', 'more abcdefgh', ['abcdefgh']],
  ['in another case', 'more aBCdefGH', ['abcdefgh']],
  ['that is one run over and over', 'ab'.repeat(1_000), ['abababab', 'babababa']],
  ['of other scripts', 'more 秘密的秘密的秘密 and more', ['秘密的秘密的秘密']],
])('runs are found in a text %s', (_, text, runs) => {
  expect(found(['', 'abcdefg', text], ...runs, '12345678')).toEqual(runs);
});

test('a run is all of its characters, in one text', () => {
  expect(found(['abcdefg', 'h', 'bcdefgh', 'abcdefgx'], 'abcdefgh')).toEqual([]);
  expect(found(['xbcdefghijkl'], 'abcdefghijkl')).toEqual([]);
  expect(found(['abcdefghijkl'], 'abcdefghijkl')).toEqual(['abcdefghijkl']);
  // A letter of another script has the lower half of `a`.
  expect(found(['šbcdefgh'], 'abcdefgh')).toEqual([]);
});

test('there may be none', () => expect(found(['abcdefgh'])).toEqual([]));
