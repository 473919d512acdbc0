import { performance } from 'node:perf_hooks';
import { type Clock, systemClock } from '../../common/clock.ts';

/** For measuring time: never set back or forward, but its zero means nothing. */
export const monotonicClock: Clock = { now: () => performance.now(), sleep: systemClock.sleep };
