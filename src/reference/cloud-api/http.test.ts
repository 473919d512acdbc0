import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud({ apiKeys: ['blue=blue-1', 'blue=blue-2', 'lone-key'] });
});
afterAll(() => cloud.stop());

interface Raw {
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;
}

async function send(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Raw> {
  const response = await fetch(cloud.url + path, { ...init, headers });
  const text = await response.text();
  const code = response.ok ? '' : JSON.parse(text).error_code;
  return { status: response.status, code, headers: response.headers };
}

const version = { 'service-version': '2' };
const good = (key = cloud.apiKey) => ({ authorization: `Bearer ${key}`, ...version });

describe('authentication (section 5)', () => {
  test.each([
    ['no header', {}, 401, 'ERR_EDGE_100'],
    ['another scheme', { authorization: 'Basic eDp5' }, 401, 'ERR_EDGE_101'],
    ['no key', { authorization: 'Bearer ' }, 401, 'ERR_EDGE_101'],
    ['an unknown key', { authorization: 'Bearer nope' }, 403, 'ERR_EDGE_102'],
  ])('%s', async (_, headers, status, code) => {
    expect(await send('/bot_users', { ...version, ...headers })).toMatchObject({ status, code });
  });

  test('the scheme is compared without case', async () => {
    const headers = { authorization: `bearer ${cloud.apiKey}`, ...version };
    expect((await send('/bot_users', headers)).status).toBe(200);
  });

  test('keys of one account share its objects; other accounts do not see them', async () => {
    const json = { 'content-type': 'application/json' };
    const init = { method: 'POST', body: '{"name":"shared"}' };
    expect((await send('/bot_users', { ...good('blue-1'), ...json }, init)).status).toBe(201);
    const count = async (key: string) => {
      const response = await fetch(`${cloud.url}/bot_users`, { headers: good(key) });
      return ((await response.json()) as { bot_users: unknown[] }).bot_users.length;
    };
    expect(await Promise.all(['blue-2', 'lone-key', cloud.apiKey].map(count))).toEqual([1, 0, 0]);
  });
});

describe('versioning (section 9)', () => {
  test.each([
    [{}, 'ERR_EDGE_110'],
    [{ 'service-version': '1' }, 'ERR_EDGE_111'],
    [{ 'service-version': '2.0' }, 'ERR_EDGE_111'],
  ])('%j is 400', async (headers, code) => {
    const authorization = `Bearer ${cloud.apiKey}`;
    expect(await send('/bot_users', { authorization, ...headers })).toMatchObject({ status: 400, code });
  });
});

describe('bodies (section 4)', () => {
  const post = (body: NonNullable<RequestInit['body']>, type?: string) => {
    const headers = type === undefined ? good() : { ...good(), 'content-type': type };
    return send('/bot_users', headers, { method: 'POST', body });
  };

  test.each([
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another JSON', 'application/merge-patch+json'],
  ])('%s is 415', async (_, type) => {
    expect(await post('{"name":"a"}', type)).toMatchObject({ status: 415, code: 'ERR_EDGE_300' });
  });

  test('a body without a type is 415', async () => {
    expect(await post(Buffer.from('{"name":"a"}'))).toMatchObject({ status: 415, code: 'ERR_EDGE_300' });
  });

  test('a charset may follow the type', async () => {
    expect((await post('{"name":"a"}', 'application/json; charset=utf-8')).status).toBe(201);
  });

  test.each([
    ['broken JSON', '{"name":', 'ERR_EDGE_302'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'ERR_EDGE_302'],
    ['an array', '[]', 'ERR_EDGE_303'],
    ['null', 'null', 'ERR_EDGE_303'],
    ['nothing', '', 'ERR_EDGE_303'],
    ['a field nested deep', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'ERR_EDGE_306'],
    ['an unknown field nested deep', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'ERR_EDGE_304'],
    ['a field named __proto__', '{"name":"a","__proto__":{}}', 'ERR_EDGE_304'],
  ])('%s is 400', async (_, body, code) => {
    expect(await post(body, 'application/json')).toMatchObject({ status: 400, code });
  });

  test('1 MiB is read, a byte more is 413', async () => {
    const ofLength = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
    expect((await post(ofLength(1_048_576), 'application/json')).status).toBe(201);
    expect(await post(ofLength(1_048_577), 'application/json')).toMatchObject({ status: 413, code: 'ERR_EDGE_301' });
  });
});

describe('errors (section 7)', () => {
  test('have the documented shape and an operation id of their own', async () => {
    const [first, second] = await Promise.all([cloud.call('GET', '/bot_users/x'), cloud.call('GET', '/bot_users/x')]);
    expect(first.headers.get('content-type')).toMatch(/^application\/json/);
    expect(first.body).toStrictEqual({
      error_code: 'ERR_EDGE_202',
      status_code: 404,
      msg: expect.stringContaining('"x"'),
      details: { operation_id: expect.stringMatching(/^op_[0-9A-Za-z]{27}$/) },
    });
    expect(first.body.details.operation_id).not.toBe(second.body.details.operation_id);
  });

  test.each(['/nope', '/', '/bot_users/', '/bot_users/a/b', '/_faultz', '/BOT_USERS'])('%s is 404', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await cloud.call(method, path, method === 'POST' ? {} : undefined);
      expect(answer.status).toBe(404);
    }
  });

  test('a malformed path is 400 in the same shape', async () => {
    const answer = await cloud.call('GET', '/bot_users/%zz');
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_EDGE_204', status_code: 400 } });
  });

  test.each([101, 15_000])('an id of %i characters is unknown as any other', async (length) => {
    const id = 'x'.repeat(length);
    const half = id.slice(length / 2);
    const modules = [`/edges/tls/${id}/traffic_policy`, `/edges/https/${half}/routes/${half}/saml`];
    for (const path of [`/bot_users/${id}`, `/reserved_addrs/${id}`, `/endpoints/${id}`, ...modules]) {
      expect(await cloud.call('GET', path)).toMatchObject({ status: 404, body: { error_code: 'ERR_EDGE_202' } });
    }
  });

  test('another method is 405 and says which are allowed', async () => {
    const answer = await cloud.call('PUT', '/bot_users', {});
    expect(answer).toMatchObject({ status: 405, body: { error_code: 'ERR_EDGE_201' } });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect((await cloud.call('PUT', '/openapi.json', {})).headers.get('allow')).toBe('GET, HEAD');
  });

  test.each(['/bot_users', '/bot_users/nope', '/nope'])('HEAD %s is as GET, without the body', async (path) => {
    const [{ headers, ...head }, get] = await Promise.all([cloud.call('HEAD', path), cloud.call('GET', path)]);
    expect(head).toEqual({ status: get.status, body: undefined });
    for (const name of ['content-type', 'content-length']) expect(headers.get(name)).toBe(get.headers.get(name));
    expect(headers.get('content-length')).toMatch(/^[1-9]/);
  });

  test('without a key, unknown paths and methods are 401 as everything else', async () => {
    expect((await send('/nope', version)).status).toBe(401);
    expect((await send('/bot_users', version, { method: 'PUT' })).status).toBe(401);
  });
});

describe('uri values', () => {
  test('are built from the configured base', async () => {
    const based = await startTestCloud({ baseUrl: 'https://api.test/v2/' });
    try {
      expect((await based.call('GET', '/bot_users')).body.uri).toBe('https://api.test/v2/bot_users');
    } finally {
      await based.stop();
    }
  });
});
