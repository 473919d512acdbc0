import type { ReconcileContext } from './context.ts';

/** Before what vanished again is made again; doubling. */
const shortestPauseMs = 60_000;
const longestPauseMs = 3_600_000;

type Remembered = Pick<ReconcileContext<unknown>, 'facts' | 'time'>;

const never = { times: 0, at: Number.NEGATIVE_INFINITY };

/** What vanishes again and again is made again later and later: how often it was, and how long that takes yet. */
export function nextRecreation({ facts, time }: Remembered): { readonly times: number; readonly waitMs: number } {
  const { times, at } = facts.recreated ?? never;
  const pauseMs = times === 0 ? 0 : Math.min(shortestPauseMs * 2 ** (times - 1), longestPauseMs);
  return { times, waitMs: at + pauseMs - time.now() };
}

/** Another one was begun in place of what vanished. */
export function noteRecreation({ facts, time }: Remembered): void {
  const { times, at } = facts.recreated ?? never;
  const now = time.now();
  facts.recreated = { times: now - at > 2 * longestPauseMs ? 1 : times + 1, at: now };
}

/** It is there. What has stood for so long has come to stay, where it is common that much goes at once. */
export function noteStanding({ facts, time }: Remembered): void {
  if (time.now() - (facts.recreated ?? never).at >= shortestPauseMs) delete facts.recreated;
}
