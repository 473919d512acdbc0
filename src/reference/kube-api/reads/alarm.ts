import type { Clock } from '../../../common/clock.ts';

/** Calls `ring` after `ms`; returns the function that prevents it. */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  const prevented = new AbortController();
  clock.sleep(ms, prevented.signal).then(ring, () => {});
  // Nobody is told the reason, and the one that is made without would cost more than all the rest.
  return () => prevented.abort('prevented');
}
