import { once } from 'node:events';

/**
 * Resolves at the first SIGTERM or SIGINT; the next one ends the process as usual. Call it before the line that says the
 * process is up: who reads that may signal at once.
 */
export async function stopSignal(): Promise<void> {
  const done = new AbortController();
  const signals = ['SIGTERM', 'SIGINT'].map((name) => once(process, name, { signal: done.signal }));
  for (const signal of signals) signal.catch(() => {});
  await Promise.race(signals);
  done.abort();
}
