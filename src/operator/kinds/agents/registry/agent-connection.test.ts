import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../../../test/support/until.ts';
import type { Call } from '../../../../common/call.ts';
import { systemClock } from '../../../../common/clock.ts';
import { AgentConnection } from './agent-connection.ts';

const call: Call = { priority: 'resync', signal: new AbortController().signal };
const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const tunnelOf = (name: string, public_url = `http://${name}.localhost`) => ({
  name,
  uri: `/api/tunnels/${name || 'tn_1'}`,
  public_url,
  proto: 'http',
  config: { addr: '8080', inspect: true },
  metrics: { conns: { ...rates, gauge: 0 }, http: { ...rates, count: Math.random() } },
});
const status = { status: 'online', agent_version: '1', session: { legs: [] }, uri: '/api/status' };

let server: Server;
let asked: string[];
let tunnels: object[];
let said: object;
/** Requests are not answered before `answerHeld`. */
let silent: boolean;
let held: (() => void)[];
/** What every request is answered with instead. */
let broken: number | undefined;
let now: number;
/** How far the clock goes on each time that it is looked at. */
let tick: number;
/** How long was waited for what. */
let slept: number[];
let neverWakes: boolean;
let changes: number;
let counts: number;
let agent: AgentConnection;

beforeEach(async () => {
  [asked, tunnels, broken, now, changes, counts] = [[], [tunnelOf('web')], undefined, 1_000, 0, 0];
  [silent, held, said] = [false, [], status];
  [tick, slept, neverWakes] = [0, [], false];
  server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const body = request.url === '/api/status' ? said : { tunnels, uri: '/api/tunnels' };
    if (silent) await new Promise<void>((resolve) => held.push(resolve));
    if (request.method === 'DELETE') response.writeHead(204).end();
    else if (request.method === 'POST') response.writeHead(201).end(JSON.stringify(tunnelOf('new')));
    else response.writeHead(broken ?? 200).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  agent = new AgentConnection({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    userAgent: 'test',
    clock: systemClock,
    monotonic: {
      ...systemClock,
      now: () => {
        now += tick;
        return now;
      },
      sleep: async (ms) => {
        slept.push(ms);
        if (neverWakes) await new Promise(() => {});
        now += ms;
      },
    },
    random: () => 1,
    retryMs: 15_000,
    onChange: () => {
      changes += 1;
    },
    onCount: () => {
      counts += 1;
    },
  });
});
afterEach(async () => {
  await agent.close();
  server.close();
});

const answerHeld = () => {
  for (const answer of held) answer();
};
const lists = () => asked.filter((request) => request === 'GET /api/tunnels').length;
const find = (name: string, since = 1_000) => agent.find(name, since, call);

test('one list serves the agent and all tunnels of an interval', async () => {
  await Promise.all([agent.check(1_000, call), ...Array.from({ length: 50 }, () => find('web'))]);
  now = 14_000;
  expect(await agent.check(1_000, call)).toMatchObject({ status: { status: 'online' }, tunnels: 1 });
  expect(await find('web')).toMatchObject({ name: 'web' });
  expect(await find('other')).toBeUndefined();
  expect(asked).toEqual(['GET /api/tunnels', 'GET /api/status']);
  await find('web', 14_000);
  expect(lists()).toBe(2);
});

test('what we started and stopped is known without another list', async () => {
  await find('web');
  now += 1;
  await agent.start({ name: 'new', proto: 'http', addr: '8080' });
  await agent.stop('web');
  expect(counts).toBe(2);
  expect([await find('new'), await find('web')]).toEqual([expect.objectContaining({ name: 'new' }), undefined]);
  expect(agent.running().map(({ name }) => name)).toEqual(['new']);
  expect(lists()).toBe(1);
});

test('an agent that is away is tried again later and later, by nobody sooner, and shows no tunnels', async () => {
  await find('web');
  broken = 500;
  now = 2_000;
  await expect(Promise.all(Array.from({ length: 20 }, () => find('web', 2_000)))).rejects.toThrow(/answered 500/);
  expect(agent.running()).toEqual([]);
  const delays: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    delays.push(agent.retryInMs());
    await expect(find('web', now)).rejects.toThrow(/answered 500/);
    now += agent.retryInMs();
    await expect(find('web', now)).rejects.toThrow(/answered 500/);
  }
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  expect(lists()).toBe(2 + 7);
  broken = undefined;
  now += agent.retryInMs();
  expect(await find('web', 2_000)).toMatchObject({ name: 'web' });
  expect(agent.retryInMs()).toBe(0);
});

