import type { Facts } from './memory.ts';
import { type Outcome, rejectedRetryMs, report, reportFailure } from './outcome.ts';
import type { Turn } from './turn.ts';

/**
 * Attempts something, unless the very same was refused lately: what the cloud refused is not sent again before its
 * time, whatever else wakes the resource. `what` names the attempt: a changed one is another.
 */
export async function unlessRefused<Client>(
  turn: Turn<Client>,
  what: string,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const { clock } = turn;
  const refused = turn.memory.of(turn.uid).refused;
  const known = refused.get(what);
  if (known !== undefined && !turn.asked && clock.now() < known.until) {
    return report('Rejected', known.message, { retry: { kind: 'after', ms: known.until - clock.now() } });
  }
  const outcome = await attempt().catch(reportFailure);
  forgetAged(refused, clock.now());
  if (outcome.kind === 'reported' && outcome.reason === 'Rejected') {
    const until = known !== undefined && clock.now() < known.until ? known.until : clock.now() + rejectedRetryMs;
    refused.set(what, { until, message: outcome.message });
  } else {
    refused.delete(what);
  }
  return outcome;
}

function forgetAged(refused: Facts['refused'], now: number): void {
  for (const [what, { until }] of refused) if (until <= now) refused.delete(what);
}
