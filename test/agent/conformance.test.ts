/**
 * Every row of every table and every rule of the Local Agent API's document, in its order, against the process that
 * users run and with nothing but plain HTTP. What the document leaves open is in api.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AgentProcess, startAgentProcess } from '../support/agent-process.ts';
import { until } from '../support/until.ts';
import {
  type AgentClient,
  type Answer,
  agentClient,
  type LocalServer,
  readRaw,
  startLocal,
  startTestAgent,
} from './support.ts';

let process: AgentProcess;
let agent: AgentClient;
let local: LocalServer;
let other: LocalServer;
/** Answers held back, so that a request stays without one. */
const held: (() => void)[] = [];

beforeAll(async () => {
  local = await startLocal((incoming, response) => {
    const answer = () => response.writeHead(201, { 'x-seen': 'yes' }).end('from web');
    if (incoming.url === '/held') held.push(answer);
    else answer();
  });
  other = await startLocal((_, response) => response.end('from other'));
  process = await startAgentProcess();
  agent = agentClient(process);
  await agent.call('POST', '/api/tunnels', { addr: local.addr, proto: 'http', name: 'web' });
  await agent.tunnel({ addr: other.addr, proto: 'http', name: 'other' });
  await agent.visit(await publicURL('web', '/path?q=1'), { method: 'POST', headers: { 'X-Sent': 'a' }, body: 'hello' });
});
afterAll(async () => {
  await process.stop();
  await Promise.all([local.stop(), other.stop()]);
});

type Body = Answer['body'];

const publicURL = async (name: string, path: string): Promise<string> =>
  (await agent.call('GET', `/api/tunnels/${name}`)).body.public_url + path;

/** The request of beforeAll. */
const captured = async (): Promise<Body> => (await agent.captures()).at(-1);

const newest = (uri: string) =>
  until(`the captured ${uri}`, async () => {
    const [capture] = await agent.captures();
    return capture.request.uri === uri && capture.response !== null && capture;
  });

const isNumber = expect.any(Number);
const numbers = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, isNumber]));

describe('section 2: Tunnel', () => {
  test.each([
    ['name', 'web'],
    ['uri', '/api/tunnels/web'],
    ['public_url', expect.stringMatching(/^http:\/\/web\.localhost:\d+$/)],
    ['proto', 'http'],
    ['config', { addr: expect.stringMatching(/^127\.0\.0\.1:\d+$/), inspect: true }],
    ['metrics', { conns: expect.anything(), http: expect.anything() }],
  ])('%s', async (field, value) => {
    expect((await agent.call('GET', '/api/tunnels/web')).body[field]).toEqual(value);
  });

  test.each([
    ['metrics.conns', ['count', 'gauge', 'rate1', 'rate5', 'rate15', 'p50', 'p90', 'p95', 'p99']],
    ['metrics.http', ['count', 'rate1', 'rate5', 'rate15', 'p50', 'p90', 'p95', 'p99']],
  ])('%s', async (group, fields) => {
    const { metrics } = (await agent.call('GET', '/api/tunnels/web')).body;
    expect(metrics[group.replace('metrics.', '')]).toStrictEqual(numbers(...fields));
  });

  test('name may be empty', async () => {
    const { name, uri } = await agent.tunnel({ addr: local.addr, proto: 'http' });
    expect(name).toBe('');
    expect((await agent.call('DELETE', uri)).status).toBe(204);
  });
});

