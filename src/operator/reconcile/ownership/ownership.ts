import { isUsableID } from '../../../common/cloud-id.ts';
import { plainName } from '../../kube/installation-name.ts';
import { keyOf } from '../../kube/types.ts';
import type { Connection } from '../connections/connection.ts';
import { annotation, annotationOf, hasIntent, isPaused, recordIn } from '../resource/annotations.ts';
import { isDeleting, type ManagedObject, type Ownership } from '../resource/resource.ts';

/*
 * Whose an external object is. The record is in the status, which tenants cannot write: it is proof. Annotations keep a
 * copy that is written before a call and outlives the loss of the status; whoever may write the resource can forge them,
 * so that they are trusted no further than the resource's own namespace and account.
 */

/** What this resource is known to hold, by its status; empty when nothing is. */
export function ownershipOf({ status }: ManagedObject): Ownership {
  return status?.ownership ?? {};
}

/** What it had is removed, and it could not be let go yet. A backup brings the word along to another resource, of which it says nothing. */
export function isRemoved(object: ManagedObject): boolean {
  const { removedFor } = ownershipOf(object);
  return isDeleting(object) && removedFor !== undefined && removedFor === object.metadata.uid;
}

/** The installation of the operator that manages the resource; undefined when none has begun to. */
export function installationOf(object: ManagedObject): string | undefined {
  return ownershipOf(object).installation ?? recordIn(object, annotation.installation);
}

/** Whether two names are of one installation: one of them may lack the uid of its namespace, where that could not be read. */
export function isSameInstallation(a: string, b: string): boolean {
  const [plainA, plainB] = [a, b].map(plainName);
  return a === b || (plainA === plainB && (a === plainA || b === plainB));
}

/** The external object that is this resource's: created by it, or imported and then managed. */
export function ownedIDOf(object: ManagedObject): string | undefined {
  return ownershipOf(object).id ?? recordIn(object, annotation.createdID);
}

/** The external id that a resource stands for: what it owns, or else what a person named, or what its status remembers. */
export function externalIDOf(object: ManagedObject): string | undefined {
  const named = ownedIDOf(object) ?? namedIDOf(object);
  if (named !== undefined || hasIntent(object)) return named;
  const remembered = object.status?.id;
  return typeof remembered === 'string' && remembered !== '' ? remembered : undefined;
}

/** What it stood for, and neither has on record nor names any more: it was looked at, and is nobody's because of that. */
export function formerlyNamedIDOf(object: ManagedObject): string | undefined {
  return ownedIDOf(object) === undefined && namedIDOf(object) === undefined ? externalIDOf(object) : undefined;
}

function namedIDOf(object: ManagedObject): string | undefined {
  const id = annotationOf(object, annotation.externalID);
  return id !== undefined && isUsableID(id) ? id : undefined;
}

/** Why nothing can be done with the external id that a person wrote. */
export function unusableID(object: ManagedObject): string | undefined {
  const id = annotationOf(object, annotation.externalID);
  if (id === undefined || isUsableID(id)) return undefined;
  const shown = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
  return `the annotation ${annotation.externalID} is ${shown}, which is no id: an id is up to 128 letters, digits, "_" and "-"`;
}

/** What a person named although the resource owns another object. */
export function misnamedIDOf(object: ManagedObject): string | undefined {
  const [owned, named] = [ownedIDOf(object), annotationOf(object, annotation.externalID)];
  return owned === named || owned === undefined ? undefined : named;
}

export type Origin = Ownership['how'];

/** How the external object came to be this resource's. */
export function originOf(object: ManagedObject, id: string): NonNullable<Origin> {
  const { id: owned, how } = ownershipOf(object);
  if (owned === id && how !== undefined) return how;
  return recordIn(object, annotation.createdID) === id ? 'Created' : 'Imported';
}

/** The parts that this resource applied and that are therefore its to remove. */
export function appliedParts(object: ManagedObject): ReadonlySet<string> {
  const recorded = recordIn(object, annotation.appliedParts);
  // The annotation is the newer one, unless somebody wiped all of them.
  const isWiped = recorded === undefined && recordIn(object, annotation.account) === undefined;
  const names = isWiped ? (ownershipOf(object).parts ?? []) : (recorded?.split(',') ?? []);
  return new Set(names.filter((name) => name !== ''));
}

/** As records and keys name the operator's own account. */
export const defaultKey = 'default';
const namedAccount = /^CloudAccount\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The account that a resource uses, as a key that is unique in the cluster: the one that holds what it made, if any. */
export function accountKeyOf(object: ManagedObject): string {
  return keyIn(object, holdingAccountOf(object) ?? requestedAccountOf(object));
}

/** The account that the spec names, as such a key. */
export function requestedKeyOf(object: ManagedObject): string {
  return keyIn(object, requestedAccountOf(object));
}

function keyIn({ metadata: { namespace } }: ManagedObject, account: string): string {
  if (account === defaultKey) return defaultKey;
  // Not by the form of a name: specs may name what no account can be called.
  return `${namespace}/${account.replace(/^CloudAccount\//, '')}`;
}

/** The account that the spec names, as the record has it: `default`, or `CloudAccount/` and a name in the same namespace. */
export function requestedAccountOf({ spec }: ManagedObject): string {
  const ref = (spec.accountRef as { name?: string } | undefined)?.name;
  return ref === undefined ? defaultKey : `CloudAccount/${ref}`;
}

/** The account of a connection; nothing of the resource's spec, which may name another one by now. */
type Place = Pick<Connection<unknown>, 'key' | 'url'>;

/** Where what a resource makes is, for its status. */
export function placeOf({ key, url }: Place): Pick<Ownership, 'account' | 'apiURL'> {
  const account = key === defaultKey ? key : `CloudAccount/${key.slice(key.indexOf('/') + 1)}`;
  return { account, ...(url === undefined ? {} : { apiURL: url }) };
}

