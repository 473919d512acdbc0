import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock, type WallClock } from './clock.ts';

/** Time, chance, the network, files and variables as a process finds them, in one value, so that a simulator can own all of it. */
export interface Runtime {
  /** Of the wall: for times that are written down, or compared with what others wrote. */
  readonly clock: WallClock;
  /** For measuring: never set back or forward, goes on while the process is stopped, and its zero means nothing. */
  readonly monotonic: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** A text that no other call gives, here or anywhere. */
  readonly uuid: () => string;
  readonly hostname: string;
  /** The text of a file; rejects with the error of the system. */
  readonly readFile: (path: string) => Promise<string>;
  /** A variable of the environment. */
  readonly env: (name: string) => string | undefined;
  /** Carries every request in place of connections of its own; closed by whoever made it. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** What a server takes of it: it asks for nothing over the network. */
export type ServerRuntime = Pick<Runtime, 'clock' | 'monotonic' | 'random' | 'uuid'>;

export const systemRuntime: Runtime = {
  clock: systemClock,
  monotonic: { ...systemClock, now: () => performance.now() },
  random: Math.random,
  uuid: () => randomUUID(),
  hostname: hostname(),
  readFile: (path) => readFile(path, 'utf8'),
  // Not every system sets HOME, nor knows another home of every user: asked only where a variable does not say.
  env: (name) => process.env[name] ?? (name === 'HOME' ? homedir() : undefined),
};