test('while one finds out whether a silent agent is back, nobody else waits', async () => {
  broken = 500;
  await expect(find('web')).rejects.toThrow(/answered 500/);
  [broken, silent] = [undefined, true];
  now += agent.retryInMs();
  const first = find('web', now);
  await until('the list to be asked for', () => lists() === 2);
  await expect(find('web', now)).rejects.toThrow(/answered 500/);
  answerHeld();
  expect(await first).toMatchObject({ name: 'web' });
  expect(await find('web', now)).toMatchObject({ name: 'web' });
  expect(lists()).toBe(2);
});

test('what was listed before the agent was away is not relied on', async () => {
  await find('web');
  broken = 500;
  now = 2_000;
  await expect(agent.check(2_000, call)).rejects.toThrow();
  [broken, tunnels] = [undefined, []];
  now = 3_000;
  await agent.check(1_000, call);
  expect(await find('web', 1_000)).toBeUndefined();
});

describe('tunnels that came, went or changed', () => {
  const look = async (next: object[], ms = 15_000) => {
    tunnels = next;
    now += ms;
    await agent.check(now, call);
    return changes;
  };

  test('are told of, and not their metrics, nor in what order they come', async () => {
    expect(await look([tunnelOf('web')])).toBe(0);
    expect(await look([tunnelOf('web')])).toBe(0);
    expect(await look([])).toBe(1);
    expect(await look([tunnelOf('web'), tunnelOf('')])).toBe(2);
    expect(await look([tunnelOf(''), tunnelOf('web')])).toBe(2);
    expect(await look([tunnelOf('web', 'http://elsewhere'), tunnelOf('')])).toBe(3);
  });

  test('are told of once in a while only, where no two lists are the same', async () => {
    for (let ms = 0; ms < 150_000; ms += 1_000) await look([tunnelOf('web', `http://${ms}`)], 1_000);
    expect(changes).toBe(10);
  });

  test('soon after others are told of later', async () => {
    await look([tunnelOf('web')]);
    expect(await look([], 1_000)).toBe(1);
    expect(await look([tunnelOf('new')], 1_000)).toBe(1);
    expect(await look([tunnelOf('new')])).toBe(2);
    expect(await look([tunnelOf('new')])).toBe(2);
    expect(counts).toBe(2);
  });
});

test('an agent that says more than is to be kept is away, and of its status only what is shown is kept', async () => {
  said = { ...status, agent_version: 'x'.repeat(200_000), session: { legs: [], more: 'y' }, more: 'y' };
  const { status: kept } = await agent.check(now, call);
  expect(kept).toEqual({ ...status, agent_version: `${'x'.repeat(255)}…` });
  tunnels = [{ ...tunnelOf('web'), more: 'y'.repeat(2 * 1024 * 1024) }];
  now += 1;
  await expect(agent.check(now, call)).rejects.toThrow('larger than 2 MiB');
  tunnels = [tunnelOf('web')];
  said = { ...status, agent_version: 'x'.repeat(300_000) };
  now += agent.retryInMs();
  await expect(agent.check(now, call)).rejects.toThrow('status.get: the response is malformed: larger than 0.25 MiB');
});

