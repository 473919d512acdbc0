import { ownershipOf } from '../ownership/ownership.ts';
import { conditionOf, type ManagedObject, type PartGenerations } from '../resource/resource.ts';
import type { Part } from './part.ts';

type Known = Pick<Part<never, never>, 'name' | 'condition'>;

/** For which generation of its resource a part was. Where that is not on record, as by an earlier release, its condition may tell. */
export function generationsOf(object: ManagedObject, { name, condition }: Known): PartGenerations {
  const recorded = ownershipOf(object).generations?.[name];
  if (recorded !== undefined || condition === undefined) return recorded ?? {};
  const { status, observedGeneration } = conditionOf(object, condition) ?? {};
  return status === 'True' && observedGeneration !== undefined
    ? { asked: observedGeneration, inPlace: observedGeneration }
    : {};
}

/**
 * Of a part that the spec does not name: a definition of an older release took it out of what is served, since it was asked for as
 * of now. Whoever takes it out himself makes a later generation; what is restored begins anew with the first.
 */
export function isTakenOut(object: ManagedObject, part: Known): boolean {
  const { asked } = generationsOf(object, part);
  const { generation = 1 } = object.metadata;
  return asked !== undefined && asked >= Math.max(generation, object.status?.observedGeneration ?? 0);
}

/** As of now, whatever becomes of the part: what a definition takes out of the spec later is told by that. */
export function askedNow(object: ManagedObject, part: Known, named: boolean): PartGenerations {
  const { generation = 1 } = object.metadata;
  const isAsked = named || isTakenOut(object, part);
  return { ...generationsOf(object, part), ...(isAsked && { asked: generation }) };
}
