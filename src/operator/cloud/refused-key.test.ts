import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { CloudClient } from './client.ts';
import { KeyGate } from './key-gate.ts';
import { Limiter } from './limiter.ts';
import { bot, call, failure, json, type Respond, type ScriptedAPI, startScriptedAPI } from './scripted-api.fixture.ts';

const answer = (status: number) => json(status, status === 200 ? bot : { error_code: `ERR_EDGE_${status}` });
const cut: Respond = (response) => void response.socket?.destroy();

let api: ScriptedAPI;
let client: CloudClient;
let now: number;
let key: string;

beforeEach(async () => {
  api = await startScriptedAPI();
  [now, key] = [0, 'k'];
  client = api.client({ apiKey: () => key, monotonic: { ...systemClock, now: () => now } });
});
afterEach(() => api.close());

/** Status of the answer, or that there was no request. */
async function get(): Promise<unknown> {
  const asked = () => api.requests.filter(({ url }) => url === '/bot_users/bot_1').length;
  const before = asked();
  const status = await client.botUsers.get('bot_1', call).then(
    () => 200,
    (error) => error.status,
  );
  return asked() === before ? 'not sent' : status;
}

async function answered(...statuses: readonly number[]): Promise<void> {
  for (const status of statuses) {
    api.play(answer(status));
    // A 404 is undefined to a get.
    expect(await get()).toBe(status === 404 ? 200 : status);
  }
}

test('a key is in use until a 401', async () => {
  await answered(200, 404, 500, 401);
  expect(await get()).toBe('not sent');
});

test('a 403 to a list is a 403 to the key', async () => {
  api.play(json(403, {}));
  await expect(client.botUsers.list({}, call)).rejects.toMatchObject({ status: 403, reason: 'Unauthorized' });
  expect(await get()).toBe('not sent');
  await expect(client.botUsers.create({}, call)).rejects.toMatchObject({
    message: 'the API answered 403; replace the API key',
    status: 403,
  });
  now += 10_000;
  await answered(403);
  expect(await get()).toBe('not sent');
  key = 'new';
  await answered(200);
});

test('what is said of a refused key is the same for calls that are sent and for those that are not', async () => {
  const said = () => client.botUsers.list({}, call).catch(({ message }) => message);
  api.play(answer(403), answer(403));
  const words = 'the API answered 403: ERR_EDGE_403; replace the API key';
  expect([await said(), await said()]).toEqual([words, words]);
  now += 10_000;
  expect([await said(), await said()]).toEqual([words, words]);
  expect(api.requests).toHaveLength(2);
});

test('a revoked key is reported as refused for as long as it is tried, whatever it is tried with', async () => {
  const reports: boolean[] = [];
  const onRequest = ({ keyRefused }: { readonly keyRefused: boolean }) => void reports.push(keyRefused);
  client = api.client({ apiKey: () => key, monotonic: { ...systemClock, now: () => now }, onRequest });
  api.play(json(403, {}));
  await expect(client.botUsers.list({}, call)).rejects.toMatchObject({ status: 403 });
  now += 10_000;
  await answered(403);
  now += 20_000;
  await answered(403);
  now += 40_000;
  await answered(200);
  expect(reports).toEqual([true, true, true, false]);
});

test('a 403 to anything else is followed by a list, which tells whether it is the key', async () => {
  await answered(403);
  api.play(json(403, {}));
  expect(await get()).toBe('not sent');
  expect(api.requests.map(({ url }) => url)).toEqual(['/bot_users/bot_1', '/bot_users?limit=1']);
});

test('where it is not the key, others are sent, and the question is not asked again within a minute', async () => {
  await answered(403);
  api.play(json(200, { bot_users: [] }));
  await answered(403, 200, 403);
  now += 60_000;
  await answered(403);
  api.play(json(200, { bot_users: [] }));
  await answered(200);
  expect(api.requests.filter(({ url }) => url?.includes('limit'))).toHaveLength(2);
});

describe('while a list is to tell', () => {
  let tell: (status: number) => void;
  let asking: Promise<unknown>;
  let limiter: Limiter;
  const urls = () => api.requests.map(({ url }) => url);

  beforeEach(async () => {
    limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 10 });
    client = api.client({
      apiKey: () => key,
      limiter: () => limiter,
      monotonic: { ...systemClock, now: () => now },
    });
    await answered(403);
    const asked = new Promise<void>((resolve) => {
      api.play((response) => {
        tell = (status) => json(status, { bot_users: [] })(response);
        resolve();
      });
    });
    asking = get();
    await asked;
  });

  test.each([
    ['nothing else is sent with a key that is refused', 403, 'not sent', 2],
    ['what waited is sent where it was not the key', 200, 200, 6],
  ])('%s', async (_, status, said, requests) => {
    const others = [get(), get(), get()];
    await setImmediate();
    expect(urls()).toEqual(['/bot_users/bot_1', '/bot_users?limit=1']);
    api.play(...Array.from({ length: 4 }, () => answer(200)));
    tell(status);
    expect(await Promise.all([asking, ...others])).toEqual([said, said, said, said]);
    expect(urls()).toHaveLength(requests);
  });

  test('what waits takes nothing of the budget, which the next key goes on with', async () => {
    const others = Array.from({ length: 12 }, get);
    await setImmediate();
    expect(limiter.state()).toMatchObject({ used: 2, waiting: { change: 0 } });
    key = 'new';
    await answered(200);
    api.play(...Array.from({ length: 13 }, () => answer(200)));
    limiter.setRequestsPerMinute(100);
    tell(403);
    await Promise.all([asking, ...others]);
  });

  test('who is not wanted any more does not wait', async () => {
    const end = new AbortController();
    const other = failure(client.botUsers.get('bot_1', { ...call, signal: end.signal }));
    await setImmediate();
    end.abort(new Error('deleted'));
    expect(await other).toMatchObject({ operation: 'bot_users.get', definite: true });
    expect(urls()).toHaveLength(2);
    tell(403);
    await asking;
  });
});

