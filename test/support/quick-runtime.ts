import type { Clock } from '../../src/common/clock.ts';
import { type Runtime, systemRuntime } from '../../src/common/runtime.ts';

/** A runtime whose time runs `times` as fast as that of the system, from now on. */
export function quickRuntime(times: number): Runtime {
  return {
    ...systemRuntime,
    clock: quick(systemRuntime.clock, times),
    monotonic: quick(systemRuntime.monotonic, times),
  };
}

function quick(clock: Clock, times: number): Clock {
  const startedAt = clock.now();
  return {
    now: () => startedAt + times * (clock.now() - startedAt),
    sleep: (ms, signal) => clock.sleep(ms / times, signal),
    timeout: (ms) => clock.timeout(Math.ceil(ms / times)),
  };
}
