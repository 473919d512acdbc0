import { ApiError, conflict, invalid, modified, qualified } from '../api-error.ts';
import { invalidValue } from '../field-error.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';

export interface Preconditions {
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
}

/** Throws 409 when a deletion was meant for another state of the object. */
export function checkPreconditions(
  type: ResourceType,
  { metadata }: ApiObject,
  { uid, resourceVersion }: Preconditions,
): void {
  const refuse = (why: string) => {
    const wrong = conflict({ group: type.group, plural: type.plural }, metadata.name ?? '', why);
    const message = wrong.message.replace(qualified(type.group, type.plural), qualified(type.group, type.kind));
    return new ApiError(409, 'Conflict', message, { ...wrong.details, kind: type.kind });
  };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid})`;
    throw refuse(`${why}. The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match`;
    throw refuse(
      `${why} the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Throws 409 where what an object is replaced with was read of another one of its name. */
export function checkSame(type: ResourceType, wanted: ApiObject, { metadata }: ApiObject): void {
  const { uid } = wanted.metadata;
  if (!uid || uid === metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
  throw conflict({ group: type.group, plural: type.plural }, metadata.name ?? '', why);
}

/** Throws 409 for a stale resourceVersion and 422 for a change of what identifies the object. */
export function checkIdentity(type: ResourceType, wanted: ApiObject, old: ApiObject): void {
  const { uid, resourceVersion, deletionTimestamp } = wanted.metadata;
  const name = old.metadata.name ?? '';
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) throw modified(type, name);
  if (uid && uid !== old.metadata.uid) {
    throw invalid(type.group, type.kind, name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
  }
  if (deletionTimestamp && deletionTimestamp !== old.metadata.deletionTimestamp) {
    const error = invalidValue('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable');
    throw invalid(type.group, type.kind, name, [error]);
  }
}
