import { expect, test } from '@jest/globals';
import { Journal, type JournalEntry, journalBody } from './journal.ts';

const entry = (path: string): JournalEntry => ({ method: 'GET', path, query: {}, at: '', headers: {}, status: 200 });

test('keeps the latest, in bounds', () => {
  const journal = new Journal();
  for (let index = 0; index < 25_000; index += 1) journal.add(entry(`/${index}`));
  const kept = journal.entries();
  expect(kept.length).toBeGreaterThanOrEqual(5_000);
  expect(kept.length).toBeLessThanOrEqual(10_000);
  expect(kept.at(-1)?.path).toBe('/24999');
});

test('long bodies are kept as their length', () => {
  expect(journalBody({ a: 1 })).toEqual({ a: 1 });
  expect(journalBody('x'.repeat(70_000))).toEqual({ omittedCharacters: 70_002 });
});

test('deep bodies are not kept', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  expect(journalBody(nested(100))).toEqual(nested(100));
  for (const levels of [101, 100_000]) expect(journalBody(nested(levels))).toEqual({ omittedBeyondLevel: 100 });
});
