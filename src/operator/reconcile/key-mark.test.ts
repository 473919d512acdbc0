import { expect, test } from '@jest/globals';
import { areTwoKeys, keyMarkOf } from './key-mark.ts';

test('two keys of one account are told apart, and nothing else is', () => {
  const mark = keyMarkOf('secret', 'ns/account', 'key');
  expect(mark).toMatch(/^[0-9a-f]{4}-[0-9a-f]{8}$/);
  expect(areTwoKeys(mark, keyMarkOf('secret', 'ns/account', 'key'))).toBe(false);
  expect(areTwoKeys(mark, keyMarkOf('secret', 'ns/account', 'another'))).toBe(true);
  // By another secret the same key has another mark.
  expect(areTwoKeys(mark, keyMarkOf('other secret', 'ns/account', 'key'))).toBe(false);
  expect(areTwoKeys(undefined, mark)).toBe(false);
  expect(areTwoKeys(mark, undefined)).toBe(false);
  expect(areTwoKeys(undefined, undefined)).toBe(false);
});

test('one key of two accounts is not known for one', () => {
  expect(keyMarkOf('secret', 'a/account', 'key')).not.toBe(keyMarkOf('secret', 'b/account', 'key'));
});
