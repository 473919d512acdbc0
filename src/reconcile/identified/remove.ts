import { announce } from '../announce.ts';
import { externalIDOf } from '../claims.ts';
import type { ManagedSpec } from '../fields.ts';
import type { Outcome } from '../outcome.ts';
import { resolveCreate } from './resolve-create.ts';
import type { IdentifiedTurn } from './turn.ts';

/** Deletes the external object, once, and lets the resource go when a 204 or 404 confirms it. */
export async function remove<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
): Promise<Outcome> {
  const { kind, ledger, memory, uid } = turn;
  const resolved = await resolveCreate(turn);
  if ('report' in resolved) return resolved.report;
  const id = externalIDOf(resolved.object);
  // Deleted already when only the finalizer's removal failed last time.
  if (id !== undefined && memory.of(uid).deletedID !== id) {
    const result = await kind.delete(turn.account.client, id, turn.call);
    memory.of(uid).deletedID = id;
    ledger.observations.forget(id);
    announce(turn, 'Deleted', `${kind.noun} ${id} ${result === 'deleted' ? 'deleted' : 'was gone already'}`);
  }
  await turn.writer.removeFinalizer(resolved.object);
  return { kind: 'finished' };
}
