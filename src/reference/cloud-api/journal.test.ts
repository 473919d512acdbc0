import { describe, expect, test } from '@jest/globals';
import { Journal, type JournalEntry, journalBody, withoutSecrets } from './journal.ts';

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

describe('what others may see of a body', () => {
  const shown = (body: unknown) => withoutSecrets({ ...entry('/'), body }).body;

  test.each([
    ['a webhook secret', { provider: 'github', secret: 'canary' }, { provider: 'github', secret: '(not shown)' }],
    ['the XML of an IdP', { idp_metadata: '<canary/>' }, { idp_metadata: '(not shown)' }],
    ['wherever it stands, and whatever it is', { a: [{ secret: ['canary'] }] }, { a: [{ secret: '(not shown)' }] }],
    ['that there is none', { secret: '' }, { secret: '' }],
    ['everything else', { name: 'secret', value: null }, { name: 'secret', value: null }],
    ['no body', undefined, undefined],
    ['no object', 'secret', 'secret'],
  ])('%s', (_what, body, expected) => expect(shown(body)).toEqual(expected));

  test('is nothing that is changed in the journal', () => {
    const body = { secret: 'canary' };
    shown(body);
    expect(body).toEqual({ secret: 'canary' });
  });
});
