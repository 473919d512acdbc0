import { freshSince } from '../context.ts';
import type { ManagedSpec } from '../resource.ts';
import type { IdentifiedTurn } from './context.ts';

/**
 * What is out there under this id; undefined when it certainly does not exist.
 *
 * Something a person asked for is answered by a fresh get. Everything else is answered by the account-wide sweep, as
 * long as it began after the resource was last due for a check and after its last failed call.
 */
export async function observe<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  id: string,
): Promise<Observed | undefined> {
  const { ledger, memory, uid } = turn;
  const since = freshSince(turn);
  const known = ledger.observations.known(id, since);
  if (known !== undefined) return seen(known);
  if (!turn.asked) {
    await ledger.observations.sweep(since, turn.call);
    const swept = ledger.observations.known(id, since);
    if (swept !== undefined) return seen(swept);
  }
  const sentAt = turn.clock.now();
  const observed = await turn.kind.get(turn.account.client, id, turn.call);
  if (observed !== undefined) ledger.observations.record(observed, sentAt);
  return seen(observed);

  function seen(result: Observed | undefined): Observed | undefined {
    memory.of(uid).observed = true;
    return result;
  }
}
