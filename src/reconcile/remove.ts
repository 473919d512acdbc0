import { annotation, annotationOf, intentOf } from './annotations.ts';
import { announce } from './announce.ts';
import { externalIDOf } from './claims.ts';
import type { ManagedObject, ManagedSpec } from './fields.ts';
import type { Outcome } from './outcome.ts';
import { resolveCreate } from './resolve-create.ts';
import type { Tools, Turn } from './turn.ts';

/**
 * Lets a deleted resource go, and only after its external object is confirmed gone. Design section 3, delete.
 * The caller made sure that there may be an object and that it is this resource's to delete.
 */
export async function remove<Spec extends ManagedSpec, Observed, Client>(
  turn: Turn<Spec, Observed, Client>,
): Promise<Outcome<Observed>> {
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
  return letGo(turn, resolved.object);
}

/** Lets a deleted resource go without a call. */
export async function letGo<Observed>(
  tools: Pick<Tools<ManagedSpec, Observed, unknown>, 'writer'>,
  object: ManagedObject,
): Promise<Outcome<Observed>> {
  await tools.writer.removeFinalizer(object);
  return { kind: 'finished' };
}

/** Nothing of this resource is to be deleted in the cloud: by its policy, or because it never made anything. */
export function leavesNothing(object: ManagedObject): boolean {
  const kept = object.spec.deletionPolicy === 'Retain' || object.spec.managementPolicy === 'Observe';
  return kept || (externalIDOf(object) === undefined && intentOf(object) === undefined);
}

/** A person decided to leave the external object behind, whatever state it is in. */
export function isForceOrphan(object: ManagedObject): boolean {
  return annotationOf(object, annotation.forceOrphan) === 'true';
}

export function orphanNote(noun: string, object: ManagedObject): string {
  const id = externalIDOf(object);
  return id === undefined
    ? `an unanswered create of a ${noun} is left behind, as asked`
    : `${noun} ${id} is left behind, as asked`;
}
