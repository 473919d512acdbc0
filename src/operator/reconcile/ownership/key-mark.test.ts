import { expect, test } from '@jest/globals';
import { keyMarkOf, mayBeTwoKeys } from './key-mark.ts';

test('two keys of one account are told apart, and nothing else is', () => {
  const mark = keyMarkOf('secret', 'ns/account', 'key');
  expect(mark).toMatch(/^[0-9a-f]{4}-[0-9a-f]{8}$/);
  expect(mayBeTwoKeys(mark, keyMarkOf('secret', 'ns/account', 'key'))).toBe(false);
  expect(mayBeTwoKeys(mark, keyMarkOf('secret', 'ns/account', 'another'))).toBe(true);
  // By another secret the same key has another mark.
  expect(mayBeTwoKeys(mark, keyMarkOf('other secret', 'ns/account', 'key'))).toBe(true);
  expect(mayBeTwoKeys(undefined, mark)).toBe(false);
  expect(mayBeTwoKeys(mark, undefined)).toBe(false);
  expect(mayBeTwoKeys(undefined, undefined)).toBe(false);
});

test('one key of two accounts is not known for one', () => {
  expect(keyMarkOf('secret', 'a/account', 'key')).not.toBe(keyMarkOf('secret', 'b/account', 'key'));
});
