import { describe, expect, test } from '@jest/globals';
import type { ManagedObject } from './resource/resource.ts';
import { Schedule } from './schedule.ts';

const resource = (seconds?: number) => ({ spec: { resyncIntervalSeconds: seconds } }) as unknown as ManagedObject;

describe('the checks of a resource', () => {
  test.each([
    ['at the moment they are counted from', 1_000, 1_000, undefined, 1_000, 60_000],
    ['between two of them', 90_000, 1_000, undefined, 61_000, 31_000],
    ['before it', 0, 1_000, undefined, -59_000, 1_000],
    ['of an interval of its own', 200_000, 0, 90, 180_000, 70_000],
    ['of one that is too short', 45_000, 0, 10, 30_000, 15_000],
  ])('%s', (_, now, epoch, seconds, last, untilNext) => {
    const schedule = new Schedule({ now: () => now, resyncIntervalMs: 60_000, epochOf: () => epoch });
    expect([schedule.lastDue(resource(seconds)), schedule.msUntilDue(resource(seconds))]).toEqual([last, untilNext]);
  });
});
