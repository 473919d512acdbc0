import type { Runtime } from '../../common/runtime.ts';
import type { ManagedObject } from './resource.ts';

export interface ScheduleOptions extends Pick<Runtime, 'monotonic'> {
  readonly resyncIntervalMs: number;
  /**
   * The moment that a resource's drift checks are counted from. The same for all where one sweep serves all; spread
   * over the interval where each resource takes calls of its own.
   */
  readonly epochOf: (object: ManagedObject) => number;
}

/** The last moment at which the resource was due for a drift check. */
export function lastDue(options: ScheduleOptions, object: ManagedObject): number {
  const now = options.monotonic.now();
  const interval = resyncIntervalOf(object, options.resyncIntervalMs);
  const elapsed = (now - options.epochOf(object)) % interval;
  return now - (elapsed < 0 ? elapsed + interval : elapsed);
}

export function msUntilDue(options: ScheduleOptions, object: ManagedObject): number {
  return lastDue(options, object) + resyncIntervalOf(object, options.resyncIntervalMs) - options.monotonic.now();
}

function resyncIntervalOf(object: ManagedObject, fallbackMs: number): number {
  const seconds = object.spec.resyncIntervalSeconds;
  return typeof seconds === 'number' ? Math.max(30, seconds) * 1_000 : fallbackMs;
}
