import { setTimeout as timer } from 'node:timers/promises';

/** Time, injected so that tests can own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborts after `ms`, with an error named TimeoutError. Unlike a sleep it does not keep the process from ending. */
  timeout(ms: number): AbortSignal;
}

/** Tells what time it is; it may be set at any moment, so that what lies between two of its times is no measure of anything. */
export type WallClock = Pick<Clock, 'now'>;

/** To abort by what nobody waits for any more: without a reason each abort makes an exception, with a stack trace. */
export const cancelled = new Error('cancelled');

/** A longer timer of Node fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      let leftMs = ms;
      do {
        const partMs = Math.min(leftMs, longestTimerMs);
        await timer(partMs, undefined, signal === undefined ? {} : { signal });
        leftMs -= partMs;
      } while (leftMs > 0);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
  timeout: (ms) => AbortSignal.timeout(ms),
};
