import { jest } from '@jest/globals';
import { type Clock, systemClock } from '../../common/clock.ts';
import type { Priority } from '../../common/priority.ts';
import type { Limiter } from './limiter.ts';

export const minute = 60_000;

/** On the timers that Jest turns. */
export const monotonic: Clock = {
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
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

export interface Arrival {
  readonly at: number;
  readonly priority: Priority;
}

/** A server with jittered latency both ways, and a client that sends through the limiter. */
export function simulate(limiter: Limiter, random: () => number, latencyMs: number) {
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

export function busiestMinute(
  arrivals: readonly Arrival[],
  counts: (arrival: Arrival) => boolean = () => true,
): number {
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
export async function use(limiter: Limiter, priority: Priority, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const slot = await limiter.acquire({ priority });
    slot.release();
  }
}

/** Which of the promises has settled after what is due now has run. */
export async function settled(...promises: readonly Promise<unknown>[]): Promise<readonly boolean[]> {
  const done = promises.map(() => false);
  for (const [index, promise] of promises.entries()) promise.then(() => (done[index] = true)).catch(() => {});
  await jest.advanceTimersByTimeAsync(0);
  return done;
}