/** The same, for its annotations. */
export function placeRecord(place: Place): Readonly<Record<string, string | null>> {
  const { account = null, apiURL = null } = placeOf(place);
  return { [annotation.account]: account, [annotation.apiURL]: apiURL };
}

/** What annotations say of the place of what is not there any more, or never was. */
export const nowhere: Readonly<Record<string, null>> = {
  [annotation.account]: null,
  [annotation.apiURL]: null,
  [annotation.keyMark]: null,
};

/** Why a resource cannot be with the account that its spec names: what it made would be left behind in another. */
export function movedAccount(object: ManagedObject): string | undefined {
  const holding = holdingAccountOf(object);
  if (holding === undefined || holding === requestedAccountOf(object)) return undefined;
  const where = holding === defaultKey ? 'the default account' : holding;
  const [what, how] = ownershipOf(object).how === 'Imported' ? ['imported', ', with Retain to keep it,'] : ['made', ''];
  return `spec.accountRef: what this resource ${what} is in ${where}: set it back, or delete this resource${how} and create another`;
}

/** As `movedAccount`, of a resource that is to go: by proof it may be removed where it is, by an annotation it may not. */
export function unprovenAccount(object: ManagedObject): string | undefined {
  return provenAccountOf(object) === undefined ? movedAccount(object) : undefined;
}

/** The address of the API at which the resource made something. */
export function recordedURLOf(object: ManagedObject): string | undefined {
  return ownershipOf(object).apiURL ?? recordIn(object, annotation.apiURL);
}

/** Undefined while the resource has made nothing. */
function holdingAccountOf(object: ManagedObject): string | undefined {
  const proven = provenAccountOf(object);
  if (proven !== undefined) return proven;
  const made = recordIn(object, annotation.createdID) ?? recordIn(object, annotation.appliedParts);
  const begun = made ?? recordIn(object, annotation.createIntent);
  const noted = begun === undefined ? undefined : recordIn(object, annotation.account);
  return noted === defaultKey || (noted !== undefined && namedAccount.test(noted)) ? noted : undefined;
}

/** The account that holds what the resource made, by its status. */
export function provenAccountOf(object: ManagedObject): string | undefined {
  const { id, parts = [], account } = ownershipOf(object);
  return id !== undefined || parts.length > 0 ? account : undefined;
}

/** Index value under which everything that claims one external id is found, of whatever account. Who only observes claims nothing. */
export function claimOf(object: ManagedObject): readonly string[] {
  const id = externalIDOf(object);
  return id === undefined || isObserver(object) || formerlyNamedIDOf(object) !== undefined ? [] : [id];
}

export function isObserver({ spec }: ManagedObject): boolean {
  return spec.managementPolicy === 'Observe';
}

/** How good a claim is: the smaller the better. */
export type Standing = (object: ManagedObject) => number;

/** Proof before what annotations say, a creation before an import, and what is on record before a wish. */
export function standingOn(id: string): Standing {
  return (object) => {
    const { id: owned, how } = ownershipOf(object);
    if (owned === id) return how === 'Created' ? 0 : 1;
    return recordIn(object, annotation.createdID) === id ? 2 : wish;
  };
}

/** Somebody asks for it, and no more. */
export const wish = 3;

/** Whether a claim so good is by the status. */
export function isProof(standing: number): boolean {
  return standing < 2;
}

/** As `standingOn`, of a part: who lost it to another one before that one turned out to have it too, has it no more. */
export function standingOnPart(part: string): Standing {
  return (object) => {
    const { parts, contested } = ownershipOf(object);
    if (parts?.includes(part)) return contested?.includes(part) ? 1 : 0;
    return appliedParts(object).has(part) ? 2 : wish;
  };
}

/**
 * As `standing`, of what is to be removed: an annotation is no better there than the wish of who stays, or whoever forges
 * one could have removed what another, who is older, asks for. Who is paused, or is to go, and never applied it would not have it.
 */
export function standingToRemovePart(part: string, standing = standingOnPart(part)): Standing {
  return (object) => {
    const known = standing(object);
    if (isProof(known)) return known;
    return (isDeleting(object) || isPaused(object)) && !appliedParts(object).has(part) ? 4 : wish;
  };
}

/**
 * Of several resources that claim one thing the one of the best standing has it, then the one whose account has had its
 * key for longer, as far as this process knows, then the oldest; this is the first before `object`, if any.
 */
export function winnerOver(
  object: ManagedObject,
  claimants: readonly ManagedObject[],
  standing: Standing = () => 0,
  rekeyedAt: (object: ManagedObject) => number = () => 0,
): ManagedObject | undefined {
  const order = (a: ManagedObject, b: ManagedObject) =>
    standing(a) - standing(b) || rekeyedAt(a) - rekeyedAt(b) || byAge(a, b);
  return claimants
    .filter((other) => other.metadata.uid !== object.metadata.uid && order(other, object) < 0)
    .sort(order)[0];
}

/** What a condition calls a rival: by name only where whoever reads the condition may see it. */
export function rivalName(object: ManagedObject, { kind, metadata: { namespace, name } }: ManagedObject): string {
  return namespace === object.metadata.namespace ? `${kind} ${namespace}/${name}` : `a ${kind} of another namespace`;
}

function byAge(a: ManagedObject, b: ManagedObject): number {
  const [one, other] = [ageKey(a), ageKey(b)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Creation times have whole seconds; names break the tie the same way on every replica. */
function ageKey(object: ManagedObject): string {
  return `${object.metadata.creationTimestamp ?? ''} ${keyOf(object)}`;
}
