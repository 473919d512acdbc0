import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { echo, type LocalServer, readRaw, startLocal, startTestAgent, type TestAgent } from './support.ts';

let agent: TestAgent;
let local: LocalServer;
let url: string;

beforeAll(async () => {
  local = await startLocal(echo);
  agent = await startTestAgent();
  url = (await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr })).public_url;
});
afterEach(() => agent.call('DELETE', '/api/requests/http'));
afterAll(async () => {
  await agent.close();
  await local.stop();
});

const post = (body: object) => agent.call('POST', '/inspect/replays/edited', body);
const newest = async () => (await agent.captures())[0];

describe('the page', () => {
  test.each(['/', '/status', '/page/app.js', '/page/style.css'])(
    '%s runs and loads nothing of others',
    async (path) => {
      const { status, headers } = await fetch(agent.url + path);
      expect(status).toBe(200);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );
});

describe('an edited replay', () => {
  test('is sent as it was edited, and captured', async () => {
    await agent.visit(`${url}/before`, { method: 'POST', body: 'old' });
    const { id } = await newest();
    const edited = {
      id,
      method: 'PUT',
      uri: '/after',
      headers: [
        ['Host', 'edited'],
        ['X-New', '1'],
      ],
      body: btoa('new body'),
    };
    const answer = await post(edited);
    expect(answer).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^req_/) } });
    const copy = await until('the answer', async () => {
      const { body } = await agent.call('GET', `/api/requests/http/${answer.body.id}`);
      return body.response !== null && readRaw(body.response.raw).body !== '' && body;
    });
    expect(copy).toMatchObject({
      replay_of: id,
      request: { method: 'PUT', uri: '/after', headers: { 'X-New': ['1'] } },
    });
    expect(JSON.parse(readRaw(copy.response.raw).body)).toMatchObject({ method: 'PUT', body: 'new body' });
  });

  test('keeps the captured body when none is given', async () => {
    await agent.visit(`${url}/before`, { method: 'POST', body: 'kept' });
    const { id } = await newest();
    expect((await post({ id, method: 'POST', uri: '/again', headers: [['Host', 'x']] })).status).toBe(201);
    expect(readRaw((await newest()).request.raw).body).toBe('kept');
  });

  test.each([
    ['method', { method: 'GET /' }],
    ['uri', { uri: 'after' }],
    ['uri', { uri: '/a b' }],
    ['headers', { headers: [['X', 'a\r\nInjected: b']] }],
    ['headers', { headers: [['X Y', 'a']] }],
    ['headers[0]": must be a name and a value', { headers: [['Host']] }],
    ['headers[0]": must be a name and a value', { headers: [['Host', 'a', 'b']] }],
    ['headers[0]": must be a name and a value', { headers: ['Host'] }],
    ['body', { body: 'no base64!' }],
    ['other', { other: 1 }],
  ])('with a wrong %s is 400', async (field, wrong) => {
    await agent.visit(url);
    const { id } = await newest();
    const answer = await post({ id, method: 'GET', uri: '/', headers: [], ...wrong });
    expect([answer.status, answer.body.details.err]).toEqual([400, expect.stringContaining(`"${field}`)]);
    expect(await agent.captures()).toHaveLength(1);
  });
});

