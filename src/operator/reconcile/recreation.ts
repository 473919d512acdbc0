import type { ReconcileContext } from './context.ts';

/** Before what vanished again is made again: doubling from the one to the other. */
export interface Pauses {
  readonly shortestMs: number;
  readonly longestMs: number;
}

const usualPauses: Pauses = { shortestMs: 60_000, longestMs: 3_600_000 };
/** What has stood for so long has come to stay, where it is common that much goes at once. */
const standingMs = 60_000;

type Remembered = Pick<ReconcileContext<unknown>, 'facts' | 'time'>;

const never = { times: 0, at: Number.NEGATIVE_INFINITY };

/** What vanishes again and again is made again later and later: how often it was, and how long that takes yet. */
export function nextRecreation(
  { facts, time }: Remembered,
  { shortestMs, longestMs } = usualPauses,
): { readonly times: number; readonly waitMs: number } {
  const { times, at } = facts.recreated ?? never;
  const pauseMs = times === 0 ? 0 : Math.min(shortestMs * 2 ** (times - 1), longestMs);
  return { times, waitMs: at + pauseMs - time.now() };
}

/** Another one was begun in place of what vanished. */
export function noteRecreation({ facts, time }: Remembered): void {
  const { times, at } = facts.recreated ?? never;
  const now = time.now();
  facts.recreated = { times: now - at > 2 * usualPauses.longestMs ? 1 : times + 1, at: now };
}

/** It is there. */
export function noteStanding({ facts, time }: Remembered): void {
  if (time.now() - (facts.recreated ?? never).at >= standingMs) delete facts.recreated;
}
