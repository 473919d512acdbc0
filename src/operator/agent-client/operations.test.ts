import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  foreign404s,
  json,
  type ScriptedServer,
  startScriptedServer,
  text,
} from '../../common/http/scripted-server.fixture.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { AgentClient } from './client.ts';

const rates = { count: 1, rate1: 0.1, rate5: 0.2, rate15: 0.3, p50: 1, p90: 2, p95: 3, p99: 4 };
const tunnel = {
  name: 'web',
  uri: '/api/tunnels/web',
  public_url: 'http://web.localhost:8080',
  proto: 'http',
  config: { addr: '80', inspect: true, host_header: 'rewrite' },
  metrics: { conns: { ...rates, gauge: 2 }, http: rates },
};
const answered = { status: '200 OK', status_code: 200, proto: 'HTTP/1.1', headers: { A: ['1', '2'] }, raw: '' };
const captured = {
  uri: '/api/requests/http/req_1',
  id: 'req_1',
  tunnel_name: 'web',
  remote_addr: '127.0.0.1',
  start: '2026-01-02T03:04:05.678+00:00',
  duration: 1_234,
  request: { method: 'GET', proto: 'HTTP/1.1', headers: { Host: ['web'] }, uri: '/a?b', raw: 'R0VU' },
  response: answered,
};
const status = {
  status: 'online',
  agent_version: '1.2.3',
  session: { legs: [{ region: 'us', latency: '0.2ms' }] },
  uri: '/api/status',
};

type Case = readonly [
  operation: string,
  send: (agent: AgentClient) => Promise<unknown>,
  target: string,
  body: object | undefined,
  /** Status, and body where there is one. */
  answer: readonly [number, object?],
  /** What the operation comes to, where it is not the body. */
  result?: unknown,
];

const operations: readonly Case[] = [
  ['root.get', (agent) => agent.root(), 'GET /api/', undefined, [200, { uri: '/api/' }]],
  ['status.get', (agent) => agent.status(), 'GET /api/status', undefined, [200, status]],
  [
    'tunnels.list',
    (agent) => agent.listTunnels(),
    'GET /api/tunnels',
    undefined,
    [200, { tunnels: [tunnel], uri: '/api/tunnels' }],
  ],
  [
    'tunnels.start',
    (agent) => agent.startTunnel({ name: 'web', proto: 'http', addr: '80', host_header: 'rewrite' }),
    'POST /api/tunnels',
    { name: 'web', proto: 'http', addr: '80', host_header: 'rewrite' },
    [201, tunnel],
  ],
  ['tunnels.get', (agent) => agent.getTunnel('web'), 'GET /api/tunnels/web', undefined, [200, tunnel]],
  ['tunnels.stop', (agent) => agent.stopTunnel('web'), 'DELETE /api/tunnels/web', undefined, [204], 'stopped'],
  [
    'requests.list',
    (agent) => agent.listRequests({ limit: 5, tunnelName: 'a&b' }),
    'GET /api/requests/http?limit=5&tunnel_name=a%26b',
    undefined,
    [200, { uri: '/api/requests/http', requests: [captured] }],
  ],
  [
    'requests.replay',
    (agent) => agent.replay({ id: 'req_1', tunnelName: 'other' }),
    'POST /api/requests/http',
    { id: 'req_1', tunnel_name: 'other' },
    [204],
    undefined,
  ],
  ['requests.clear', (agent) => agent.clearRequests(), 'DELETE /api/requests/http', undefined, [204], undefined],
  [
    'requests.get',
    (agent) => agent.getRequest('req_1'),
    'GET /api/requests/http/req_1',
    undefined,
    [200, { ...captured, response: null }],
  ],
];

let server: ScriptedServer;
let agent: AgentClient;

beforeAll(async () => {
  server = await startScriptedServer();
  agent = new AgentClient({ ...systemRuntime, url: server.url, userAgent: 'edge-operator/test' });
});
afterAll(async () => {
  await server.close();
  await agent.close();
});

test('the table has every operation of the reference', () => expect(operations).toHaveLength(10));

