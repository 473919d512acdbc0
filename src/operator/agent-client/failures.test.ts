import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { isLoopback, lookupAs, lookupExcept } from '../../common/http/address.ts';
import type { ApiError } from '../../common/http/errors.ts';
import {
  drops,
  hurried,
  json,
  type Respond,
  type ScriptedServer,
  startScriptedServer,
  text,
} from '../../common/http/scripted-server.fixture.ts';
import { patience } from '../../common/http/service.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { AgentClient, type AgentClientOptions } from './client.ts';

let server: ScriptedServer;
const clients: AgentClient[] = [];

beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(async () => {
  await server.close();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function open(options: Partial<AgentClientOptions> = {}): AgentClient {
  const client = new AgentClient({ ...systemRuntime, url: server.url, userAgent: 'x', ...options });
  clients.push(client);
  return client;
}

const failure = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => Promise.reject(new Error('expected an ApiError')),
    (error: ApiError) => error,
  );

const error = (status: number) =>
  json(status, { error_code: 106, status_code: status, msg: 'invalid body', details: { err: 'missing field "id"' } });

describe('an answer that is not a success', () => {
  test.each([
    [400, 'Rejected', true],
    [401, 'Unauthorized', true],
    [403, 'Unauthorized', true],
    [404, 'NotFound', true],
    [408, 'Unreachable', false],
    [409, 'Conflict', true],
    [413, 'Rejected', true],
    [415, 'Rejected', true],
    [425, 'Unreachable', false],
    [429, 'RateLimited', true],
    [460, 'Unreachable', false],
    [499, 'Unreachable', false],
    [500, 'Unreachable', false],
    // A tunnel that failed to start, and what is on the way: both may be otherwise in a moment.
    [502, 'Unreachable', false],
    [503, 'Unreachable', false],
  ])('%i is %s, definite: %s', async (status, reason, definite) => {
    const said = ': invalid body: missing field "id"';
    server.play(error(status));
    expect(await failure(open().replay({ id: 'req_1' }))).toMatchObject({
      name: 'ApiError',
      // What a 429 says may count down.
      message: `requests.replay: the agent answered ${status} (error 106)${status === 429 ? '' : said}`,
      operation: 'requests.replay',
      reason,
      definite,
      status,
      code: 106,
    });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['no body', text(502), 'the agent answered 502'],
    ['HTML', text(502, '<html>Bad gateway</html>'), 'the agent answered 502'],
    ['JSON of another shape', json(400, [{ msg: 'x' }]), 'the agent answered 400'],
    ['fields of other types', json(400, { error_code: 'X', msg: 7, details: 'x' }), 'the agent answered 400'],
    ['several lines', json(400, { msg: 'a\r\n\u001b[31mb', details: { err: '' } }), 'the agent answered 400: a [31mb'],
    ['a redirect', text(302, '', { location: 'http://127.0.0.1:9/' }), 'redirects are not followed'],
  ])('with %s says what it can', async (_, respond, message) => {
    server.play(respond);
    const failed = await failure(open().clearRequests());
    expect(failed.message).toContain(`requests.clear: `);
    expect(failed.message).toContain(message);
    expect(failed.message.length).toBeLessThan(120);
    expect(failed.code).toBeUndefined();
  });

  test.each([
    [400, 'Rejected', false],
    [401, 'Unauthorized', false],
    [403, 'Unauthorized', false],
    [409, 'Conflict', false],
    [407, 'Unreachable', false],
    [413, 'Rejected', false],
    [421, 'Unreachable', false],
    [429, 'RateLimited', true],
  ])('that is not of the agent: %i as HTML is %s, definite: %s', async (status, reason, definite) => {
    server.play(text(status, '<html>the gateway</html>'));
    const message = `requests.replay: the agent answered ${status}`;
    const failed = await failure(open().replay({ id: 'req_1' }));
    expect(failed).toMatchObject({ message, reason, definite, status, code: undefined });
  });
});

const tunnel = { name: 'web', uri: 'u', public_url: 'p', proto: 'http', config: { addr: '80', inspect: true } };
const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const whole = { ...tunnel, metrics: { conns: { ...rates, gauge: 0 }, http: rates }, more: 'deep' };
const captured = { id: 'r', uri: 'u', tunnel_name: '', remote_addr: '', start: '', duration: 1, response: null };

test('a long answer that is no success says nothing but its status, and is not parsed', async () => {
  const long = { error_code: 106, status_code: 400, msg: 'no', more: 'x'.repeat(40_000) };
  server.play(json(400, long), json(404, long));
  expect(await failure(open().replay({ id: 'r' }))).toMatchObject({
    message: 'requests.replay: the agent answered 400',
    code: undefined,
    definite: false,
  });
  await expect(open().getTunnel('web')).rejects.toThrow("a 404 that is not of the service's own form");
});

describe('an answer that cannot be understood', () => {
  test.each<readonly [string, (agent: AgentClient) => Promise<unknown>, Respond, string]>([
    [
      'a wrong type deep inside',
      (agent) => agent.listTunnels(),
      json(200, { uri: 'u', tunnels: [{ ...tunnel, config: { addr: 'hunter2', inspect: 'hunter2' } }] }),
      'tunnels.list: the response is malformed: tunnels.0.config.inspect: expected boolean',
    ],
    [
      'a missing field',
      (agent) => agent.getTunnel('web'),
      json(200, tunnel),
      'tunnels.get: the response is malformed: metrics: expected object',
    ],
    [
      'headers that are no lists',
      (agent) => agent.getRequest('r'),
      json(200, { ...captured, request: { method: 'GET', proto: '', headers: { A: 'hunter2' }, uri: '/', raw: '' } }),
      'requests.get: the response is malformed: request.headers.A: expected array',
    ],
    [
      'a tunnel that no code could walk through',
      (agent) => agent.listTunnels(),
      text(
        200,
        JSON.stringify({ uri: 'u', tunnels: [whole] }).replace('"deep"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`),
      ),
      'tunnels.list: the response is malformed: tunnels.0: nests deeper than 200 levels',
    ],
    ['HTML', (agent) => agent.status(), text(200, '<html>hunter2'), 'status.get: the response is malformed: not JSON'],
    ['nothing', (agent) => agent.root(), text(200), 'root.get: the response is malformed: the body is empty'],
    [
      'a 200 where a tunnel should have started',
      (agent) => agent.startTunnel({ proto: 'http', addr: '80' }),
      json(200, tunnel),
      'tunnels.start: the response is malformed: unexpected status 200',
    ],
    [
      'a 200 to a replay',
      (agent) => agent.replay({ id: 'r' }),
      json(200, {}),
      'requests.replay: the response is malformed: unexpected status 200',
    ],
  ])('%s names the operation and the field, never the value', async (_, send, respond, message) => {
    server.play(respond);
    const failed = await failure(send(open()));
    expect(failed).toMatchObject({ name: 'ApiError', message, reason: 'Unreachable', definite: false });
    expect(JSON.stringify([failed.message, failed.cause])).not.toContain('hunter2');
  });

  test('a body that does not end is cut off', async () => {
    const chunk = 'x'.repeat(1024 * 1024);
    server.play((response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', more);
      };
      more();
    });
    const failed = await failure(open().listTunnels());
    const message = 'tunnels.list: the response is malformed: larger than 8 MiB';
    expect(failed).toMatchObject({ message, isTooLarge: true });
  });

  test.each([
    ['nested', '['.repeat(600_000) + ']'.repeat(300_000)],
    ['side by side', `{"x":[${'[],'.repeat(100_000)}[]]}`],
    ['behind a string', `{"x":"${'\\\\\\"['.repeat(9)}","y":[${'0,'.repeat(100_000)}0]}`],
  ])('that has more values than anybody needs (%s) is not parsed', async (_, body) => {
    server.play(text(200, body, { 'content-type': 'application/json' }));
    const message = 'status.get: the response is malformed: more than 32768 values';
    expect(await failure(open().status())).toMatchObject({ message, isTooLarge: true });
  });

  test('of a rate limit is one all the same, however many values it has', async () => {
    server.play(text(429, `[${'0,'.repeat(100_000)}0]`, { 'content-type': 'application/json' }));
    expect(await failure(open().status())).toMatchObject({ reason: 'RateLimited' });
  });

  test('of a single thing may have less than a list', async () => {
    server.play(json(201, { name: 'x', config: { x: 'x'.repeat(1024 * 1024) } }));
    const failed = await failure(open().startTunnel({ name: 'x', proto: 'http', addr: '1' }));
    expect(failed.message).toBe('tunnels.start: the response is malformed: larger than 1 MiB');
  });
});

describe('no answer', () => {
  test('a refused connection is definite: nothing was sent', async () => {
    const { url, close } = await startScriptedServer();
    await close();
    expect(await failure(open({ url }).replay({ id: 'r' }))).toMatchObject({
      message: 'requests.replay: the connection was refused',
      reason: 'Unreachable',
      definite: true,
      status: undefined,
    });
  });

  test.each<readonly [string, Respond, string]>([
    ['no headers', () => {}, 'timed out waiting for the answer'],
    ['half a body', (response) => void response.writeHead(200).write('{"id":'), 'timed out reading the answer'],
    ['a close', (response) => void response.socket?.destroy(), 'the connection broke'],
  ])('%s is not definite', async (_, respond, message) => {
    server.play(respond);
    const client = open({ timeouts: { ...patience, headersMs: 150, bodyMs: 150 } });
    const failed = await failure(client.replay({ id: 'r' }));
    expect(failed).toMatchObject({
      message: `requests.replay: ${message}`,
      reason: 'Unreachable',
      definite: false,
    });
    expect(server.requests).toHaveLength(1);
  });

  test('an answer that comes in drops is given up after 15 s in all', async () => {
    const { monotonic, asked } = hurried(systemClock);
    server.play(drops(135));
    const failed = await failure(open({ monotonic }).replay({ id: 'r' }));
    expect(failed).toMatchObject({ message: 'requests.replay: timed out', reason: 'Unreachable', definite: false });
    expect(asked).toEqual([15_000]);
  });

  test('what the guard throws stops the request', async () => {
    const guard = () => {
      throw new Error('no longer the leader');
    };
    expect(await failure(open({ guard }).replay({ id: 'r' }))).toMatchObject({
      message: 'requests.replay: not sent: no longer the leader',
      definite: true,
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe('where a request goes', () => {
  const port = () => new URL(server.url).port;
  const root = json(200, {});

  test('is the address that was looked at, whatever the name says', async () => {
    server.play(root);
    const lookup = lookupAs(() => '127.0.0.1');
    const client = open({ url: `http://agent.team.svc:${port()}`, lookup });
    await client.root();
    expect(server.requests.at(-1)?.headers.host).toBe(`agent.team.svc:${port()}`);
  });

  test('is not the address that a name was given since', async () => {
    const lookup = lookupExcept((_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]), isLoopback);
    const failed = await failure(open({ url: `http://agent.test:${port()}`, lookup }).root());
    const message = 'root.get: the host name leads to an address that no request may go to';
    expect(failed).toMatchObject({ message, reason: 'Unreachable', definite: true });
    expect(server.requests).toEqual([]);
  });

  test('is nowhere, where none may be sent', async () => {
    const refusal = new Error('of the caller');
    await expect(open({ admit: () => Promise.reject(refusal) }).root()).rejects.toBe(refusal);
    expect(server.requests).toEqual([]);
  });
});

test('parameters of a tunnel, which may be credentials, are not repeated', async () => {
  server.play(json(400, { error_code: 102, msg: 'the password hunter2hunter2 of web at 8080 is weak' }));
  const definition = { name: 'web', proto: 'http', addr: '8080', auth: { basic: ['admin:hunter2hunter2'] } };
  const { message } = await failure(open().startTunnel(definition));
  expect(message).toBe(
    'tunnels.start: the agent answered 400 (error 102): the password [redacted] of web at 8080 is weak',
  );
});

test('of a switch in quotes it is told what to write', async () => {
  const told = 'invalid field "verify_upstream_tls": must be true or false';
  server.play(json(400, { error_code: 110, msg: told }));
  const definition = { name: 'web', proto: 'http', addr: '8080', verify_upstream_tls: 'true' };
  const { message } = await failure(open().startTunnel(definition));
  expect(message).toContain(told);
});