describe('bodies', () => {
  test.each([
    ['gzip', gzipSync('packed')],
    ['br', brotliCompressSync('packed')],
  ])('%s is taken off', async (coding, body) => {
    await agent.visit(url, { method: 'POST', headers: { 'content-encoding': coding }, body });
    const { id } = await newest();
    const { request } = (await agent.call('GET', `/inspect/requests/${id}`)).body;
    expect(request.body).toMatchObject({ text: 'packed', encoding: 'utf8', decoded: coding, size: body.length });
  });

  test.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('Grüße', 'latin1'), 'Grüße', 'windows-1252'],
    ['text/plain; charset="Shift_JIS"', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本', 'shift_jis'],
    ['application/xml;charset=utf-16le', Buffer.from('<ü/>', 'utf16le'), '<ü/>', 'utf-16le'],
    ['text/plain; charset=iso-8859-1', Buffer.from('Grüße'), 'Grüße', undefined],
    ['text/plain; charset=none', Buffer.from([0xff]), '/w==', undefined],
  ])('in %s are text', async (contentType, body, text, charset) => {
    await agent.visit(url, { method: 'POST', headers: { 'content-type': contentType }, body });
    const { id } = await newest();
    const { request } = (await agent.call('GET', `/inspect/requests/${id}`)).body;
    expect(request.body).toMatchObject({ text, size: body.length });
    expect(request.body.charset).toBe(charset);
  });

  test('a bomb stays packed', async () => {
    const body = gzipSync(Buffer.alloc(50_000_000));
    await agent.visit(url, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body });
    const { id } = await newest();
    const { request } = (await agent.call('GET', `/inspect/requests/${id}`)).body;
    expect(request.body).toMatchObject({ encoding: 'base64', problem: 'not whole gzip, or more than 4 MiB' });
  });
});

describe('live updates', () => {
  /** The events of `/inspect/events` as they come. */
  async function follow() {
    const stop = new AbortController();
    const { body } = await fetch(`${agent.url}/inspect/events`, { signal: stop.signal });
    let text = '';
    (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    const events = () =>
      [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => ({
        name,
        uris: JSON.parse(data ?? '').requests.map(
          ({ uri, status }: { uri: string; status: number }) => `${uri} ${status}`,
        ),
      }));
    return { events, stop: () => stop.abort() };
  }

  test('are what there is, then what changes, and what there is again when all is cleared', async () => {
    await agent.visit(`${url}/1`);
    const { events, stop } = await follow();
    await until('the snapshot', () => events().length === 1);
    await agent.visit(`${url}/2`);
    await until('the change', () => events().some(({ uris }) => uris.includes('/2 200')));
    await agent.call('DELETE', '/api/requests/http');
    await until('the clearing', () => events().at(-1)?.name === 'snapshot' && events().at(-1)?.uris.length === 0);
    expect(events()[0]).toEqual({ name: 'snapshot', uris: ['/1 200'] });
    stop();
  });
});

describe('what is had of a captured request', () => {
  test('comes anew only when it has changed', async () => {
    await agent.visit(`${url}/1`);
    const { id } = await newest();
    const path = `${agent.url}/inspect/requests/${id}`;
    const etag = (await fetch(path)).headers.get('etag') ?? '';
    expect((await fetch(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test.each([
    ['request/body', gzipSync('packed')],
    ['request/content', Buffer.from('packed')],
  ])('as %s is saved, and opened as nothing', async (form, bytes) => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'text/html; x="\'../' };
    await agent.visit(url, { method: 'POST', headers, body: gzipSync('packed') });
    const { id } = await newest();
    const answer = await fetch(`${agent.url}/inspect/requests/${id}/${form}`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${id}-request.html"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
  });

  test('is a whole message, or 404', async () => {
    await agent.visit(`${url}/whole`);
    const { id } = await newest();
    const raw = await (await fetch(`${agent.url}/inspect/requests/${id}/request/raw`)).text();
    expect(raw).toMatch(/^GET \/whole HTTP\/1\.1\r\n/);
    for (const path of [`${id}/request/none`, `${id}/none/raw`, 'none/request/raw', 'none'])
      expect((await agent.call('GET', `/inspect/requests/${path}`)).status).toBe(404);
  });

  test('is listed from any of them on', async () => {
    for (const path of ['/1', '/2', '/3']) await agent.visit(url + path);
    const [, second] = await agent.captures();
    const { body } = await agent.call('GET', `/inspect/requests?before=${second.id}`);
    expect(body).toMatchObject({ held: 3, requests: [{ uri: '/1' }] });
    expect((await agent.call('GET', '/inspect/requests?before=none&filter=a&filter=b')).body.requests).toEqual([]);
  });
});
