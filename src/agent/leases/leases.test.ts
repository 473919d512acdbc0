import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../common/http/errors.ts';
import { silentLog } from '../../common/log.ts';
import type { Endpoint, ServedTunnel } from './endpoint.ts';
import { Leases } from './leases.ts';

let now: number;
let sleeping: { readonly until: number; readonly wake: () => void } | undefined;
let running: ServedTunnel[];
let calls: string[];
let sent: Endpoint[];
let lines: string[];
/** What the cloud answers to a request; undefined carries it out. */
let trouble: (call: string) => ApiError | undefined;
let leases: Leases;
let stop: AbortController;
let ended: Promise<void>;

const tunnel = (key: string, more: object = {}): ServedTunnel => ({
  key,
  publicURL: `http://${key}.localhost:8080`,
  definition: { name: key, proto: 'http', addr: '80', inspect: true, ...more },
});

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
    sleeping = { until: now + ms, wake: resolve };
  });
}

async function pass(ms: number): Promise<void> {
  const end = now + ms;
  await turn();
  while (sleeping !== undefined && sleeping.until <= end) {
    const { until, wake } = sleeping;
    sleeping = undefined;
    now = Math.max(now, until);
    wake();
    await turn();
  }
  now = end;
}

async function answer(call: string): Promise<void> {
  calls.push(call);
  const problem = trouble(call);
  if (problem !== undefined) throw problem;
}

/** In place of its id each endpoint shows as the host of its tunnel. */
const ids = new Map<string, string>();
const client = {
  put: (id: string, endpoint: Endpoint) => {
    ids.set(id, endpoint.hostport.split('.')[0] ?? '');
    sent.push(endpoint);
    return answer(`PUT ${ids.get(id)}`);
  },
  delete: (id: string) => answer(`DELETE ${ids.get(id)}`),
};

beforeEach(() => {
  now = 1_000;
  [running, calls, sent, lines] = [[], [], [], []];
  sleeping = undefined;
  trouble = () => undefined;
  stop = new AbortController();
  const write = (message: string) => lines.push(message);
  const log = { ...silentLog, info: write, warn: write };
  const options = { client, tunnels: () => running, region: 'eu', sleep, ticks: () => now, random: Math.random, log };
  leases = new Leases(options);
  ended = leases.run(stop.signal);
});
afterEach(async () => {
  trouble = () => undefined;
  stop.abort();
  await ended;
});

const takeCalls = () => calls.splice(0);

async function setRunning(...tunnels: readonly ServedTunnel[]): Promise<void> {
  running = [...tunnels];
  leases.syncNow();
  await pass(0);
}

test('a tunnel is registered as it starts, with what the cloud asks for', async () => {
  await setRunning(tunnel('web', { metadata: 'team a' }));
  expect(sent).toEqual([
    {
      public_url: 'http://web.localhost:8080',
      proto: 'http',
      hostport: 'web.localhost:8080',
      region: 'eu',
      metadata: 'team a',
      tunnel: expect.stringMatching(/^tn_\w{27}$/),
    },
  ]);
  expect([...ids.keys()].at(-1)).toMatch(/^ep_\w{27}$/);
  expect(leases.status()).toEqual({ registered: 1 });
});

test('each is renewed every 10 s under the same id, and others do not renew it', async () => {
  const web = tunnel('web');
  await setRunning(web);
  const { size } = ids;
  await pass(4_000);
  await setRunning(web, tunnel('db'));
  expect(takeCalls()).toEqual(['PUT web', 'PUT db']);
  await pass(6_000);
  expect(takeCalls()).toEqual(['PUT web']);
  await pass(60_000);
  expect(takeCalls().length).toBe(12);
  expect(ids.size).toBe(size + 1);
});

