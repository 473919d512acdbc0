import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { monotonic, settled, use } from './limiter.fixture.ts';
import { Limiter } from './limiter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
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
