import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent, buildConnector } from 'undici';
import { ApiError } from '../../common/http/errors.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';
import type { Respond, ScriptedAPI } from './scripted-api.fixture.ts';
import { json, startScriptedAPI, text } from './scripted-api.fixture.ts';

/** Connects when it is told to. */
function slowToConnect(onConnecting: () => void) {
  const { promise, resolve: connected } = Promise.withResolvers<void>();
  const connect = buildConnector({});
  const dispatcher = new Agent({
    connect: (options, callback) => {
      onConnecting();
      void promise.then(() => connect(options, callback));
    },
  });
  return { dispatcher, connected };
}

const call = { priority: 'change' } as const;
const bot = { id: 'bot_1', uri: 'u', name: 'ci', active: true, created_at: '2026-01-02T03:04:05Z' };
const timeouts = { headersMs: 150, bodyMs: 150 };

let api: ScriptedAPI;

beforeEach(async () => {
  api = await startScriptedAPI();
});

afterEach(() => api.close());

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`expected an ApiError, not ${String(error)}`);
}

const error = (status: number, headers = {}) =>
  json(status, { error_code: `ERR_EDGE_${status}`, status_code: status, msg: 'the reason' }, headers);

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
    expect(failed).toMatchObject({
      operation: 'bot_users.create',
      reason,
      definite,
      status,
      code: `ERR_EDGE_${status}`,
      retryAfterMs: undefined,
      message: `bot_users.create: the API answered ${status}: ERR_EDGE_${status}${
        // What is said about the key may tell it.
        reason === 'Unauthorized' ? '' : ': the reason'
      }`,
    });
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
    [401, 'Unauthorized', true],
    [403, 'Unauthorized', true],
    [409, 'Conflict', false],
    [413, 'Rejected', false],
    [429, 'RateLimited', true],
  ])('that is not of the API: %i as HTML is %s, definite: %s', async (status, reason, definite) => {
    api.play(text(status, '<html>the gateway</html>'));
    const failed = await failure(api.client().botUsers.create({ name: 'x' }, call));
    const message = `bot_users.create: the API answered ${status}`;
    expect(failed).toMatchObject({ message, reason, definite, status, code: undefined });
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
    expect(api.reports[0]).toMatchObject({ outcome: 'RateLimited', priority: 'resync' });
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
    [
      'drops without end',
      (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(drip));
      },
      'timed out',
    ],
  ])('%s is not definite', async (name, respond, message) => {
    api.play(respond);
    const client = api.client({ timeouts: { ...timeouts, connectMs: name === 'drops without end' ? 200 : 5_000 } });
    const failed = await failure(client.botUsers.create({ name: 'x' }, call));
    expect(failed).toMatchObject({ reason: 'Unreachable', definite: false });
    expect(failed.message).toContain(`bot_users.create: ${message}`);
    expect(api.requests).toHaveLength(1);
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

describe('the guard', () => {
  test('runs right before sending; what it throws stops the request, is definite and costs no budget', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    let deposed = true;
    const guard = () => {
      if (deposed) throw new Error('no longer the leader');
    };
    const client = api.client({ limiter: () => limiter, guard });
    expect(await failure(client.botUsers.create({}, call))).toMatchObject({
      message: 'bot_users.create: not sent: no longer the leader',
      reason: 'Unreachable',
      definite: true,
    });
    expect([api.requests.length, api.reports.length, limiter.state().used]).toEqual([0, 0, 0]);
    deposed = false;
    api.play(json(201, bot));
    expect(await client.botUsers.create({}, call)).toEqual(bot);
  });

  test('is asked again once connected: a slow connect sends nothing after the lease is lost', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const connecting = Promise.withResolvers<void>();
    const { dispatcher, connected } = slowToConnect(() => connecting.resolve());
    let leads = true;
    const guard = () => {
      if (!leads) throw new Error('no longer the leader');
    };
    const client = api.client({ limiter: () => limiter, guard, dispatcher });
    const created = failure(client.botUsers.create({}, call));
    await connecting.promise;
    leads = false;
    connected();
    expect(await created).toMatchObject({
      message: 'bot_users.create: not sent: no longer the leader',
      definite: true,
    });
    expect([api.requests.length, api.reports.length, limiter.state().used]).toEqual([0, 0, 0]);
    await dispatcher.close();
  });
});

