import type { ReconcileContext } from './context.ts';
import type { Facts } from './memory.ts';
import { type Outcome, type Report, rejectedRetryMs, report, reportFailure } from './outcome.ts';

type Attempting = Pick<ReconcileContext<unknown>, 'facts' | 'occasion' | 'time'>;

/**
 * Attempts something, unless the very same was refused lately: what the cloud refused is not sent again before its
 * time, whatever else enqueues the resource. `what` names the attempt: a changed one is another.
 */
export async function unlessRefused(
  context: Attempting,
  what: string,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const { facts, time } = context;
  const known = refusedLately(context, what);
  if (known !== undefined) return known;
  const outcome = await attempt().catch(reportFailure);
  forgetAged(facts, time.now());
  if (outcome.kind === 'reported' && outcome.reason === 'Rejected') {
    const until = facts.refused?.get(what)?.until ?? time.now() + rejectedRetryMs;
    facts.refused ??= new Map();
    facts.refused.set(what, { until, message: outcome.message });
  } else {
    facts.refused?.delete(what);
  }
  return outcome;
}

/** What there is to report of an attempt that is not to be made yet, unless a person asks for it. */
export function refusedLately({ facts, occasion, time }: Attempting, what: string): Report | undefined {
  const known = facts.refused?.get(what);
  if (known === undefined || occasion.requested || time.now() >= known.until) return undefined;
  return report('Rejected', known.message, { retry: { kind: 'after', ms: known.until - time.now() } });
}

/** @param fields of the spec, by name */
export function notTaken(displayName: string, fields: readonly string[]): Report {
  const message = `the cloud accepted an update of the ${displayName} but did not take ${fields.join(', ')}: change the value`;
  return report('Rejected', message);
}

function forgetAged({ refused = new Map() }: Facts, now: number): void {
  for (const [what, { until }] of refused) if (until <= now) refused.delete(what);
}