describe('a list that takes long to be read', () => {
  const many = () => Array.from({ length: 500 }, (_, at) => tunnelOf(`web-${at}`));

  beforeEach(() => {
    [tunnels, tick] = [many(), 0.1];
  });

  test('is followed by a pause in which the agent is not listed again, whoever asks, and those who ask share the next', async () => {
    await find('web-1', now);
    const since = now;
    const waits = slept.length;
    await Promise.all(Array.from({ length: 5 }, () => find('web-1', since)));
    expect(lists()).toBe(2);
    // 500 tunnels, each of which is asked for the time twice at least.
    expect(slept.slice(waits).some((ms) => ms > 200 * 100)).toBe(true);
    expect(now - since).toBeGreaterThan(200 * 100);
  });

  test('serves who asks for nothing fresher', async () => {
    const since = now;
    await find('web-1', since);
    const waits = slept.length;
    expect(await find('web-2', since)).toMatchObject({ name: 'web-2' });
    expect([lists(), slept.length]).toEqual([1, waits]);
  });

  test('is read with rests', async () => {
    await find('web-1', now);
    expect(slept.filter((ms) => ms > 30 && ms < 60).length).toBeGreaterThan(5);
  });

  test('is followed by one of two minutes at most', async () => {
    tick = 10;
    await find('web-1', now);
    const waits = slept.length;
    await find('web-1', now);
    expect(Math.max(...slept.slice(waits))).toBeLessThanOrEqual(120_000);
  });

  test('and fails is too', async () => {
    tunnels = Array.from({ length: 20_000 }, () => ({}));
    await expect(find('web-1', now)).rejects.toThrow('more than 1000 tunnels cannot be read');
    [tunnels, tick] = [[tunnelOf('web')], 0];
    now += agent.retryInMs();
    const since = now;
    expect(await find('web', since)).toMatchObject({ name: 'web' });
    expect(now - since).toBeGreaterThan(1_000);
  });

  test('holds up nobody who does not wait for it any more', async () => {
    await find('web-1', now);
    const giveUp = new AbortController();
    neverWakes = true;
    const look = agent.find('web-1', now, { ...call, signal: giveUp.signal });
    giveUp.abort(new Error('stopped'));
    await expect(look).rejects.toThrow('stopped');
    expect(lists()).toBe(1);
  });

  test('is not what a short one is', async () => {
    tunnels = [tunnelOf('web')];
    await find('web', now);
    const waits = slept.length;
    await find('web', now);
    expect([lists(), slept.length]).toEqual([2, waits]);
  });
});

test('a tunnel with more in it than options may have is not looked at further', async () => {
  const values = Array.from({ length: 9_000 }, (_, at) => at);
  tunnels = [tunnelOf('web'), { ...tunnelOf('odd'), more: values }];
  await agent.check(now, call);
  expect(await find('web')).toMatchObject({ name: 'web' });
  await expect(find('odd')).rejects.toThrow('tunnel odd: it has more than 8192 values');
});

describe('a tunnel that cannot be read', () => {
  const odd = (name: unknown) => ({ ...tunnelOf('odd'), name, metrics: undefined });
  const look = async (next: object[]) => {
    tunnels = next;
    now += 15_000;
    return agent.check(now, call);
  };

  test('troubles nobody but who asks for its name: there is one', async () => {
    expect(await look([odd('odd'), tunnelOf('web')])).toMatchObject({ status: { status: 'online' }, tunnels: 1 });
    expect(await find('web')).toMatchObject({ name: 'web' });
    expect(await find('new')).toBeUndefined();
    await expect(find('odd')).rejects.toMatchObject({
      message: 'tunnels.list: the response is malformed: tunnel odd: metrics: expected object',
      reason: 'Unreachable',
    });
    expect(agent.retryInMs()).toBe(0);
  });

  test('and has no name may be any that is not there', async () => {
    await look([odd(undefined), tunnelOf('web')]);
    expect(await find('web')).toMatchObject({ name: 'web' });
    const why = 'a tunnel that has no name, and may be new: name: expected string';
    await expect(find('new')).rejects.toThrow(why);
  });

  test('and is known to be unnamed is nobody’s', async () => {
    await look([odd('')]);
    expect(await find('new')).toBeUndefined();
  });

  test('is told of as it comes and goes', async () => {
    await look([tunnelOf('web')]);
    await look([tunnelOf('web'), odd('odd')]);
    await look([odd('odd'), tunnelOf('web')]);
    expect(changes).toBe(1);
    await look([tunnelOf('web')]);
    expect(changes).toBe(2);
    expect(await find('odd', now)).toBeUndefined();
  });
});

test('what has no tunnels is no agent', async () => {
  broken = 404;
  await expect(find('web')).rejects.toMatchObject({
    reason: 'Unreachable',
    message: expect.stringMatching(/no Local Agent API/),
  });
});

test('a look that was given up tells nothing: an agent that was away still is', async () => {
  await find('web');
  broken = 500;
  await expect(find('web', 2_000)).rejects.toThrow(/answered 500/);
  [broken, silent] = [undefined, true];
  now += agent.retryInMs();
  const giveUp = new AbortController();
  const look = agent.check(now, { ...call, signal: giveUp.signal });
  await until('the list to be asked for', () => lists() === 3);
  giveUp.abort(new Error('something more urgent came'));
  await expect(look).rejects.toThrow('something more urgent came');
  expect(agent.running()).toEqual([]);
  answerHeld();
});
