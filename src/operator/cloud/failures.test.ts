import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { patience } from '../../common/http/service.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';
import {
  bot,
  call,
  drops,
  error,
  failure,
  hurried,
  json,
  type Respond,
  type ScriptedAPI,
  startScriptedAPI,
  text,
} from './scripted-api.fixture.ts';

const timeouts = { ...patience, headersMs: 150, bodyMs: 150 };

let api: ScriptedAPI;

beforeEach(async () => {
  api = await startScriptedAPI();
});

afterEach(() => api.close());

describe('an answer that is not a success', () => {
  test.each([
    [400, 'Rejected', true],
    [401, 'Unauthorized', true],
    [403, 'Unauthorized', true],
    [404, 'Unreachable', false],
    [408, 'Unreachable', false],
    [409, 'Conflict', true],
    [413, 'Rejected', true],
    [422, 'Rejected', true],
    [425, 'Unreachable', false],
    [429, 'RateLimited', true],
    [460, 'Unreachable', false],
    [499, 'Unreachable', false],
    [500, 'Unreachable', false],
    [503, 'Unreachable', false],
  ])('%i is %s, definite: %s', async (status, reason, definite) => {
    api.play(error(status));
    const failed = await failure(api.client().botUsers.create({ name: 'x' }, call));
    // A key is refused for whatever it is used; and what is said about it may tell it. A 429 counts down.
    const operation = status === 401 ? undefined : 'bot_users.create';
    const otherWords: Record<number, string> = {
      401: '; replace the API key',
      403: ': give the API key the right to do this, or use another key',
      429: '',
    };
    const words = `the API answered ${status}: ERR_EDGE_${status}${otherWords[status] ?? ': the reason'}`;
    const message = operation === undefined ? words : `${operation}: ${words}`;
    const code = `ERR_EDGE_${status}`;
    expect(failed).toMatchObject({ operation, reason, definite, status, code, retryAfterMs: undefined, message });
    expect(api.requests).toHaveLength(1);
    expect(api.reports).toMatchObject([{ status, outcome: reason }]);
  });

  test.each([
    ['no body', text(502), 'the API answered 502'],
    ['HTML', text(502, '<html>Bad gateway</html>'), 'the API answered 502'],
    ['JSON of another shape', json(400, [{ error_code: 'X' }]), 'the API answered 400'],
    ['fields of other types', json(400, { error_code: 7, msg: { a: 1 }, details: 'x' }), 'the API answered 400'],
    ['a code that is no code', json(400, { error_code: 'see <a>', msg: 'm' }), 'the API answered 400: m'],
    [
      'a redirect',
      text(302, '', { location: 'http://127.0.0.1:9/' }),
      'the API answered 302: redirects are not followed',
    ],
  ])('with %s says what it can', async (_, respond, message) => {
    api.play(respond);
    const failed = await failure(api.client().botUsers.update('bot_1', {}, call));
    expect(failed.message).toContain(`bot_users.update: ${message}`);
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
  ])('that is not of the API: %i as HTML is %s, definite: %s', async (status, reason, definite) => {
    api.play(text(status, '<html>the gateway</html>'));
    const failed = await failure(api.client().botUsers.create({ name: 'x' }, call));
    const operation = status === 401 ? '' : 'bot_users.create: ';
    const message = expect.stringMatching(`^${operation}the API answered ${status}`);
    expect(failed).toMatchObject({ message, reason, definite, status, code: undefined });
  });

  test('that names its own status beside a code of another form, or a message, is of the API', async () => {
    for (const body of [{ error_code: 'not_found' }, { msg: 'no such bot' }, { error_code: 404, msg: 'no such bot' }]) {
      api.play(json(404, { ...body, status_code: 404 }));
      expect(await api.client().botUsers.get('bot_1', call)).toBeUndefined();
    }
    api.play(json(422, { error_code: 'invalid_name', status_code: 422, msg: 'no' }));
    const failed = await failure(api.client().botUsers.create({ name: 'x' }, call));
    expect(failed).toMatchObject({
      definite: true,
      code: undefined,
      message: 'bot_users.create: the API answered 422: no',
    });
    for (const body of [{ error_code: 'not_found', status_code: 200 }, { status_code: 404 }, { msg: 'Not Found' }]) {
      api.play(json(404, body));
      expect(await failure(api.client().botUsers.get('bot_1', call))).toMatchObject({ reason: 'Unreachable' });
    }
  });

  test('a redirect to elsewhere is never followed', async () => {
    const elsewhere = await startScriptedAPI();
    api.play(text(307, '', { location: `${elsewhere.url}/bot_users` }));
    expect(await failure(api.client().botUsers.create({ name: 'x' }, call))).toMatchObject({ definite: false });
    expect(elsewhere.requests).toHaveLength(0);
    await elsewhere.close();
  });
});

