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
  test.each([
    ['in another order', { a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }],
    ['with fields that are undefined', { a: 1, b: undefined }, { c: undefined, a: 1 }],
  ])('objects are equal %s', (_, one, other) => expect(mergePatch({ it: one }, { it: other })).toBeUndefined());
  test.each([
    ['a field more', [{ a: 1 }], [{ a: 1, b: 2 }]],
    ['a field less', [{ a: 1, b: 2 }], [{ a: 1 }]],
    ['an item more', [1], [1, 2]],
    ['another order of items', [1, 2], [2, 1]],
    ['an object in place of a list', [], {}],
    ['null in place of an object', [{}], [null]],
    ['a name of what every object inherits', [{}], [JSON.parse('{"__proto__":{}}')]],
    ['the same the other way round', [JSON.parse('{"__proto__":{}}')], [{}]],
  ])('values differ by %s', (_, one, other) => expect(mergePatch({ it: one }, { it: other })).toEqual({ it: other }));
});