test('a question that was not let through is asked again soon', async () => {
  await answered(403);
  api.play(cut);
  await answered(403);
  now += 10_000;
  await answered(403);
  api.play(json(403, {}));
  expect(await get()).toBe('not sent');
});

test('a question that never left this process is asked again soon', async () => {
  let looks = Number.POSITIVE_INFINITY;
  const guard = () => {
    looks -= 1;
    if (looks === 0) throw new Error('superseded');
  };
  client = api.client({ guard, monotonic: { ...systemClock, now: () => now } });
  await answered(403);
  // Once before the turn of the call that carries it, and once right before it is sent.
  looks = 2;
  await answered(403);
  now += 10_000;
  api.play(json(403, {}));
  expect(await get()).toBe('not sent');
});

test('the list that tells is no trouble of its own', async () => {
  await answered(403);
  api.play(json(200, { bot_users: [] }));
  await answered(200);
  expect(api.reports.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ['bot_users.get', 'Unauthorized'],
    ['bot_users.list', 'ok'],
    ['bot_users.get', 'ok'],
  ]);
});

test('a refused key fails here, another one passes', async () => {
  await answered(401);
  await expect(client.botUsers.create({}, call)).rejects.toMatchObject({
    message: 'the API answered 401: ERR_EDGE_401; replace the API key',
    reason: 'Unauthorized',
    definite: true,
    status: 401,
  });
  key = 'new';
  await answered(200);
});

test('one probe passes after 10 s, then after twice as long each time, at most 5 minutes', async () => {
  await answered(401);
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    now += seconds * 1000 - 1;
    expect(await get()).toBe('not sent');
    now += 1;
    api.play(answer(401));
    expect(await Promise.all([get(), get()])).toEqual([401, 'not sent']);
  }
});

describe('a person who asks for a refused key to be tried', () => {
  let gate: KeyGate;
  beforeEach(async () => {
    gate = new KeyGate(() => now);
    client = api.client({ apiKey: () => key, gate: () => gate, monotonic: { ...systemClock, now: () => now } });
    await answered(401);
  });

  test('has one call sent at once, and no more than one a minute', async () => {
    expect(gate.tryNow()).toBe(true);
    api.play(answer(401));
    expect(await Promise.all([get(), get(), get()])).toEqual([401, 'not sent', 'not sent']);
    now += 9_999;
    expect(gate.tryNow()).toBe(false);
    expect(await get()).toBe('not sent');
    now = 60_000;
    await answered(401);
    expect(gate.tryNow()).toBe(true);
    await answered(401);
    expect(await get()).toBe('not sent');
  });

  test('hears when it is taken again, and so does everybody', async () => {
    gate.tryNow();
    await answered(200, 200);
  });

  test('of a key that is in use asks for nothing', async () => {
    now += 10_000;
    await answered(200);
    expect(gate.tryNow()).toBe(false);
    await answered(401);
    expect(gate.tryNow()).toBe(true);
  });
});

test('many refusals under way at once count as one', async () => {
  api.play(...Array.from({ length: 20 }, () => answer(401)));
  expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array.from({ length: 20 }, () => 401));
  now += 10_000;
  await answered(200);
});

test('a probe without an answer says nothing of the key: the next comes twice as long after it', async () => {
  await answered(401);
  now += 10_000;
  api.play(cut);
  expect(await get()).toBeUndefined();
  now += 19_999;
  expect(await get()).toBe('not sent');
  now += 1;
  await answered(200);
});

test('no answer at all is no refusal', async () => {
  api.play(cut);
  expect(await get()).toBeUndefined();
  await answered(200);
});

test('any other answer to the key shows that it is in use again; an answer to another key does not', async () => {
  key = 'old';
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    api.play((response) => {
      release = () => answer(200)(response);
      resolve();
    });
  });
  const late = get();
  await asked;
  key = 'k';
  await answered(401);
  release();
  expect(await late).toBe(200);
  expect(await get()).toBe('not sent');
  now += 10_000;
  await answered(500, 200);
});