describe('429', () => {
  test('carries Retry-After and pauses everything that shares the limiter', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 100 });
    api.play(error(429, { 'retry-after': '30' }));
    const failed = await failure(api.client({ limiter: () => limiter }).botUsers.get('bot_1', { priority: 'resync' }));
    expect(failed.retryAfterMs).toBe(30_000);
    const pause = (limiter.state().pausedUntilMs ?? 0) - performance.now();
    expect(pause).toBeGreaterThan(25_000);
    expect(pause).toBeLessThanOrEqual(30_000);
    expect(api.reports[0]).toMatchObject({ outcome: 'RateLimited', priority: 'resync', retryAfterMs: 30_000 });
  });

  test('reads the same however many seconds it counts down', async () => {
    const counted = async (seconds: number) => {
      const msg = `too many requests; try again in ${seconds} s`;
      api.play(json(429, { error_code: 'ERR_EDGE_120', msg }, { 'retry-after': String(seconds) }));
      return (await failure(api.client().botUsers.get('bot_1', call))).message;
    };
    expect(await counted(60)).toBe('bot_users.get: the API answered 429: ERR_EDGE_120');
    expect(await counted(59)).toBe('bot_users.get: the API answered 429: ERR_EDGE_120');
  });

  test('is told to changes that come while a long pause lasts, without a request', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 100 });
    api.play(error(429, { 'retry-after': '30' }));
    const client = api.client({ limiter: () => limiter });
    await failure(client.botUsers.get('bot_1', call));
    expect(await failure(client.botUsers.get('bot_2', { priority: 'change' }))).toMatchObject({
      message: 'bot_users.get: not sent, the API answered 429 before and asked for a pause',
      reason: 'RateLimited',
      definite: true,
      retryAfterMs: expect.any(Number),
    });
    expect(api.reports).toHaveLength(1);
  });
});

