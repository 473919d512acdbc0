import { expect, test } from '@jest/globals';
import { excessOfDocument, excessOfText, mostBytes } from './bounds.ts';

test('a text may be so long, in bytes', () => {
  expect(excessOfText('x'.repeat(mostBytes))).toBeUndefined();
  expect(excessOfText('x'.repeat(mostBytes + 1))).toBe('is 65537 bytes long; at most 65536 are taken');
  expect(excessOfText('é'.repeat(mostBytes / 2 + 1))).toMatch(/^is 65538 bytes/);
});

const nested = (levels: number) => JSON.parse('[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2));

test('a document may be so deep, and so long as JSON', () => {
  expect(excessOfDocument(nested(100))).toBeUndefined();
  expect(excessOfDocument(nested(102))).toBe('nests deeper than 100 levels');
  expect(excessOfDocument(nested(8_000))).toBe('nests deeper than 100 levels');
  expect(excessOfDocument({ a: 'x'.repeat(mostBytes) })).toMatch(/^is \d+ bytes long/);
  expect(excessOfDocument(undefined)).toBeUndefined();
});
