import type { ReconcileContext } from './context.ts';
import type { Facts } from './memory.ts';
import { type Outcome, type Report, rejectedRetryMs, report, reportFailure } from './outcome.ts';

/**
 * Attempts something, unless the very same was refused lately: what the cloud refused is not sent again before its
 * time, whatever else enqueues the resource. `what` names the attempt: a changed one is another.
 */
export async function unlessRefused<Client>(
  context: ReconcileContext<Client>,
  what: string,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const { monotonic } = context;
  const known = refusedLately(context, what);
  if (known !== undefined) return known;
  const { refused } = context.memory.of(context.uid);
  const outcome = await attempt().catch(reportFailure);
  forgetAged(refused, monotonic.now());
  if (outcome.kind === 'reported' && outcome.reason === 'Rejected') {
    const until = refused.get(what)?.until ?? monotonic.now() + rejectedRetryMs;
    refused.set(what, { until, message: outcome.message });
  } else {
    refused.delete(what);
  }
  return outcome;
}

/** What there is to report of an attempt that is not to be made yet, unless a person asks for it. */
export function refusedLately<Client>(
  { memory, uid, requested, monotonic }: ReconcileContext<Client>,
  what: string,
): Report | undefined {
  const known = memory.of(uid).refused.get(what);
  if (known === undefined || requested || monotonic.now() >= known.until) return undefined;
  return report('Rejected', known.message, { retry: { kind: 'after', ms: known.until - monotonic.now() } });
}

/** @param fields of the spec, by name */
export function notTaken(displayName: string, fields: readonly string[]): Report {
  const message = `the cloud accepted an update of the ${displayName} but did not take ${fields.join(', ')}: change the value`;
  return report('Rejected', message);
}

function forgetAged(refused: Facts['refused'], now: number): void {
  for (const [what, { until }] of refused) if (until <= now) refused.delete(what);
}
