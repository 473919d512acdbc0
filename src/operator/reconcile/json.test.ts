import { describe, expect, test } from '@jest/globals';
import { canonical, fingerprint, mergePatch } from './json.ts';

describe('canonical', () => {
  test('is the same for equal values whatever the order of their keys', () => {
    expect(canonical({ a: 1, b: { d: [1, 2], c: null } })).toBe(canonical({ b: { c: null, d: [1, 2] }, a: 1 }));
  });
  test('an undefined field does not count', () => expect(canonical({ a: 1, b: undefined })).toBe(canonical({ a: 1 })));
  test('the order of a list counts', () => expect(fingerprint([1, 2])).not.toBe(fingerprint([2, 1])));
});

describe('mergePatch', () => {
  test('equal values need none', () => expect(mergePatch({ a: { b: 1 } }, { a: { b: 1 } })).toBeUndefined());
  test('adds, changes and removes, also inside objects', () => {
    const patch = mergePatch({ keep: 1, gone: 2, inner: { x: 1, y: 2 } }, { keep: 1, inner: { x: 3 }, fresh: [1] });
    expect(patch).toEqual({ gone: null, inner: { x: 3, y: null }, fresh: [1] });
  });
  test('an undefined field is a removed one', () =>
    expect(mergePatch({ a: 1 }, { a: undefined })).toEqual({ a: null }));
});
