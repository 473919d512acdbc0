import { afterEach, beforeEach, expect, test } from '@jest/globals';
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
    page('http://127.0.0.1:9/elsewhere?limit=2&before_id=b%2F1&extra=1#x', 'a', 'b/1'),
    page('/bot_users?limit=2&before_id=d', 'c', 'd'),
    page(null, 'e'),
  );
  expect(await ids(2)).toEqual(['a', 'b/1', 'c', 'd', 'e']);
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
  ['an item is wrong', { bot_users: [bot('a'), { ...bot('b'), name: 5 }] }, 'bot_users.1.name: expected string'],
  ['the next page is wrong', { bot_users: [], next_page_uri: 5 }, 'next_page_uri: expected string'],
])('%s: an error, not an empty account', async (_, body, problem) => {
  api.play(json(200, body));
  await expect(ids()).rejects.toThrow(`bot_users.list: the response is malformed: ${problem}`);
});
