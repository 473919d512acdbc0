import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CloudAnswer, startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

let cloud: TestCloud;
const made: string[] = [];

beforeAll(async () => {
  cloud = await startTestCloud();
  for (let index = 0; index < 250; index += 1) {
    made.push((await cloud.call('POST', '/bot_users', { name: `bot ${index}` })).body.id);
  }
});
afterAll(() => cloud.stop());

interface List {
  readonly uri: string;
  readonly next_page_uri: string | null;
  readonly bot_users: readonly { readonly id: string }[];
}

const list = async (path: string): Promise<List> => (await cloud.call('GET', path)).body;

async function readAll(path: string, between: () => Promise<unknown> = async () => {}): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | null = path; next !== null; ) {
    const page: List = await list(next);
    pages.push(page.bot_users.map((bot) => bot.id));
    next = page.next_page_uri;
    await between();
  }
  return pages;
}

describe('the list envelope (section 2)', () => {
  test('250 objects come 100 a page, newest first', async () => {
    const pages = await readAll('/bot_users');
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    expect(pages.flat()).toEqual([...made].reverse());
  });

  test('next_page_uri carries limit and before_id; uri is the list', async () => {
    const page = await list('/bot_users?limit=7');
    expect(page.uri).toBe(`${cloud.url}/bot_users`);
    const next = new URL(page.next_page_uri ?? '');
    expect(Object.fromEntries(next.searchParams)).toEqual({ limit: '7', before_id: page.bot_users[6]?.id });
  });

  test('a last page that is full has no next one', async () => {
    expect((await readAll('/bot_users?limit=50')).map((page) => page.length)).toEqual([50, 50, 50, 50, 50]);
  });

  test('an empty list', async () => {
    expect(await list('/endpoints')).toEqual({ uri: `${cloud.url}/endpoints`, next_page_uri: null, endpoints: [] });
  });

  test.each(['reserved_addrs', 'bot_users', 'endpoints'])('the array of %s is named so', async (name) => {
    expect(Object.keys((await cloud.call('GET', `/${name}`)).body)).toEqual(['uri', 'next_page_uri', name]);
  });

  test.each(['0', '101', '-1', 'ten', '1.5', '', '5&limit=6'])('limit=%s is 400', async (limit) => {
    const { status, body } = await cloud.call('GET', `/bot_users?limit=${limit}`);
    expect([status, body.error_code]).toEqual([400, 'ERR_EDGE_320']);
    expect(body.msg).toContain('"limit"');
  });

  test('a before_id that the list never had is 400', async () => {
    const { body: addr } = await cloud.call('POST', '/reserved_addrs', {});
    for (const id of ['bot_nope', '', addr.id]) {
      const { status, body } = await cloud.call('GET', `/bot_users?before_id=${id}`);
      expect([status, body.error_code]).toEqual([400, 'ERR_EDGE_321']);
    }
  });

  test('an empty before_id is 400, and no before_id in the document', async () => {
    expect((await cloud.call('GET', '/bot_users?before_id=')).status).toBe(400);
    const document: unknown = await (await fetch(`${cloud.url}/openapi.json`)).json();
    const schema = expect.objectContaining({ type: 'string', minLength: 1 });
    const parameters = expect.arrayContaining([{ name: 'before_id', in: 'query', schema }]);
    const list = { get: expect.objectContaining({ parameters }) };
    expect(document).toMatchObject({ paths: { '/reserved_addrs': list, '/bot_users': list, '/endpoints': list } });
  });

  test('other query parameters are ignored', async () => {
    expect((await list('/bot_users?limit=1&colour=red')).bot_users).toHaveLength(1);
  });
});

describe('paging while the list changes', () => {
  test('a cursor whose object was deleted still continues where it stood', async () => {
    const first = await list('/bot_users?limit=10');
    await cloud.call('DELETE', `/bot_users/${first.bot_users[9]?.id}`);
    const second = await list(first.next_page_uri ?? '');
    const left = made.toReversed();
    expect(second.bot_users.map((bot) => bot.id)).toEqual(left.slice(10, 20));
  });

  test('deletes and creates between pages skip nothing and show nothing twice', async () => {
    const before = (await readAll('/bot_users')).flat();
    const deleted = new Set<string>();
    const victims = before.filter((_, index) => index % 3 === 0);
    const pages = await readAll('/bot_users?limit=20', async () => {
      const gone = victims.splice(0, 8);
      for (const id of gone) deleted.add(id);
      await Promise.all([
        ...gone.map((id) => cloud.call('DELETE', `/bot_users/${id}`)),
        cloud.call('POST', '/bot_users', { name: 'meanwhile' }),
      ]);
    });
    const seen = pages.flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(before.filter((id) => !seen.includes(id) && !deleted.has(id))).toEqual([]);
    expect(seen.filter((id) => !before.includes(id))).toEqual([]);
  });
});

test('of large objects a page has fewer', async () => {
  const large = await startTestCloud();
  try {
    for (let index = 0; index < 7; index += 1) {
      await large.call('POST', '/reserved_addrs', { description: `${index}`.repeat(1_000_000) });
    }
    const sizes: number[] = [];
    const found: string[] = [];
    for (let next: string | null = '/reserved_addrs?limit=6'; next !== null; ) {
      const { body }: CloudAnswer = await large.call('GET', next);
      sizes.push(body.reserved_addrs.length);
      found.push(...body.reserved_addrs.map(({ description }: { readonly description: string }) => description[0]));
      next = body.next_page_uri;
    }
    expect(sizes).toEqual([5, 2]);
    expect(found.join('')).toBe('6543210');
  } finally {
    await large.stop();
  }
});
