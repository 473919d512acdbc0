import { keyOf } from '../kube/types.ts';
import { annotation, annotationOf } from './annotations.ts';
import type { ManagedObject } from './fields.ts';

/** The external id that a resource holds: as recorded, or, when its annotations were wiped, as its status remembers. */
export function externalIDOf(object: ManagedObject): string | undefined {
  const recorded = annotationOf(object, annotation.externalID);
  if (recorded !== undefined || annotationOf(object, annotation.createIntent) !== undefined) return recorded;
  const remembered = object.status?.id;
  return typeof remembered === 'string' && remembered !== '' ? remembered : undefined;
}

/** The account a resource uses, as a key that is unique in the cluster. */
export function accountKeyOf(object: ManagedObject): string {
  const ref = (object.spec.accountRef as { name?: string } | undefined)?.name;
  return ref === undefined ? 'default' : `${object.metadata.namespace}/${ref}`;
}

/** Index value under which everything that claims one external object is found. */
export function claimOf(object: ManagedObject): readonly string[] {
  const id = externalIDOf(object);
  return id === undefined ? [] : [`${accountKeyOf(object)} ${id}`];
}

/** Of several resources that claim one external object the oldest has it; this is the one before `object`, if any. */
export function winnerOver(object: ManagedObject, claimants: readonly ManagedObject[]): ManagedObject | undefined {
  return claimants.filter((other) => other.metadata.uid !== object.metadata.uid && older(other, object)).sort(byAge)[0];
}

function older(a: ManagedObject, b: ManagedObject): boolean {
  return byAge(a, b) < 0;
}

function byAge(a: ManagedObject, b: ManagedObject): number {
  return compare(ageKey(a), ageKey(b));
}

/** Creation times have whole seconds; names break the tie the same way on every replica. */
function ageKey(object: ManagedObject): string {
  return `${object.metadata.creationTimestamp ?? ''} ${keyOf(object)}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
