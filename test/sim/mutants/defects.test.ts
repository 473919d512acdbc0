import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { defects } from './defects.ts';
import { planted } from './plant.ts';

test('there are at least 40, of distinct names', () => {
  expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length);
  expect(defects.length).toBeGreaterThanOrEqual(40);
});

test.each(defects)('$name has its place in $file', (defect) => {
  const text = readFileSync(join(import.meta.dirname, '../../../src/operator', defect.file), 'utf8');
  expect(planted(text, defect)).not.toBe(text);
});

test('a place that is gone, or not the only one, is an error', () => {
  const defect = { name: 'a', sort: 'stale read', file: 'a.ts', find: 'old', replace: 'new' } as const;
  expect(planted('an old text', defect)).toBe('an new text');
  expect(() => planted('a text', defect)).toThrow('a: "old" stands 0 times in a.ts');
  expect(() => planted('old and old', defect)).toThrow('2 times');
});
