import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Arrival, busiestMinute, minute, monotonic, randomFrom, settled, use } from './limiter.fixture.ts';
import { Limiter } from './limiter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
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
