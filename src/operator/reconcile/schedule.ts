import { hash } from 'node:crypto';
import type { ManagedObject } from './resource/resource.ts';

export interface ScheduleOptions {
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
  /** Of a resource that does not say otherwise. */
  readonly resyncIntervalMs: number;
  /**
   * The moment that a resource's drift checks are counted from. The same for all where one sweep serves all; spread
   * over the interval where each resource takes calls of its own.
   */
  readonly epochOf: (object: ManagedObject) => number;
}

/** When the resources of one kind are due for a drift check; moments are of the monotonic clock. */
export class Schedule {
  readonly #options: ScheduleOptions;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** The last moment at which the resource was due. */
  lastDue(object: ManagedObject): number {
    const now = this.#options.now();
    const interval = this.#intervalOf(object);
    const elapsed = (now - this.#options.epochOf(object)) % interval;
    return now - (elapsed < 0 ? elapsed + interval : elapsed);
  }

  msUntilDue(object: ManagedObject): number {
    return this.lastDue(object) + this.#intervalOf(object) - this.#options.now();
  }

  #intervalOf({ spec: { resyncIntervalSeconds: seconds } }: ManagedObject): number {
    return typeof seconds === 'number' ? Math.max(30, seconds) * 1_000 : this.#options.resyncIntervalMs;
  }
}

/** 0 to 2^32, evenly: a part of any interval. */
export function spread(text: string): number {
  return hash('sha256', text, 'buffer').readUInt32BE();
}
