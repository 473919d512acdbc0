import { announce } from '../announce.ts';
import { isCallFailure } from '../external.ts';
import type { ManagedObject, ManagedSpec } from '../fields.ts';
import { fingerprint } from '../json.ts';
import type { IdentifiedTurn } from './turn.ts';

/**
 * Creates the external object so that a crash at any point leaves either nothing, or an intent by which the next
 * reconcile finds what was made. Mark, call, record: docs/adr/0001-lost-creates.md.
 */
export async function createSafely<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  object: ManagedObject,
  spec: Spec,
): Promise<ManagedObject> {
  const { kind, writer, ledger, uid } = turn;
  ledger.unclaim(uid);
  const content = fingerprint(kind.content(spec));
  const at = new Date(turn.clock.now()).toISOString();
  const marked = await writer.beginCreate(object, { nonce: turn.nonce(), at, content });
  const observed = await ledger.creating(uid, content, () => post(turn, marked, spec));
  const { id } = kind.identity(observed);
  const recorded = await writer.recordCreated(marked, id);
  announce(turn, 'Created', `created ${kind.noun} ${id}`);
  return recorded;
}

async function post<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  marked: ManagedObject,
  spec: Spec,
): Promise<Observed> {
  const { kind, ledger, uid, clock } = turn;
  const facts = turn.memory.of(uid);
  try {
    const observed = await kind.create(turn.account.client, spec, turn.call);
    // Claimed before the create counts as over: a look-up for a twin must see either the one or the other.
    ledger.claim(uid, kind.identity(observed).id);
    ledger.observations.record(observed, clock.now());
    delete facts.lostCreates;
    return observed;
  } catch (error) {
    if (isCallFailure(error) && error.definite) await turn.writer.cancelCreate(marked);
    else {
      facts.unresolvedSince = clock.now();
      facts.lostCreates = (facts.lostCreates ?? 0) + 1;
    }
    throw error;
  }
}
