import { once } from 'node:events';

/** A plain kill, Ctrl-C, and a terminal that is closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Resolves at the first of them; the next one ends the process as usual. Call it before the line that says the
 * process is up: who reads that may signal at once.
 */
export async function stopSignal(): Promise<void> {
  const done = new AbortController();
  const signals = stopSignals.map((name) => once(process, name, { signal: done.signal }));
  for (const signal of signals) signal.catch(() => {});
  await Promise.race(signals);
  done.abort();
}