describe('a turn that was reserved', () => {
  test('is for one call, which waits no more', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const client = api.client({ limiter: () => limiter });
    api.play(json(201, bot));
    using reserved = await client.reserve(call);
    expect(await client.botUsers.create({}, reserved.call)).toEqual(bot);
    expect(limiter.state()).toMatchObject({ used: 1, waiting: { change: 0 } });
  });

  test('waits after all when the service has asked for a pause since', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 10 });
    const client = api.client({ limiter: () => limiter });
    api.play(json(201, bot));
    const { call: reserved } = await client.reserve(call);
    limiter.penalize(200);
    const startedAt = performance.now();
    expect(await client.botUsers.create({}, reserved)).toEqual(bot);
    expect(performance.now() - startedAt).toBeGreaterThan(190);
    expect(limiter.state().used).toBe(1);
  });

  test('is given back when it was not used, and only then', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 2 });
    const client = api.client({ limiter: () => limiter });
    const unused = await client.reserve(call);
    expect(limiter.state().used).toBe(1);
    unused[Symbol.dispose]();
    unused[Symbol.dispose]();
    expect(limiter.state().used).toBe(0);
    api.play(json(201, bot));
    const used = await client.reserve(call);
    await client.botUsers.create({}, used.call);
    used[Symbol.dispose]();
    expect(limiter.state().used).toBe(1);
  });
});

describe('a call that nobody wants any more', () => {
  test.each(['while it connects', 'right after its turn came'])('is not sent: %s', async (when) => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const connecting = Promise.withResolvers<void>();
    const { dispatcher, connected } = slowToConnect(() => connecting.resolve());
    const client = api.client({ limiter: () => limiter, dispatcher });
    const unwanted = new AbortController();
    const created = failure(client.botUsers.create({}, { ...call, signal: unwanted.signal }));
    if (when === 'while it connects') await connecting.promise;
    unwanted.abort(new Error('its spec has changed'));
    connected();
    expect(await created).toMatchObject({
      message: 'bot_users.create: not sent: its spec has changed',
      definite: true,
    });
    expect([api.requests.length, limiter.state().used]).toEqual([0, 0]);
    await dispatcher.close();
  });

  test('is seen through once it was sent', async () => {
    const unwanted = new AbortController();
    api.play((response) => {
      unwanted.abort(new Error('too late'));
      json(201, bot)(response);
    });
    expect(await api.client().botUsers.create({}, { ...call, signal: unwanted.signal })).toEqual(bot);
  });
});

describe('the API key', () => {
  test('is asked for with every request', async () => {
    let key = 'one';
    const client = api.client({ apiKey: () => key });
    api.play(json(200, bot), json(200, bot));
    await client.botUsers.get('bot_1', call);
    key = 'two';
    await client.botUsers.get('bot_1', call);
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two']);
  });

  test.each([
    ['empty', () => ''],
    ['broken by a newline', () => 'secret\nX-Evil: 1'],
    [
      'not there',
      () => {
        throw new Error('no Secret');
      },
    ],
  ])('that is %s is Unauthorized without a request', async (_, apiKey) => {
    const failed = await failure(api.client({ apiKey }).botUsers.create({}, call));
    expect(failed).toMatchObject({ reason: 'Unauthorized', definite: true });
    expect(failed.message).not.toContain('secret');
    expect(api.requests).toHaveLength(0);
  });

  test('that was refused is not sent again, not even by calls that were waiting', async () => {
    let key = 'revoked';
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const client = api.client({ limiter: () => limiter, apiKey: () => key });
    api.play(error(401), json(200, bot));
    const first = failure(client.botUsers.get('bot_1', call));
    const waiting = failure(client.botUsers.get('bot_1', call));
    expect(await first).toMatchObject({ reason: 'Unauthorized', code: 'ERR_EDGE_401' });
    limiter.setRequestsPerMinute(100);
    expect(await waiting).toMatchObject({ reason: 'Unauthorized', definite: true, status: 401 });
    expect(await failure(client.reservedAddrs.delete('ra_1', call))).toMatchObject({
      message: 'reserved_addrs.delete: not sent, the API answered 401 to this API key before; replace the key',
    });
    expect(api.requests).toHaveLength(1);
    key = 'replaced';
    expect(await client.botUsers.get('bot_1', call)).toEqual(bot);
  });

  test('that may not use one resource may use the others, if it may list', async () => {
    const client = api.client();
    api.play(error(403), json(200, { bot_users: [] }), json(200, bot));
    expect(await failure(client.reservedAddrs.get('ra_1', call))).toMatchObject({
      reason: 'Unauthorized',
      status: 403,
    });
    expect(await client.botUsers.get('bot_1', call)).toEqual(bot);
  });
});