test('a stopped tunnel is withdrawn at once; one of the same name that starts after it is another endpoint', async () => {
  await setRunning(tunnel('web'));
  await setRunning(tunnel('web'));
  expect(takeCalls()).toEqual(['PUT web', 'DELETE web', 'PUT web']);
  expect(new Set(sent.map((endpoint) => endpoint.tunnel)).size).toBe(2);
  await setRunning();
  expect(takeCalls()).toEqual(['DELETE web']);
  expect(leases.status()).toEqual({ registered: 0 });
});

test('stopping withdraws all', async () => {
  await setRunning(tunnel('web'), tunnel('db'));
  takeCalls();
  stop.abort();
  await ended;
  expect(takeCalls()).toEqual(['DELETE web', 'DELETE db']);
});

const problem = (message: string, retryAfterMs?: number) =>
  new ApiError(message, { reason: 'Unreachable', definite: false, retryAfterMs });

describe('a cloud in trouble', () => {
  const away = () => problem('cannot be reached: ECONNREFUSED');

  test('is tried again with growing pauses of 10 s at most, and one line in the log', async () => {
    trouble = away;
    await setRunning(tunnel('web'));
    await pass(60_000);
    const { length } = takeCalls();
    expect(length).toBeGreaterThan(6);
    expect(length).toBeLessThan(20);
    expect(lines).toEqual(['not all endpoints are registered as they should be']);
    expect(leases.status()).toEqual({ registered: 0, error: 'cannot be reached: ECONNREFUSED' });
    trouble = () => undefined;
    await pass(10_000);
    expect(takeCalls()).toContain('PUT web');
    expect(lines.slice(1)).toEqual(['endpoint registered', 'all endpoints are registered again']);
    expect(leases.status()).toEqual({ registered: 1 });
  });

  test('that refuses one endpoint has the others all the same', async () => {
    trouble = (call) => (call === 'PUT bad' ? problem('answered 400') : undefined);
    await setRunning(tunnel('bad'), tunnel('good'));
    await pass(100_000);
    const made = takeCalls();
    expect(made.filter((call) => call === 'PUT good').length).toBe(11);
    expect(made.filter((call) => call === 'PUT bad').length).toBeLessThan(25);
    expect(leases.status()).toEqual({ registered: 1, error: 'answered 400' });
  });

  test('is left alone as long as it asks for', async () => {
    trouble = () => problem('answered 429', 60_000);
    await setRunning(tunnel('web'));
    takeCalls();
    await pass(59_000);
    expect(takeCalls()).toEqual([]);
    await pass(2_000);
    expect(takeCalls()).toEqual(['PUT web']);
  });

  test('is asked again at once when the key has changed', async () => {
    trouble = () => problem('answered 403');
    await setRunning(tunnel('web'));
    await pass(30_000);
    takeCalls();
    trouble = () => undefined;
    leases.syncNow();
    await pass(0);
    expect(takeCalls()).toEqual([]);
    leases.retryFailed();
    await pass(0);
    expect(takeCalls()).toEqual(['PUT web']);
  });

  test('shows nothing of an agent that could not renew for 30 s', async () => {
    await setRunning(tunnel('web'));
    trouble = away;
    await pass(29_000);
    expect(leases.status()).toMatchObject({ registered: 1 });
    await pass(1_000);
    expect(leases.status()).toMatchObject({ registered: 0 });
  });

  test('gets the withdrawal until the lease has ended by itself', async () => {
    await setRunning(tunnel('web'));
    takeCalls();
    trouble = away;
    await setRunning();
    await pass(29_000);
    expect(takeCalls().every((call) => call === 'DELETE web')).toBe(true);
    await pass(11_000);
    takeCalls();
    await pass(60_000);
    expect(takeCalls()).toEqual([]);
    expect(leases.status()).toEqual({ registered: 0 });
    expect(lines).not.toContain('endpoint withdrawn');
  });

  test('may have carried out what it did not answer: that is withdrawn too', async () => {
    trouble = away;
    await setRunning(tunnel('web'));
    trouble = () => undefined;
    takeCalls();
    await setRunning();
    expect(takeCalls()).toEqual(['DELETE web']);
  });
});
