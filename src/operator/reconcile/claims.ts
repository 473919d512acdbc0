import { keyOf } from '../kube/types.ts';
import { annotation, annotationOf, isUsableID } from './annotations.ts';
import type { ManagedObject } from './resource.ts';

/** The external id that a resource holds: as recorded, or, when its annotations were wiped, as its status remembers. */
export function externalIDOf(object: ManagedObject): string | undefined {
  const recorded = annotationOf(object, annotation.externalID);
  if (recorded !== undefined && isUsableID(recorded)) return recorded;
  if (annotationOf(object, annotation.createIntent) !== undefined) return undefined;
  const remembered = object.status?.id;
  return typeof remembered === 'string' && remembered !== '' ? remembered : undefined;
}

/** Why nothing can be done with the external id that a person wrote. */
export function unusableID(object: ManagedObject): string | undefined {
  const id = annotationOf(object, annotation.externalID);
  if (id === undefined || isUsableID(id)) return undefined;
  const shown = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
  return `the annotation ${annotation.externalID} is ${shown}, which is no id: an id is up to 128 letters, digits, "_" and "-"`;
}

/** The account a resource uses, as a key that is unique in the cluster: the one that holds what it made, if any. */
export function accountKeyOf(object: ManagedObject): string {
  const account = holdingAccountOf(object) ?? requestedAccountOf(object);
  return account === defaultAccount ? defaultAccount : account.replace(accountPrefix, `${object.metadata.namespace}/`);
}

const defaultAccount = 'default';
const accountPrefix = 'CloudAccount/';

/** The account that the spec names, as the annotation `account` has it. */
export function requestedAccountOf({ spec }: ManagedObject): string {
  const ref = (spec.accountRef as { name?: string } | undefined)?.name;
  return ref === undefined ? defaultAccount : accountPrefix + ref;
}

/** Why a resource cannot be with the account that its spec names: what it made would be left behind in another. */
export function movedAccount(object: ManagedObject): string | undefined {
  const holding = holdingAccountOf(object);
  if (holding === undefined || holding === requestedAccountOf(object)) return undefined;
  const where = holding === defaultAccount ? 'the default account' : holding;
  return `spec.accountRef: what this resource made is in ${where}: set it back, or delete this resource and create another`;
}

/** Undefined while the resource has made nothing. */
function holdingAccountOf(object: ManagedObject): string | undefined {
  const created = annotationOf(object, annotation.createdID);
  const made = created !== undefined && created === annotationOf(object, annotation.externalID);
  const begun = annotationOf(object, annotation.createIntent) ?? annotationOf(object, annotation.appliedParts);
  return made || begun !== undefined ? annotationOf(object, annotation.account) : undefined;
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

export function oldestFirst(objects: readonly ManagedObject[]): ManagedObject[] {
  return objects.toSorted(byAge);
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
