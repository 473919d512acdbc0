import { describe, expect, test } from '@jest/globals';
import { Breaker } from './breaker.ts';

class Away extends Error {}

function set(options: { random?: () => number } = {}) {
  const clock = { now: 1_000 };
  const breaker = new Breaker<Away>({ minMs: 100, maxMs: 400, now: () => clock.now, ...options });
  const away = new Away('away');
  const fail = (error: Error = away) =>
    breaker
      .try(
        () => Promise.reject(error),
        (each) => (each instanceof Away ? each : undefined),
      )
      .catch((each: unknown) => each);
  const succeed = () =>
    breaker.try(
      async () => 'here',
      () => undefined,
    );
  return { breaker, clock, away, fail, succeed };
}

describe('Breaker', () => {
  test('tells the same failure until the pause is over', async () => {
    const { breaker, clock, away, fail } = set();
    breaker.check();
    expect(await fail()).toBe(away);
    expect(breaker.failure).toBe(away);
    clock.now += 99;
    expect(() => breaker.check()).toThrow(away);
    clock.now += 1;
    breaker.check();
  });

  test('pauses longer with each failure, up to the longest', async () => {
    const { breaker, clock, fail } = set();
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      await fail();
      pauses.push(breaker.retryInMs());
      clock.now += breaker.retryInMs();
    }
    expect(pauses).toEqual([100, 200, 400, 400]);
  });

  test('whose pause is ended has one find out at once, and pauses longer where that fails too', async () => {
    const { breaker, away, fail } = set();
    breaker.endPause();
    breaker.check();
    await fail();
    breaker.endPause();
    breaker.check();
    const probe = fail();
    expect(() => breaker.check()).toThrow(away);
    await probe;
    expect(breaker.retryInMs()).toBe(200);
    expect(breaker.failure).toBe(away);
  });

  test('several that fail at once are one failure', async () => {
    const { breaker, fail } = set();
    await Promise.all([fail(), fail(), fail()]);
    expect(breaker.retryInMs()).toBe(100);
  });

  test('after the pause one finds out for the others', async () => {
    const { breaker, clock, away, fail } = set();
    await fail();
    clock.now += 100;
    const answer = Promise.withResolvers<void>();
    const probe = breaker.try(
      () => answer.promise,
      () => undefined,
    );
    expect(() => breaker.check()).toThrow(away);
    answer.resolve();
    await probe;
    breaker.check();
    expect(breaker.failure).toBeUndefined();
  });

  test('success starts the pauses afresh; an error of another sort passes and tells nothing', async () => {
    const { breaker, clock, away, fail, succeed } = set();
    await fail();
    clock.now += 100;
    expect(await succeed()).toBe('here');
    await fail();
    expect(breaker.retryInMs()).toBe(100);
    clock.now += 100;
    const other = new Error('refused');
    expect(await fail(other)).toBe(other);
    expect(breaker.failure).toBe(away);
    await fail();
    expect(breaker.retryInMs()).toBe(200);
  });

  test('jitter takes up to half of a pause', async () => {
    const { breaker, fail } = set({ random: () => 0 });
    await fail();
    expect(breaker.retryInMs()).toBe(50);
  });

  test('a clock that is set back does not put the next try off', async () => {
    const { breaker, clock, fail } = set();
    await fail();
    clock.now -= 1_000_000;
    expect(breaker.retryInMs()).toBe(400);
  });
});
