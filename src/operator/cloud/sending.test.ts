import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent, buildConnector } from 'undici';
import { systemRuntime } from '../../common/runtime.ts';
import { until } from '../kube/fake-api.fixture.ts';
import { Limiter } from './limiter.ts';
import {
  bot,
  call,
  error,
  failure,
  json,
  type Respond,
  type ScriptedAPI,
  startScriptedAPI,
} from './scripted-api.fixture.ts';

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

let api: ScriptedAPI;

beforeEach(async () => {
  api = await startScriptedAPI();
});

afterEach(() => api.close());

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

test('what was still connecting when the service asked for a pause is not sent, and waits', async () => {
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 5 });
  const connecting = Promise.withResolvers<void>();
  const { dispatcher, connected } = slowToConnect(() => connecting.resolve());
  const client = api.client({ limiter: () => limiter, dispatcher });
  const given = new AbortController();
  const told = failure(client.botUsers.create({}, call));
  const patient = failure(client.botUsers.list({}, { priority: 'resync', signal: given.signal }));
  await connecting.promise;
  limiter.penalize(60_000);
  connected();
  expect(await told).toMatchObject({ reason: 'RateLimited', definite: true });
  while (limiter.state().waiting.resync === 0) await new Promise(setImmediate);
  expect([api.requests.length, limiter.state().used]).toEqual([0, 0]);
  given.abort();
  expect(await patient).toMatchObject({ definite: true });
  await dispatcher.close();
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

  test('is of the key in force then: of another it is given back', async () => {
    const limiters = [1, 2].map(() => new Limiter({ ...systemRuntime, requestsPerMinute: 1 })) as [Limiter, Limiter];
    const [first, second] = limiters;
    let current = first;
    const client = api.client({ limiter: () => current });
    const { call: reserved } = await client.reserve(call);
    current = second;
    api.play(json(201, bot));
    expect(await client.botUsers.create({}, reserved)).toEqual(bot);
    expect([first.state().used, second.state().used]).toEqual([0, 1]);
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

  test('waits for its own turn after a pause, however late it is used', async () => {
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 60 });
    const client = api.client({ limiter: () => limiter });
    const turns = await Promise.all(Array.from({ length: 5 }, () => client.reserve(call)));
    api.play(error(429, { 'retry-after': '1' }));
    await failure(client.botUsers.list({}, call));
    await until('the pause to end', () => !limiter.isPaused);
    const answers: (() => void)[] = [];
    api.play(...turns.map((): Respond => (response) => void answers.push(() => json(201, bot)(response))));
    const created = Promise.allSettled(turns.map((turn) => client.botUsers.create({}, turn.call)));
    await until('one to be sent', () => answers.length > 0);
    expect(answers).toHaveLength(1);
    for (let n = 0; n < turns.length; n += 1) {
      await until('the next one', () => answers[n] !== undefined);
      answers[n]?.();
    }
    expect((await created).map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'));
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
