import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until `probe` gives something that is neither undefined nor false; fails with what it gave last. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined && result !== false) return result;
      last = result;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${timeoutMs} ms for ${what}; last: ${String(last)}`, { cause: last });
    await sleep(30);
  }
}