describe('section 2: Captured request', () => {
  test.each([
    ['id', expect.stringMatching(/./)],
    ['tunnel_name', 'web'],
    ['remote_addr', '127.0.0.1'],
    ['start', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/)],
    ['duration', isNumber],
  ])('%s', async (field, value) => {
    expect((await captured())[field]).toEqual(value);
  });

  test('uri', async () => {
    const { uri, id } = await captured();
    expect(uri).toBe(`/api/requests/http/${id}`);
  });

  test('duration is an integer', async () => {
    expect(Number.isInteger((await captured()).duration)).toBe(true);
  });

  test('request', async () => {
    const { request } = await captured();
    expect(request).toStrictEqual({
      method: 'POST',
      proto: 'HTTP/1.1',
      headers: expect.objectContaining({ 'X-Sent': ['a'] }),
      uri: '/path?q=1',
      raw: expect.any(String),
    });
    expect(readRaw(request.raw).head).toMatch(/^POST \/path\?q=1 HTTP\/1\.1\r\n/);
    expect(readRaw(request.raw).body).toContain('hello');
  });

  test('response', async () => {
    const { response } = await captured();
    expect(response).toStrictEqual({
      status: '201 Created',
      status_code: 201,
      proto: 'HTTP/1.1',
      headers: expect.objectContaining({ 'x-seen': ['yes'] }),
      raw: expect.any(String),
    });
    expect(readRaw(response.raw).body).toContain('from web');
  });

  test('response is null while the local server has not yet answered', async () => {
    const visit = agent.visit(await publicURL('web', '/held'));
    const answer = await until('the request to arrive', () => held[0]);
    expect((await agent.captures('?limit=1'))[0]).toMatchObject({ request: { uri: '/held' }, response: null });
    answer();
    await visit;
    expect((await newest('/held')).response.status_code).toBe(201);
  });
});

describe('section 2: Agent status', () => {
  test.each([
    ['status', 'online'],
    ['agent_version', expect.stringMatching(/^\d+\.\d+\.\d+/)],
    ['session', { legs: [{ region: 'us', latency: expect.stringMatching(/^[\d.]+(ns|µs|ms|s)$/) }] }],
    ['uri', '/api/status'],
  ])('%s', async (field, value) => {
    expect((await agent.call('GET', '/api/status')).body[field]).toEqual(value);
  });
});

