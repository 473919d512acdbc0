import { expect, test } from '@jest/globals';
import { excessOfDocument, excessOfText, holdsLostKey, isLarger, mostBytes } from './bounds.ts';

test('a text may be so long, in bytes', () => {
  expect(excessOfText('x'.repeat(mostBytes))).toBeUndefined();
  expect(excessOfText('x'.repeat(mostBytes + 1))).toBe('is 65537 bytes long; at most 65536 are taken');
  expect(excessOfText('é'.repeat(mostBytes / 2 + 1))).toMatch(/^is 65538 bytes/);
});

const nested = (levels: number) => JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);

test('a document may be so deep, and so long as JSON', () => {
  expect(excessOfDocument(nested(100))).toBeUndefined();
  expect(excessOfDocument(nested(102))).toBe('nests deeper than 100 levels');
  expect(excessOfDocument(nested(8_000))).toBe('nests deeper than 100 levels');
  expect(excessOfDocument({ a: 'x'.repeat(mostBytes) })).toMatch(/^is \d+ bytes long/);
  expect(excessOfDocument(undefined)).toBeUndefined();
});

test.each([
  ['an empty document', {}, false],
  ['a short text', 'x'.repeat(900), false],
  ['a long text', 'x'.repeat(1_100), true],
  ['a text of long characters', 'é'.repeat(600), true],
  ['many texts', Array.from({ length: 200 }, () => 'abcdef'), true],
  ['many keys', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, 1])), true],
  ['a few numbers', Array.from({ length: 300 }, () => 1), false],
  ['many numbers', Array.from({ length: 1_100 }, () => 1), true],
])('whether %s is larger than 1,000 bytes', (_, document, larger) => {
  expect(isLarger(document, 1_000)).toBe(larger);
});

test('a document is measured at any depth', () => {
  const deep = JSON.parse(`${'['.repeat(9_000)}1${']'.repeat(9_000)}`);
  expect(isLarger(deep, 6_000)).toBe(true);
  expect(isLarger(deep, 100_000)).toBe(false);
});

test.each([
  ['{"a":[{"__proto__":{"b":1}}]}', true],
  [`${'['.repeat(9_000)}{"__proto__":1}${']'.repeat(9_000)}`, true],
  ['{"a":["__proto__"],"proto":{}}', false],
  [`[${'1,'.repeat(200_000)}1]`, false],
])('whether a document has a key that would be lost', (text, isThere) => {
  expect(holdsLostKey(JSON.parse(text))).toBe(isThere);
});
