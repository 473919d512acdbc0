import { expect, test } from '@jest/globals';
import { KeyHistory } from './key-history.ts';

test('tells with which key something was seen, though that comes back', () => {
  const keys = new KeyHistory();
  keys.begin('right', 10);
  expect(keys.rekeyedAt).toBeUndefined();
  keys.begin('wrong', 20);
  keys.begin('right', 30);
  expect([15, 20, 25, 30, 35].map((at) => keys.wasAnother(at))).toEqual([false, false, true, true, false]);
  expect(keys.rekeyedAt).toBe(30);
});

test('what was seen as soon as there was a key was seen with it', () => {
  const keys = new KeyHistory();
  keys.begin('right', 10);
  expect([9, 10].map((at) => keys.wasAnother(at))).toEqual([true, false]);
  keys.begin('wrong', 20);
  expect(keys.wasAnother(10)).toBe(true);
});

test('takes the same key for no other one, however often it is read', () => {
  const keys = new KeyHistory();
  keys.begin('right', 10);
  keys.begin('right', 20);
  expect([keys.rekeyedAt, keys.wasAnother(15)]).toEqual([undefined, false]);
});

test('knows every key that there was, and none of the times without one', () => {
  const keys = new KeyHistory();
  expect(keys.identities).toEqual([]);
  keys.begin('first', 10);
  keys.begin(undefined, 20);
  keys.begin('second', 30);
  expect(keys.identities).toEqual(['first', 'second']);
});

test('of what is older than it remembers nobody is sure', () => {
  const keys = new KeyHistory();
  for (let at = 0; at < 100; at += 1) keys.begin(`key ${at % 2}`, at);
  expect([1.5, 97.5, 98.5].map((at) => keys.wasAnother(at))).toEqual([true, false, true]);
});