describe('section 4: endpoints', () => {
  test('GET /api/', async () => {
    expect(await agent.call('GET', '/api/')).toMatchObject({ status: 200, body: expect.any(Object) });
  });

  test('GET /api/tunnels', async () => {
    const { status, body } = await agent.call('GET', '/api/tunnels');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['tunnels', 'uri']);
    expect(body.tunnels.map(({ name }: Body) => name)).toEqual(['web', 'other']);
  });

  test('POST /api/tunnels', async () => {
    const definition = { addr: local.port.toString(), proto: 'tcp', name: 'db' };
    const { status, body } = await agent.call('POST', '/api/tunnels', definition);
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'db', proto: 'tcp', config: { addr: definition.addr } });
    expect((await agent.call('GET', body.uri)).body).toEqual(body);
  });

  test('GET /api/tunnels/:name', async () => {
    expect(await agent.call('GET', '/api/tunnels/other')).toMatchObject({ status: 200, body: { name: 'other' } });
  });

  test('DELETE /api/tunnels/:name', async () => {
    expect(await agent.call('DELETE', '/api/tunnels/db')).toMatchObject({ status: 204, body: undefined });
    expect((await agent.call('GET', '/api/tunnels/db')).status).toBe(404);
  });

  test('GET /api/requests/http', async () => {
    await agent.visit(await publicURL('other', '/elsewhere'));
    const { status, body } = await agent.call('GET', '/api/requests/http');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['requests', 'uri']);
    expect(await agent.captures('?limit=1')).toMatchObject([{ request: { uri: '/elsewhere' } }]);
    expect(await agent.captures('?tunnel_name=other')).toMatchObject([{ tunnel_name: 'other' }]);
  });

  test('POST /api/requests/http', async () => {
    const { id } = await captured();
    const answer = await agent.call('POST', '/api/requests/http', { id, tunnel_name: 'other' });
    expect(answer).toMatchObject({ status: 204, body: undefined });
    expect(await newest('/path?q=1')).toMatchObject({ tunnel_name: 'other', request: { method: 'POST' } });
  });

  test('GET /api/requests/http/:request_id', async () => {
    const capture = await captured();
    expect(await agent.call('GET', capture.uri)).toMatchObject({ status: 200, body: capture });
  });

  test('GET /api/status', async () => {
    expect(await agent.call('GET', '/api/status')).toMatchObject({ status: 200, body: { status: 'online' } });
  });

  test('DELETE /api/requests/http', async () => {
    expect(await agent.call('DELETE', '/api/requests/http')).toMatchObject({ status: 204, body: undefined });
    expect(await agent.captures()).toEqual([]);
  });

  test.each([
    ['GET', '/api/'],
    ['GET', '/api/tunnels'],
    ['GET', '/api/tunnels/none'],
    ['PATCH', '/api/tunnels'],
  ])('all responses are JSON: %s %s', async (method, path) => {
    expect((await agent.call(method, path)).headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('section 4: rules', () => {
  test('1. the listing returns only requests still held in memory', async () => {
    await agent.visit(await publicURL('web', '/first'));
    const [{ uri }] = await agent.captures();
    await agent.call('DELETE', '/api/requests/http');
    expect(await agent.captures()).toEqual([]);
    expect((await agent.call('GET', uri)).status).toBe(404);
  });

  test('2. a replay sends the stored request to the local endpoint of the chosen tunnel', async () => {
    await agent.visit(await publicURL('web', '/stored'), { method: 'PUT', body: 'kept' });
    const [{ id }] = await agent.captures();
    await agent.call('POST', '/api/requests/http', { id });
    const copy = await until('the replay', async () => (await agent.captures())[1] && (await agent.captures())[0]);
    expect(copy).toMatchObject({ tunnel_name: 'web', request: { method: 'PUT', uri: '/stored' } });
    expect(readRaw(copy.request.raw).body).toBe('kept');
  });

  test('3. a started tunnel has inspect as configured and a generated public_url', async () => {
    const tunnel = await agent.tunnel({ addr: local.addr, proto: 'http', name: 'quiet', inspect: false });
    expect(tunnel).toMatchObject({
      config: { inspect: false },
      public_url: expect.stringMatching(/^http:\/\/quiet\./),
    });
  });
});

test('section 5: web_addr changes the base address, and nothing asks for credentials', async () => {
  expect(new URL(process.url).port).not.toBe('4040');
  expect((await fetch(`${process.url}/api/status`)).status).toBe(200);
});

describe('section 8: inspect_db_size', () => {
  async function withLimit(bytes: number, work: (limited: AgentClient, url: string) => Promise<void>): Promise<void> {
    const limited = await startTestAgent({ inspect_db_size: bytes });
    try {
      await work(limited, (await limited.tunnel({ name: 'web', proto: 'http', addr: local.addr })).public_url);
    } finally {
      await limited.close();
    }
  }

  test('captured requests are evicted when they exceed it, the oldest first', () =>
    withLimit(20_000, async (limited, url) => {
      for (let round = 0; round < 30; round += 1) await limited.visit(`${url}/${round}`);
      const kept = (await limited.captures()).map(({ request }) => request.uri);
      expect(kept.length).toBeGreaterThan(3);
      expect(kept.length).toBeLessThan(20);
      expect(kept).toEqual(Array.from(kept, (_, at) => `/${29 - at}`));
    }));

  test('one huge exchange is cut off and says so, and the others stay', () =>
    withLimit(100_000, async (limited, url) => {
      await limited.visit(`${url}/small`);
      const huge = Buffer.alloc(1_000_000, 'x');
      await limited.visit(`${url}/huge`, { method: 'POST', headers: { 'content-length': '1000000' }, body: huge });
      const [capture, small] = await limited.captures();
      expect(capture).toMatchObject({ request: { uri: '/huge', truncated: true }, response: { status_code: 201 } });
      expect(small.request.uri).toBe('/small');
    }));

  test('-1 turns capturing off, and traffic goes on', () =>
    withLimit(-1, async (limited, url) => {
      expect((await limited.visit(url)).status).toBe(201);
      expect(await limited.captures()).toEqual([]);
    }));
});
