import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { OddItem } from '../../common/odd-item.ts';
import { allPages, type Page } from './pages.ts';
import type { Respond, ScriptedAPI } from './scripted-api.fixture.ts';
import { json, startScriptedAPI } from './scripted-api.fixture.ts';

const call = { priority: 'resync' } as const;
let api: ScriptedAPI;

beforeEach(async () => {
  api = await startScriptedAPI();
});

afterEach(() => api.close());

function bot(id: string) {
  return { id, uri: 'u', name: id, active: true, created_at: '2026-01-02T03:04:05Z' };
}

function page(next: string | null | undefined, ...ids: readonly string[]): Respond {
  return json(200, { uri: 'u', next_page_uri: next, bot_users: ids.map(bot) });
}

async function ids(pageSize?: number): Promise<readonly string[]> {
  const options = pageSize === undefined ? {} : { pageSize };
  const found: string[] = [];
  for await (const { id } of api.client().botUsers.listAll(call, options)) found.push(id);
  return found;
}

test('follows the pages, with the service’s own query, against our own host', async () => {
  api.play(
    page('http://127.0.0.1:9/elsewhere?limit=2&before_id=b%2F1&extra=1#x', 'a', 'b1'),
    page('/bot_users?limit=2&before_id=d', 'c', 'd'),
    page(null, 'e'),
  );
  expect(await ids(2)).toEqual(['a', 'b1', 'c', 'd', 'e']);
  expect(api.requests.map(({ url }) => url)).toEqual([
    '/bot_users?limit=2',
    '/bot_users?limit=2&before_id=b%2F1&extra=1',
    '/bot_users?limit=2&before_id=d',
  ]);
});

test('asks for 100 a page, and loads a page only when it is wanted', async () => {
  api.play(page('?before_id=b', 'a', 'b'));
  for await (const { id } of api.client().botUsers.listAll(call)) if (id === 'b') break;
  expect(api.requests.map(({ url }) => url)).toEqual(['/bot_users?limit=100']);
});

test.each([
  ['null', page(null)],
  ['omitted', page(undefined)],
  ['empty', page('')],
  ['null, and so is the array', json(200, { uri: 'u', next_page_uri: null, bot_users: null })],
])('an account with nothing: next_page_uri is %s', async (_, empty) => {
  api.play(empty);
  expect(await ids()).toEqual([]);
});

test('an empty page in the middle is not the end', async () => {
  api.play(page('?before_id=b', 'a'), page('?before_id=c'), page(null, 'd'));
  expect(await ids()).toEqual(['a', 'd']);
});

test.each([
  ['to itself', ['?limit=100']],
  ['to a page before', ['?before_id=b', '?before_id=c', '?before_id=b']],
  ['nowhere', ['https://api.test/bot_users', 'https://api.test/bot_users']],
])('a list that leads %s is an error', async (_, next) => {
  api.play(...next.map((uri) => page(uri, 'a')));
  await expect(ids()).rejects.toMatchObject({
    reason: 'Unreachable',
    message: 'bot_users.list: the response is malformed: next_page_uri: leads to a page already read',
  });
});

test.each([
  ['the array is missing', { uri: 'u', next_page_uri: null }, 'bot_users: expected array'],
  ['the array is another', { uri: 'u', next_page_uri: null, endpoints: [] }, 'bot_users: expected array'],
  ['the next page is wrong', { bot_users: [], next_page_uri: 5 }, 'next_page_uri: expected string'],
])('%s: an error, not an empty account', async (_, body, problem) => {
  api.play(json(200, body));
  await expect(ids()).rejects.toThrow(`bot_users.list: the response is malformed: ${problem}`);
});

test('an odd item is left out and named by its id and what is wrong, not by its place', async () => {
  const items = [bot('a'), { ...bot('b'), name: null }, { ...bot('c'), created_at: 5 }, 'nonsense', bot('e')];
  api.play(json(200, { uri: 'u', next_page_uri: null, bot_users: items }));
  const odd: OddItem[] = [];
  const read = await Array.fromAsync(api.client().botUsers.listAll(call, { onOdd: (item) => odd.push(item) }));
  expect(read.map(({ id }) => id)).toEqual(['a', 'e']);
  expect(odd).toEqual([
    { id: 'b', createdAt: bot('b').created_at, problem: 'name: expected string' },
    { id: 'c', createdAt: undefined, problem: 'created_at: expected string' },
    { id: undefined, createdAt: undefined, problem: 'the item: expected object' },
  ]);
});

describe('a list that does not end', () => {
  type Item = { readonly id: string };
  const bounds = { pages: 20, bytes: 1_000, idlePages: 3 };
  const found = (at: number, items: readonly Item[], bytes = 1) => ({
    ...{ items, odd: [], bytes },
    next: `page=${at + 1}`,
  });

  async function read(pageOf: (at: number) => Page<Item>) {
    let pages = 0;
    const load = async () => pageOf(pages++);
    const problem = await Array.fromAsync(allPages('things.list', '', load, bounds)).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { pages, problem };
  }

  test.each([
    ['empty pages', (at: number) => found(at, []), 4, 'leads on, with nothing new in 4 pages in a row'],
    [
      'the same page again',
      (at: number) => found(at, [{ id: 'a' }]),
      5,
      'leads on, with nothing new in 4 pages in a row',
    ],
    ['small pages', (at: number) => found(at, [{ id: `${at}` }]), 20, 'does not end within 20 pages'],
    ['large pages', (at: number) => found(at, [{ id: `${at}` }], 300), 4, 'does not end within'],
  ])('%s end it by name', async (_, pageOf, expected, problem) => {
    expect(await read(pageOf)).toEqual({ pages: expected, problem: expect.stringContaining(problem) });
  });

  test('whoever has seen enough reads no further', async () => {
    let pages = 0;
    const load = async () => found(pages, [{ id: `${pages++}` }]);
    for await (const { items } of allPages('things.list', '', load)) if (items[0]?.id === '2') break;
    expect(pages).toBe(3);
  });
});
