import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Priority } from '../../common/priority.ts';
import { busiestMinute, minute, monotonic, randomFrom, settled, simulate, use } from './limiter.fixture.ts';
import { Limiter } from './limiter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('what waits for an account that leaves is told so at once, also while nothing may be sent', async () => {
  const limiter = new Limiter({ monotonic, requestsPerMinute: 10 });
  for (const account of ['gone', 'there']) limiter.ledger.record(account, 0);
  limiter.penalize(minute);
  const wait = (account: string) => limiter.acquire({ priority: 'resync', account });
  const [gone, there] = [wait('gone'), wait('there')];
  expect(await settled(gone, there)).toEqual([false, false]);
  limiter.leave('gone');
  expect(await settled(gone, there)).toEqual([true, false]);
  expect(await gone).toMatchObject({ isVoid: true });
  expect(limiter.state()).toMatchObject({ used: 0, waiting: { resync: 1 } });
});

describe('the window', () => {
  test('lets the budget through at once and the next when the first has left', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 3 });
    await use(limiter, 'change', 3);
    const fourth = limiter.acquire({ priority: 'change' });
    await jest.advanceTimersByTimeAsync(minute);
    expect(await settled(fourth)).toEqual([false]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect((await fourth).waitedMs).toBeGreaterThanOrEqual(minute);
  });

  test('counts a slow request until a minute after its answer', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    const first = await limiter.acquire({ priority: 'change' });
    await jest.advanceTimersByTimeAsync(20_000);
    const second = limiter.acquire({ priority: 'change' });
    first.release();
    await jest.advanceTimersByTimeAsync(minute);
    expect(await settled(second)).toEqual([false]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await settled(second)).toEqual([true]);
  });

  test('wastes little: changes without end get nearly all of the budget', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
    const { arrivals, send } = simulate(limiter, randomFrom(1), 200);
    for (let i = 0; i < 1_300; i += 1) void send('change');
    await jest.advanceTimersByTimeAsync(10 * minute);
    expect(arrivals.length).toBeGreaterThan(0.97 * 10 * 120);
    expect(busiestMinute(arrivals)).toBe(120);
  });

  test('gives a request that was never sent back at once', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    const first = await limiter.acquire({ priority: 'change' });
    const second = limiter.acquire({ priority: 'change' });
    first.release(false);
    expect(await settled(second)).toEqual([true]);
  });

  test('follows a new budget', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    await use(limiter, 'change', 1);
    const second = limiter.acquire({ priority: 'change' });
    expect(await settled(second)).toEqual([false]);
    limiter.setRequestsPerMinute(2);
    expect(await settled(second)).toEqual([true]);
    expect(limiter.state()).toEqual({ used: 2, limit: 2, waiting: { change: 0, first: 0, resync: 0 } });
  });

  test('a budget below one request is an error', () => {
    expect(() => new Limiter({ monotonic, requestsPerMinute: 0 })).toThrow(
      'requestsPerMinute must be at least 1, not 0',
    );
    expect(() => new Limiter({ monotonic, requestsPerMinute: Number.NaN })).toThrow(RangeError);
  });

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'the server never sees more than the budget in any rolling minute (random traffic %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const budget = 1 + Math.floor(random() * 150);
      const limiter = new Limiter({ monotonic, requestsPerMinute: budget });
      const { arrivals, send } = simulate(limiter, random, random() < 0.5 ? 300 : 9_000);
      const priorities = ['change', 'first', 'resync'] as const;
      const sent: Promise<number>[] = [];
      for (let burst = 0; burst < 20; burst += 1) {
        const size = Math.floor((random() * budget) / 2);
        for (let i = 0; i < size; i += 1) sent.push(send(priorities[Math.floor(random() * 3)] ?? 'change'));
        await jest.advanceTimersByTimeAsync(random() * 15_000);
      }
      while (arrivals.length < sent.length) await jest.advanceTimersByTimeAsync(10_000);
      await jest.advanceTimersByTimeAsync(10_000);
      await Promise.all(sent);
      const { floor, max } = Math;
      expect(busiestMinute(arrivals)).toBeLessThanOrEqual(budget);
      expect(busiestMinute(arrivals, ({ priority }) => priority === 'resync')).toBeLessThanOrEqual(
        max(1, floor(budget / 2)),
      );
      expect(busiestMinute(arrivals, ({ priority }) => priority !== 'change')).toBeLessThanOrEqual(
        max(1, floor((budget * 3) / 4)),
      );
    },
  );
});