describe('an answer that cannot be understood', () => {
  test.each<readonly [string, Respond, string]>([
    ['a wrong type', json(200, { ...bot, active: 'hunter2' }), 'active: expected boolean'],
    ['a missing field', json(200, { ...bot, created_at: undefined }), 'created_at: expected string'],
    ['a wrong type inside', json(200, { ...bot, id: { hunter2: 1 } }), 'id: expected string'],
    [
      'more than a status can hold',
      json(200, { ...bot, uri: 'hunter2'.repeat(400_000) }),
      'uri: longer than 2048 characters',
    ],
    ['a list where an object belongs', json(200, ['hunter2']), 'the body: expected object'],
    ['null', json(200, null), 'the body: expected object'],
    ['HTML', text(200, '<html>hunter2</html>'), 'not JSON'],
    ['JSON cut short', text(200, '{"id": "hunter2", "na'), 'not JSON'],
    ['nothing', text(200), 'the body is empty'],
    ['204', text(204), 'unexpected status 204'],
  ])('%s names the field and never the value', async (_, respond, problem) => {
    api.play(respond);
    const failed = await failure(api.client().botUsers.get('bot_1', call));
    expect(failed).toMatchObject({
      message: `bot_users.get: the response is malformed: ${problem}`,
      reason: 'Unreachable',
      definite: false,
    });
    expect(JSON.stringify([failed.message, failed.cause])).not.toContain('hunter2');
    expect(api.reports).toMatchObject([{ outcome: 'Unreachable' }]);
  });

  test.each(['botUsers', 'reservedAddrs'] as const)(
    'nor is one without an id an answer to a create: %s',
    async (of) => {
      const zero = {
        ...{ id: '', uri: '', created_at: '', name: '', active: false },
        description: '',
        addr: '',
        region: '',
      };
      api.play(json(201, zero));
      expect(await failure(api.client()[of].create({}, call))).toMatchObject({
        message: expect.stringMatching(/: the response is malformed: id: /),
        definite: false,
      });
    },
  );

  test('nor is another object an answer to who asked for one by its id', async () => {
    api.play(json(200, { ...bot, id: 'bot_2' }), json(200, { ...bot, id: 'bot_2' }));
    const { botUsers } = api.client();
    const problem = { message: expect.stringMatching(/: the response is malformed: id: is another one's$/) };
    expect(await failure(botUsers.get('bot_1', call))).toMatchObject({ ...problem, definite: false });
    expect(await failure(botUsers.update('bot_1', { name: 'x' }, call))).toMatchObject({ ...problem, definite: false });
    expect(api.reports).toMatchObject([{ outcome: 'Unreachable' }, { outcome: 'Unreachable' }]);
  });

  test('a delete is confirmed by 204 and 404 only', async () => {
    api.play(json(200, {}));
    expect(await failure(api.client().botUsers.delete('bot_1', call))).toMatchObject({
      message: 'bot_users.delete: the response is malformed: unexpected status 200',
    });
    api.play(error(410));
    expect(await failure(api.client().botUsers.delete('bot_1', call))).toMatchObject({ reason: 'Rejected' });
  });

  test('a body that does not end is cut off at 8 MiB', async () => {
    api.play((response) => {
      const chunk = 'x'.repeat(1024 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', more);
      };
      more();
    });
    expect(await failure(api.client().botUsers.get('bot_1', call))).toMatchObject({
      message: 'bot_users.get: the response is malformed: larger than 8 MiB',
      status: 200,
    });
  });
});

describe('no answer', () => {
  test('a refused connection is definite', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const failed = await failure(api.client({ baseURL: `http://127.0.0.1:${port}` }).botUsers.create({}, call));
    expect(failed).toMatchObject({
      message: 'bot_users.create: the connection was refused',
      reason: 'Unreachable',
      definite: true,
      status: undefined,
    });
    expect(failed.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a host that does not resolve is definite', async () => {
    const failed = await failure(api.client({ baseURL: 'http://cloud.invalid' }).botUsers.create({}, call));
    expect(failed).toMatchObject({ reason: 'Unreachable', definite: true });
  });

  test.each<readonly [string, Respond, string]>([
    ['no headers', () => {}, 'timed out waiting for the answer'],
    ['half a body', (response) => void response.writeHead(200).write('{"id":'), 'timed out reading the answer'],
    ['a reset', (response) => void response.socket?.resetAndDestroy(), 'the connection '],
    ['a close', (response) => void response.socket?.destroy(), 'the connection broke'],
    [
      'a close in the body',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{');
        setTimeout(() => response.socket?.destroy(), 20);
      },
      'the connection broke',
    ],
  ])('%s is not definite', async (_, respond, message) => {
    api.play(respond);
    const client = api.client({ timeouts });
    const failed = await failure(client.botUsers.create({ name: 'x' }, call));
    expect(failed).toMatchObject({ reason: 'Unreachable', definite: false });
    expect(failed.message).toContain(`bot_users.create: ${message}`);
    expect(api.requests).toHaveLength(1);
    expect(api.reports).toMatchObject([{ status: undefined, outcome: 'Unreachable' }]);
  });

  test('an answer that comes in drops is given up after 15 s in all', async () => {
    const { monotonic, asked } = hurried(systemClock);
    api.play(drops(135));
    const failed = await failure(api.client({ monotonic }).botUsers.create({ name: 'x' }, call));
    expect(failed).toMatchObject({ message: 'bot_users.create: timed out', reason: 'Unreachable', definite: false });
    expect(asked).toEqual([15_000]);
    expect(api.reports).toMatchObject([{ status: undefined, outcome: 'Unreachable' }]);
  });

  test('an abort does not take back what was sent: its answer is waited for', async () => {
    const abort = new AbortController();
    api.play((response) => {
      abort.abort(new Error('shutting down'));
      setTimeout(() => json(201, bot)(response), 20);
    });
    const created = api.client().botUsers.create({}, { ...call, signal: abort.signal });
    await expect(created).resolves.toMatchObject({ id: bot.id });
  });

  test('an abort while waiting for the limiter is definite and sends nothing', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const client = api.client({ limiter: () => limiter });
    api.play(json(200, bot));
    await client.botUsers.get('bot_1', call);
    const abort = new AbortController();
    const waiting = failure(client.botUsers.create({}, { ...call, signal: abort.signal }));
    abort.abort(new Error('shutting down'));
    expect(await waiting).toMatchObject({ message: 'bot_users.create: not sent: shutting down', definite: true });
    expect(api.requests).toHaveLength(1);
  });

  test('a closed client says so, and is definite', async () => {
    const client = api.client();
    await client.close();
    expect(await failure(client.botUsers.create({}, call))).toMatchObject({ reason: 'Unreachable' });
  });
});
