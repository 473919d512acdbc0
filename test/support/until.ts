import { setTimeout as sleep } from 'node:timers/promises';

const [soonestMs, latestMs] = [20, 150];

/**
 * Polls until `probe` gives something that is neither undefined nor false; fails with what it gave last. The longer it
 * takes the less often, so that waiting leaves the processor to what is waited for.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 30_000,
): Promise<T> {
  const startedAt = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined && result !== false) return result;
      last = result;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs)
      throw new Error(`waited ${timeoutMs} ms for ${what}; last: ${String(last)}`, { cause: last });
    await sleep(Math.min(soonestMs + waitedMs / 10, latestMs));
  }
}
