import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import type { Facts } from '../resource/memory.ts';
import { type Report, rejectedRetryMs, report, reportFailure } from './outcome.ts';

type Attempting = Pick<ReconcileContext<unknown>, 'facts' | 'occasion' | 'time' | 'connection'>;

/**
 * Attempts something, unless the very same was refused lately, or forbidden to the key, or had nothing to be done to: that is
 * not sent again before its time, which comes twice as late each time, up to `rejectedRetryMs`, whatever else enqueues the
 * resource, but with another key. `what` names the attempt: a changed one is another. undefined: it is done.
 */
export async function unlessRefused<Done extends Report | undefined>(
  context: Attempting,
  what: string,
  attempt: () => Promise<Done>,
): Promise<Done | Report> {
  const { facts, time } = context;
  const known = refusedLately(context, what);
  if (known !== undefined) return known;
  // Not when it was answered: another key may be in force by then.
  const at = time.now();
  const outcome: Done | Report = await attempt().catch(reportFailure);
  const now = time.now();
  const before = facts.refused?.get(what);
  forgetAged(facts, now);
  if (outcome === undefined || outcome.reason === 'Available') facts.refused?.delete(what);
  const firstMs = outcome === undefined ? 0 : firstPauseOf(outcome);
  if (outcome === undefined || firstMs === 0) return outcome;
  const { reason, message, stalled, retry } = outcome;
  // What was known before it was attempted is not to be relied on.
  if (retry.kind === 'backoff') facts.failedAt = now;
  const pauseMs = Math.max(firstMs, Math.min((before?.pauseMs ?? 0) * 2, rejectedRetryMs));
  // Whoever asks in between moves nothing.
  const until = before !== undefined && before.until > now ? before.until : now + pauseMs;
  facts.refused ??= new Map();
  facts.refused.set(what, { reason, message, stalled, at, until, pauseMs });
  return { ...outcome, retry: { kind: 'after', ms: until - now } };
}

function firstPauseOf({ reason, pauseMs }: Report): number {
  return pauseMs ?? (reason === 'Rejected' ? rejectedRetryMs : 0);
}

/** What there is to report of an attempt that is not to be made yet, unless a person asks for it. */
export function refusedLately({ facts, occasion, time, connection }: Attempting, what: string): Report | undefined {
  const known = facts.refused?.get(what);
  if (known === undefined || occasion.requested || time.now() >= known.until) return undefined;
  // With another key it may be another account.
  if (known.at < keySinceOf(connection)) return undefined;
  const { reason, message, stalled, until } = known;
  return report(reason, message, { stalled, retry: { kind: 'after', ms: until - time.now() } });
}

/**
 * Notes which fields were sent of what is there. True where one of them was sent before for the same and has become otherwise
 * since: the answer to a write may show what was sent, and no more.
 * @param as what it is to be
 */
export function isSentAgain(
  { facts }: Pick<Attempting, 'facts'>,
  name: string,
  as: string,
  fields: readonly string[],
): boolean {
  if (fields.length === 0) return false;
  const last = facts.sent?.get(name);
  const before = last?.as === as ? last.fields : [];
  facts.sent ??= new Map();
  facts.sent.set(name, { as, fields: [...new Set([...before, ...fields])] });
  return fields.some((field) => before.includes(field));
}

/** @param fields of the spec, by name */
export function notTaken(displayName: string, fields: readonly string[]): Report {
  const message = `the cloud accepted an update of the ${displayName} but did not take ${fields.join(', ')}: change the value`;
  return report('Rejected', message);
}

/** How long something has been in vain is known for as long as it may take to find that it still is. */
function forgetAged({ refused = new Map() }: Facts, now: number): void {
  for (const [what, { until }] of refused) if (until + rejectedRetryMs <= now) refused.delete(what);
}
