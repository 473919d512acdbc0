import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Clock, systemClock } from '../../common/clock.ts';
import type { Priority } from '../../common/priority.ts';
import { Limiter } from './limiter.ts';

const minute = 60_000;

/** On the timers that Jest turns. */
const monotonic: Clock = {
  ...systemClock,
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

/** A small generator of numbers in [0, 1), the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

interface Arrival {
  readonly at: number;
  readonly priority: Priority;
}

/** A server with jittered latency both ways, and a client that sends through the limiter. */
function simulate(limiter: Limiter, random: () => number, latencyMs: number) {
  const arrivals: Arrival[] = [];
  const started: (Arrival & { readonly waited: number; readonly index: number })[] = [];
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const send = async (priority: Priority): Promise<number> => {
    const slot = await limiter.acquire({ priority });
    const waited = slot.waitedMs;
    started.push({ at: performance.now(), priority, waited, index: started.length });
    await pause(random() * latencyMs);
    arrivals.push({ at: performance.now(), priority });
    await pause(random() * latencyMs);
    slot.release();
    return waited;
  };
  return { arrivals, started, send };
}

function busiestMinute(arrivals: readonly Arrival[], counts: (arrival: Arrival) => boolean = () => true): number {
  const times = arrivals.filter(counts).map(({ at }) => at);
  let from = 0;
  let most = 0;
  for (const [index, at] of times.entries()) {
    while ((times[from] ?? at) < at - minute) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

/** Takes and gives back at once, so that each counts from now. */
async function use(limiter: Limiter, priority: Priority, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const slot = await limiter.acquire({ priority });
    slot.release();
  }
}

/** Which of the promises has settled after what is due now has run. */
async function settled(...promises: readonly Promise<unknown>[]): Promise<readonly boolean[]> {
  const done = promises.map(() => false);
  for (const [index, promise] of promises.entries()) promise.then(() => (done[index] = true)).catch(() => {});
  await jest.advanceTimersByTimeAsync(0);
  return done;
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
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

describe('turns', () => {
  /** Sends what each tenant asks for as its turn comes; answers in whose order. */
  async function orderOf(limiter: Limiter, asked: readonly (readonly [account: string, namespace: string])[]) {
    const order: string[] = [];
    for (const [account, namespace] of asked) {
      void limiter
        .acquire({ priority: 'change', account, namespace })
        .then(() => order.push(`${account}/${namespace}`));
    }
    await jest.advanceTimersByTimeAsync(minute + 1_000);
    return order;
  }

  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

  test('accounts take turns, then the namespaces of an account, whoever came first and asks for most', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 8 });
    await use(limiter, 'change', 8);
    const crowd = times(20, ['default', 'crowd'] as const);
    const order = await orderOf(limiter, [
      ...crowd,
      ['default', 'b'],
      ['default', 'b'],
      ['a/own', 'a'],
      ['a/own', 'a'],
    ]);
    expect(order).toEqual([
      ...['default/crowd', 'a/own/a', 'default/b', 'a/own/a', 'default/crowd', 'default/b'],
      ...['default/crowd', 'default/crowd'],
    ]);
  });

  test('who asks for one after the other gets no more than who asks for all at once', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 60 });
    limiter.share(true);
    const random = randomFrom(5);
    const served = { crowd: 0, serial: 0 };
    const serially = async () => {
      for (;;) {
        const slot = await limiter.acquire({ priority: 'change', namespace: 'serial' });
        served.serial += 1;
        await new Promise((resolve) => setTimeout(resolve, random() * 50));
        slot.release();
      }
    };
    for (let i = 0; i < 1_000; i += 1)
      void limiter.acquire({ priority: 'change', namespace: 'crowd' }).then((slot) => {
        served.crowd += 1;
        slot.release();
      });
    void serially();
    await jest.advanceTimersByTimeAsync(10 * minute);
    expect(served.serial + served.crowd).toBeGreaterThan(550);
    expect(served.serial).toBeLessThan(served.crowd);
    expect(served.serial).toBeGreaterThan(100);
  });

  test('an account that may send little takes nothing from those that share its credential', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
    limiter.bound('a/poor', 1);
    limiter.bound('b/rich', 120);
    const poor = times(12, 0).map(() => limiter.acquire({ priority: 'change', account: 'a/poor' }));
    const rich = times(100, 0).map(() => limiter.acquire({ priority: 'change', account: 'b/rich' }));
    expect((await settled(...rich)).filter(Boolean)).toHaveLength(100);
    expect((await settled(...poor)).filter(Boolean)).toHaveLength(1);
    for (const slot of [poor[0], ...rich]) (await slot)?.release();
    await jest.advanceTimersByTimeAsync(minute + 1_000);
    expect((await settled(...poor)).filter(Boolean)).toHaveLength(2);
  });

  test('what was used counts for the account that used it, and is forgotten with it', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 10 });
    limiter.bound('a/x', 2);
    for (const _ of [1, 2]) (await limiter.acquire({ priority: 'change', account: 'a/x', namespace: 'a' })).release();
    expect([limiter.state('a/x'), limiter.state('b/y'), limiter.state()]).toMatchObject([
      { used: 2, limit: 2 },
      { used: 2, limit: 10 },
      { used: 2, limit: 10 },
    ]);
    limiter.leave('a/x');
    expect(limiter.state().used).toBe(2);
    await jest.advanceTimersByTimeAsync(minute + 1_000);
    expect([limiter.state('a/x'), limiter.state()]).toMatchObject([
      { used: 0, limit: 10 },
      { used: 0, limit: 10 },
    ]);
  });
});

