import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError, type ApiErrorReason } from '../../common/http/errors.ts';
import { ManualClock } from '../controller/manual-clock.fixture.ts';
import { Sweeps } from './sweeps.ts';

let clock: ManualClock;
let stop: AbortController;
let starts: number[];
let ends: (string | undefined)[];
let sweep: () => Promise<void>;
let running: Promise<void>;
/** How far the wall clock has been set. */
let setMs: number;

function start(intervalMs: number, random = 0): Sweeps {
  const sweeps = new Sweeps({
    sweep: (startedAt) => {
      starts.push(startedAt - 1_000_000);
      return sweep();
    },
    intervalMs,
    clock: { now: () => clock.now() + setMs },
    monotonic: clock,
    random: () => random,
    onEnd: (error) => ends.push(error?.message),
  });
  running = sweeps.run(stop.signal);
  return sweeps;
}

beforeEach(() => {
  clock = new ManualClock();
  stop = new AbortController();
  setMs = 0;
  starts = [];
  ends = [];
  sweep = async () => {};
});
afterEach(async () => {
  stop.abort();
  await running;
});

test('begins within a second, then so often that a change is seen within the interval', async () => {
  sweep = () => clock.sleep(2_000, stop.signal);
  start(30_000, 0.5);
  await clock.advance(100_000);
  expect(starts).toEqual([500, 24_500, 48_500, 72_500, 96_500]);
});

test('one that takes longer than the interval is followed at once, never overtaken', async () => {
  sweep = () => clock.sleep(45_000, stop.signal);
  start(30_000);
  await clock.advance(100_000);
  expect(starts).toEqual([0, 45_000, 90_000]);
});

test('a failed one is repeated sooner, and later and later, up to the interval', async () => {
  sweep = () => Promise.reject(new Error('no'));
  start(8_000, 1);
  await clock.advance(30_000);
  expect(starts).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 24_000]);
  expect(ends).toEqual(['no', 'no', 'no', 'no', 'no', 'no']);
  sweep = async () => {};
  await clock.advance(20_000);
  expect(starts.slice(6)).toEqual([32_000, 38_400, 44_800]);
  expect(ends.slice(6)).toEqual([undefined, undefined, undefined]);
});

test('a failed one that took long is repeated the later, and at last has a fifth of the time', async () => {
  sweep = async () => {
    await clock.sleep(60_000, stop.signal);
    throw new Error('no');
  };
  start(30_000, 1);
  await clock.advance(7_200_000);
  const apart = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
  expect(apart.slice(0, 3)).toEqual([68_000, 76_000, 92_000]);
  expect(apart.slice(5)).toEqual(Array(apart.length - 5).fill(300_000));
});

describe('a service that asks for a pause', () => {
  const refuse = (reason: ApiErrorReason, status: number, retryAfterMs: number) => {
    sweep = () => Promise.reject(new ApiError('no', { reason, status, definite: false, retryAfterMs }));
  };

  test.each([
    ['busy', 'RateLimited', 429],
    ['away', 'Unreachable', 503],
  ] as const)('%s: gets it, however long the interval', async (_why, reason, status) => {
    refuse(reason, status, 60_000);
    start(8_000);
    await clock.advance(130_000);
    expect(starts).toEqual([0, 60_000, 120_000]);
    expect(ends).toEqual(['no', 'no', 'no']);
  });

  test('is not asked sooner by now, and at once after it', async () => {
    refuse('Unreachable', 503, 10_000);
    const sweeps = start(30_000);
    await clock.advance(5_000);
    sweeps.now();
    await clock.advance(4_999);
    expect(starts).toEqual([0]);
    await clock.advance(1);
    expect(starts).toEqual([0, 10_000]);
  });

  test('does not make the next sweep come sooner than without', async () => {
    refuse('Unreachable', 503, 100);
    start(8_000, 1);
    await clock.advance(8_500);
    expect(starts).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  test('is asked at once with another key, where it refused the one before', async () => {
    refuse('Unauthorized', 401, 60_000);
    const sweeps = start(30_000);
    await clock.advance(100);
    sweeps.now();
    await clock.advance(0);
    expect(starts).toEqual([0, 100]);
  });

  test('does not hold up the end', async () => {
    refuse('Unreachable', 503, 3_600_000);
    start(30_000);
    await clock.advance(1_000);
    stop.abort();
    await running;
    expect(starts).toEqual([0]);
  });
});

test('now ends the pause', async () => {
  const sweeps = start(30_000);
  await clock.advance(10_000);
  sweeps.now();
  await clock.advance(0);
  expect(starts).toEqual([0, 10_000]);
});

test('now, during a sweep, leaves out the pause after it, once', async () => {
  sweep = () => clock.sleep(2_000, stop.signal);
  const sweeps = start(30_000);
  await clock.advance(1_000);
  sweeps.now();
  await clock.advance(30_000);
  expect(starts).toEqual([0, 2_000, 26_000]);
});

test('an abort ends pause and sweep, and is no failure', async () => {
  sweep = () => clock.sleep(45_000, stop.signal);
  start(30_000);
  await clock.advance(1_000);
  stop.abort();
  await running;
  expect(starts).toEqual([0]);
  expect(ends).toEqual([]);
});

test('a clock that is set back does not put the next sweep off', async () => {
  sweep = async () => {
    setMs = -3_600_000;
  };
  start(30_000);
  await clock.advance(24_000);
  expect(starts).toHaveLength(2);
});