describe.each(operations)('%s', (operation, send, target, body, [code, answer], result = answer) => {
  test('sends what the reference says and reads the answer, with what it does not know', async () => {
    const more = answer === undefined ? undefined : { ...answer, added_in_a_later_version: { a: [1] } };
    server.play(more === undefined ? text(code) : json(code, more));
    expect(await send(agent)).toEqual(answer === undefined ? result : more);
    const request = server.requests.at(-1);
    expect(`${request?.method} ${request?.url}`).toBe(target);
    expect(request?.body).toBe(body === undefined ? '' : JSON.stringify(body));
    expect(request?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'edge-operator/test' });
    expect(request?.headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
  });

  test('a 404 of the agent is absent to get and stop, an error to the others', async () => {
    server.play(json(404, { error_code: 112, status_code: 404, msg: 'no such thing', details: { err: 'no "web"' } }));
    const outcome = send(agent);
    if (operation.endsWith('.get') && target.split('/').length > 3) expect(await outcome).toBeUndefined();
    else if (operation === 'tunnels.stop') expect(await outcome).toBe('absent');
    else {
      await expect(outcome).rejects.toMatchObject({
        name: 'ApiError',
        message: `${operation}: the agent answered 404 (error 112): no such thing: no "web"`,
        operation,
        reason: 'NotFound',
        definite: true,
        status: 404,
        code: 112,
      });
    }
  });

  test('a 404 that says its status and a message is of the agent, whatever its code', async () => {
    server.play(json(404, { error_code: 'none', status_code: 404, msg: 'no such thing' }));
    expect(await send(agent).catch(({ reason }) => reason)).toBe(
      operation.endsWith('.get') && target.split('/').length > 3
        ? undefined
        : operation === 'tunnels.stop'
          ? 'absent'
          : 'NotFound',
    );
  });

  test.each([...foreign404s, ['a code that is not of the agent', json(404, { error_code: 'ERR_EDGE_202' })] as const])(
    'a 404 of something else, with %s, says nothing about the agent',
    async (_, respond) => {
      server.play(respond);
      await expect(send(agent)).rejects.toMatchObject({
        message: `${operation}: the response is malformed: a 404 that is not of the service's own form; check the agent URL`,
        reason: 'Unreachable',
        definite: false,
      });
    },
  );
});

test('without a filter the list has no query, and without a tunnel a replay names none', async () => {
  server.play(json(200, { uri: '/api/requests/http', requests: null }), text(204));
  expect(await agent.listRequests()).toEqual({ uri: '/api/requests/http', requests: [] });
  expect(server.requests.at(-1)?.url).toBe('/api/requests/http');
  await agent.replay({ id: 'req_1' });
  expect(server.requests.at(-1)?.body).toBe('{"id":"req_1"}');
});

test('names and ids are encoded', async () => {
  server.play(json(200, tunnel), text(204), json(200, captured));
  await agent.getTunnel('a/b?c#d e');
  await agent.stopTunnel('../x');
  await agent.getRequest('ü');
  expect(server.requests.slice(-3).map(({ url }) => url)).toEqual([
    '/api/tunnels/a%2Fb%3Fc%23d%20e',
    '/api/tunnels/..%2Fx',
    '/api/requests/http/%C3%BC',
  ]);
});

test.each(['', '.', '..'])('the name "%s" is refused without a request', async (name) => {
  const before = server.requests.length;
  for (const attempt of [() => agent.getTunnel(name), () => agent.stopTunnel(name), () => agent.getRequest(name)]) {
    await expect(attempt()).rejects.toMatchObject({ reason: 'Rejected', definite: true });
  }
  expect(server.requests).toHaveLength(before);
});

test.each(['', '/', '/api', '/api/', '/agents/one', '/agents/one/api/'])(
  'the URL may end with "%s"',
  async (suffix) => {
    const client = new AgentClient({ ...systemRuntime, url: server.url + suffix, userAgent: 'x' });
    server.play(json(200, status));
    await client.status();
    expect(server.requests.at(-1)?.url).toBe(`${suffix.startsWith('/agents') ? '/agents/one' : ''}/api/status`);
    await client.close();
  },
);

test.each(['ftp://x', 'not a url', 'http://user:pass@x', 'http://x?key=1', 'http://x#y'])(
  'the URL %s is refused',
  (url) => {
    const open = () => new AgentClient({ ...systemRuntime, url, userAgent: 'x' });
    expect(open).toThrow(TypeError);
    expect(open).toThrow('the agent URL');
    expect(open).not.toThrow('pass');
  },
);