describe('the classes', () => {
  test('are served in order, each first come first served', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    await use(limiter, 'change', 1);
    const order: string[] = [];
    const ask = (name: string, priority: Priority) =>
      limiter.acquire({ priority }).then((slot) => {
        order.push(name);
        slot.release(false);
      });
    const all = [
      ask('r1', 'resync'),
      ask('f1', 'first'),
      ask('c1', 'change'),
      ask('r2', 'resync'),
      ask('c2', 'change'),
    ];
    limiter.setRequestsPerMinute(2);
    await jest.advanceTimersByTimeAsync(0);
    await Promise.all(all);
    expect(order).toEqual(['c1', 'c2', 'f1', 'r1', 'r2']);
  });

  test('resync takes half of the budget and leaves the rest, even when nothing else waits', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
    const drift = Array.from({ length: 100 }, () => limiter.acquire({ priority: 'resync' }));
    expect((await settled(...drift)).filter(Boolean)).toHaveLength(60);
    const first = Array.from({ length: 100 }, () => limiter.acquire({ priority: 'first' }));
    expect((await settled(...first)).filter(Boolean)).toHaveLength(30);
    const changes = Array.from({ length: 100 }, () => limiter.acquire({ priority: 'change' }));
    expect((await settled(...changes)).filter(Boolean)).toHaveLength(30);
    expect(limiter.state()).toEqual({ used: 120, limit: 120, waiting: { change: 70, first: 70, resync: 40 } });
  });

  test('a spec change made while 100 modules of 4 parts drift at 120 a minute starts in under 2 s', async () => {
    const random = randomFrom(7);
    const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
    const { arrivals, send } = simulate(limiter, random, 500);
    const drift = Array.from({ length: 400 }, () => send('resync'));
    const changes: Promise<number>[] = [];
    for (let second = 0; second < 300; second += 1) {
      if (second % 10 === 5) changes.push(send('change'), send('change'));
      await jest.advanceTimersByTimeAsync(1_000);
    }
    for (const waited of await Promise.all(changes)) expect(waited).toBeLessThan(2_000);
    expect(busiestMinute(arrivals)).toBeLessThanOrEqual(120);
    await jest.advanceTimersByTimeAsync(3 * minute);
    expect(await Promise.all(drift)).toHaveLength(400);
  });

  test.each(['first', 'resync'] as const)('%s is not starved by changes without end', async (priority) => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 60 });
    const { send, started } = simulate(limiter, randomFrom(3), 200);
    const waiting = Array.from({ length: 10 }, () => send(priority));
    for (let second = 0; second < 300; second += 1) {
      for (let i = 0; i < 3; i += 1) void send('change');
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(await settled(...waiting)).not.toContain(false);
    const changes = started.filter((request) => request.priority === 'change');
    expect(changes.length).toBeGreaterThan(200);
  });

  test('the aged take no more than one request in four from changes', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 100, ageingMs: 0 });
    await use(limiter, 'change', 100);
    const order: Priority[] = [];
    for (const priority of ['resync', 'first', 'change'] as const) {
      for (let i = 0; i < 40; i += 1) void limiter.acquire({ priority }).then(() => order.push(priority));
      await jest.advanceTimersByTimeAsync(1);
    }
    await jest.advanceTimersByTimeAsync(minute + 1_000);
    const served = (priority: Priority) => order.slice(0, 52).filter((other) => other === priority).length;
    expect([served('change'), served('first'), served('resync')]).toEqual([39, 0, 13]);
  });
});

describe('giving up', () => {
  test('an aborted wait rejects with the reason and leaves the queue', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    await use(limiter, 'change', 1);
    const abort = new AbortController();
    const given = limiter.acquire({ priority: 'change', signal: abort.signal });
    const kept = limiter.acquire({ priority: 'change' });
    abort.abort(new Error('shutting down'));
    await expect(given).rejects.toThrow('shutting down');
    expect(limiter.state().waiting.change).toBe(1);
    await jest.advanceTimersByTimeAsync(minute + 1_000);
    expect(await settled(kept)).toEqual([true]);
  });

  test('a signal that has aborted takes nothing, and one that aborts later takes nothing back', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 5 });
    await expect(limiter.acquire({ priority: 'change', signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
      'gone',
    );
    const abort = new AbortController();
    await limiter.acquire({ priority: 'change', signal: abort.signal });
    abort.abort();
    expect(limiter.state().used).toBe(1);
  });

  test('no timer is left when nobody waits', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
    await use(limiter, 'change', 1);
    const abort = new AbortController();
    const given = limiter.acquire({ priority: 'change', signal: abort.signal });
    expect(jest.getTimerCount()).toBe(1);
    abort.abort(new Error('stop'));
    await expect(given).rejects.toThrow('stop');
    expect(jest.getTimerCount()).toBe(0);
  });
});
