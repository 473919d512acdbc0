import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from './clock.ts';

/** Time, chance and the network as a process finds them, in one value, so that a simulator can own all of it. */
export interface Runtime {
  /** Of the wall: for times that are written down, or compared with what others wrote. */
  readonly clock: Clock;
  /** For measuring: never set back or forward, goes on while the process is stopped, and its zero means nothing. */
  readonly monotonic: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** A text that no other call gives, here or anywhere. */
  readonly uuid: () => string;
  readonly hostname: string;
  /** Carries every request in place of connections of its own; closed by whoever made it. */
  readonly dispatcher?: Dispatcher | undefined;
}

export const systemRuntime: Runtime = {
  clock: systemClock,
  monotonic: { ...systemClock, now: () => performance.now() },
  random: Math.random,
  uuid: () => randomUUID(),
  hostname: hostname(),
};