describe('secrets', () => {
  const canary = 'shh-"Canary"/value+9Q&<7>';
  const route = { edgeID: 'e', routeID: 'r' };
  const document = `<EntityDescriptor entityID="https://idp.test"><X509Certificate>${'MIIDdzCCAl'.repeat(20)}</X509Certificate></EntityDescriptor>`;
  const of = (client: ReturnType<ScriptedAPI['client']>) => {
    const { saml, webhookVerification } = client.routeModules;
    return {
      'PUT of a webhook secret': () => webhookVerification.replace(route, { provider: 'p', secret: canary }, call),
      'GET of a webhook secret': () => webhookVerification.get(route, call),
      'DELETE of a webhook secret': () => webhookVerification.delete(route, call),
      'PUT of SAML metadata': () => saml.replace(route, { idp_metadata: document }, call),
      'GET of SAML metadata': () => saml.get(route, call),
      'DELETE of SAML metadata': () => saml.delete(route, call),
    };
  };

  test.each([
    'PUT of a webhook secret',
    'GET of a webhook secret',
    'DELETE of a webhook secret',
    'PUT of SAML metadata',
    'GET of SAML metadata',
    'DELETE of SAML metadata',
  ] as const)('%s: of a refusal only code and status are told', async (name) => {
    for (const status of [400, 404, 409, 422, 500]) {
      const msg = `something about ${canary} and nobody-knows-this and ${document}`;
      api.play(json(status, { error_code: 'ERR_EDGE_9', msg }));
      const outcome = await of(api.client())
        [name]()
        .catch((thrown: Error) => thrown);
      if (outcome instanceof Error)
        expect(outcome.message).toMatch(new RegExp(`^\\S+: the API answered ${status}: ERR_EDGE_9$`));
      else expect(status).toBe(404);
    }
  });

  test('a key is told by no answer about it', async () => {
    for (const status of [401, 403]) {
      api.play(
        json(status, { error_code: 'ERR_EDGE_9', msg: 'the key ending in 4Xq, of nobody-knows-whom, is wrong' }),
      );
      const failed = await failure(api.client().botUsers.list({}, call));
      expect(failed.message).toBe(`bot_users.list: the API answered ${status}: ERR_EDGE_9`);
    }
  });

  test.each([canary, 'key-for-tests', 'ERR_KEY_fortests'])('the code %s is none', async (code) => {
    api.play(json(400, { error_code: code, msg: 'no' }));
    expect(await failure(api.client().botUsers.get('bot_1', call))).toMatchObject({
      message: 'bot_users.get: the API answered 400: no',
      code: undefined,
    });
  });

  test('a code of the form of codes that is a secret is none', async () => {
    api.play(json(400, { error_code: 'ERR_KEY_1234', msg: 'no' }));
    const client = api.client({ apiKey: () => 'ERR_KEY_1234' });
    expect(await failure(client.botUsers.get('bot_1', call))).toMatchObject({ code: undefined });
  });

  test.each([
    ['the webhook secret', canary],
    ['its tail', canary.slice(-9)],
    ['its middle', canary.slice(4, 13)],
    ['its base64', Buffer.from(canary).toString('base64')],
    ['a part of the metadata', document.slice(1, 40)],
    ['markup that was never sent', '<Other><Secret>x</Secret>'],
    ['a long encoded run', Buffer.from(document).toString('base64')],
  ])('%s, once sent, is not told by a later answer about something else', async (_, told) => {
    api.play(json(404, {}), json(404, {}), json(400, { msg: `it is ${told}` }), json(400, { msg: `it is ${told}` }));
    const client = api.client();
    await of(client)
      ['PUT of a webhook secret']()
      .catch(() => {});
    await of(client)
      ['PUT of SAML metadata']()
      .catch(() => {});
    for (const attempt of [() => client.botUsers.get('bot_1', call), () => client.reservedAddrs.delete('ra_1', call)]) {
      const { message } = await failure(attempt());
      expect(message).toMatch(/: the API answered 400: it is (\[redacted\]\S{0,7})+$/);
      expect(message).not.toContain(told);
    }
  });

  test('the key is told by no answer', async () => {
    api.play(json(400, { msg: 'the end of it is r-tests, all of it key-for-tests, and 6b65792d666f722d' }));
    const { message } = await failure(api.client().botUsers.get('bot_1', call));
    expect(message).toBe(
      'bot_users.get: the API answered 400: the end of it is r-tests, all of it [redacted], and [redacted]',
    );
  });

  test('what is not as expected names no key of the service', async () => {
    api.play(json(200, { ...bot, active: 'key-for-tests' }));
    const { message } = await failure(api.client().botUsers.get('bot_1', call));
    expect(message).toBe('bot_users.get: the response is malformed: active: expected boolean');
  });
});

test('reports how long a request waited and took', async () => {
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
  const client = api.client({ limiter: () => limiter });
  api.play(json(200, bot), (response) => void setTimeout(() => json(200, bot)(response), 50));
  await client.botUsers.get('bot_1', call);
  const second = client.botUsers.get('bot_1', { priority: 'resync' });
  setTimeout(() => limiter.setRequestsPerMinute(100), 50);
  await second;
  const report = api.reports[1];
  expect(report?.waitedMs).toBeGreaterThan(40);
  expect(report?.ms).toBeGreaterThan(40);
});