describe('a shared budget', () => {
  /** A namespace with more to do than the budget allows, for ever. */
  function crowd(limiter: Limiter, count: number, latencyMs: number) {
    const arrivals: Arrival[] = [];
    for (let i = 0; i < count; i += 1)
      void limiter.acquire({ priority: 'change', namespace: 'crowd' }).then(async (slot) => {
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        arrivals.push({ at: performance.now(), priority: 'change' });
        slot.release();
      });
    return arrivals;
  }

  test.each([0, 1, 3, 20, 59, 60, 61, 100, 600])(
    'whoever comes %d s after a crowd has its turn within a second, call by call',
    async (seconds) => {
      const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
      limiter.share(true);
      crowd(limiter, 5_000, 20);
      await jest.advanceTimersByTimeAsync(seconds * 1_000);
      for (let call = 0; call < 4; call += 1) {
        const asked = limiter.acquire({ priority: 'change', namespace: 'lonely' });
        await jest.advanceTimersByTimeAsync(1_050);
        expect(await settled(asked)).toEqual([true]);
        (await asked).release();
      }
    },
  );

  test('wastes nothing for it: one namespace that is alone gets nearly all', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 120 });
    limiter.share(true);
    const arrivals = crowd(limiter, 1_500, 100);
    await jest.advanceTimersByTimeAsync(10 * minute);
    expect(arrivals.length).toBeGreaterThan(0.97 * 10 * 120);
    expect(busiestMinute(arrivals)).toBeLessThanOrEqual(120);
  });

  test('half of it may be used at once, and all of it by one who shares with nobody', async () => {
    const [shared, alone] = [120, 120].map((requestsPerMinute) => new Limiter({ monotonic, requestsPerMinute }));
    shared?.share(true);
    for (const [limiter, atOnce] of [
      [shared, 60 + 1],
      [alone, 120],
    ] as const) {
      const asked = Array.from({ length: 200 }, () => limiter?.acquire({ priority: 'change' }) as Promise<unknown>);
      expect((await settled(...asked)).filter(Boolean)).toHaveLength(atOnce);
    }
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

describe('a 429', () => {
  test('stops every class until Retry-After has passed', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 100 });
    const slot = await limiter.acquire({ priority: 'change' });
    limiter.penalize(7_000);
    slot.release();
    const waiting = [
      limiter.acquire({ priority: 'change' }),
      limiter.acquire({ priority: 'first' }),
      limiter.acquire({ priority: 'resync' }),
    ];
    await jest.advanceTimersByTimeAsync(6_999);
    expect(await settled(...waiting)).toEqual([false, false, false]);
    expect(limiter.state().pausedUntilMs).toBeCloseTo(performance.now() + 1, 0);
    await jest.advanceTimersByTimeAsync(1);
    expect(await settled(...waiting)).toEqual([true, false, false]);
    expect(limiter.state()).not.toHaveProperty('pausedUntilMs');
  });

  test('starts again with one request, and each answer lets one more in', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 100 });
    const slot = await limiter.acquire({ priority: 'change' });
    limiter.penalize(1_000);
    slot.release();
    const waiting = Array.from({ length: 10 }, () => limiter.acquire({ priority: 'change' }));
    await jest.advanceTimersByTimeAsync(1_000);
    const running = async () => (await settled(...waiting)).filter(Boolean).length;
    const answer = async (index: number) => (await waiting[index])?.release();
    expect(await running()).toBe(1);
    await answer(0);
    expect(await running()).toBe(3);
    await answer(1);
    await answer(2);
    expect(await running()).toBe(7);
  });

  test('pauses 15 s without a Retry-After, the longer of two, and an hour at most', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 100 });
    const pause = () => (limiter.state().pausedUntilMs ?? 0) - performance.now();
    limiter.penalize(undefined);
    expect(pause()).toBe(15_000);
    limiter.penalize(1_000);
    expect(pause()).toBe(15_000);
    limiter.penalize(10 ** 12);
    expect(pause()).toBe(3_600_000);
  });

  test('tells changes at once that a pause takes long, those that wait already too; the rest waits for its end', async () => {
    const limiter = new Limiter({ monotonic, requestsPerMinute: 2 });
    await use(limiter, 'change', 1);
    const slot = await limiter.acquire({ priority: 'change' });
    const waiting = limiter.acquire({ priority: 'change' });
    const drift = limiter.acquire({ priority: 'resync' });
    limiter.penalize(60_000);
    slot.release();
    await expect(waiting).rejects.toMatchObject({ name: 'BudgetPausedError', retryAfterMs: 60_000 });
    await jest.advanceTimersByTimeAsync(49_000);
    await expect(limiter.acquire({ priority: 'change' })).rejects.toMatchObject({ retryAfterMs: 11_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    const late = limiter.acquire({ priority: 'change' });
    expect(await settled(late, drift)).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await late).waitedMs).toBeGreaterThanOrEqual(10_000);
  });
});
