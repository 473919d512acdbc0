import { annotation, annotationOf, hasRecords, recordsOf } from './annotations.ts';
import type { Facts } from './memory.ts';
import type { ManagedObject } from './resource.ts';
import { type Annotations, hasFinalizer } from './writer.ts';

/*
 * What is to be on record of a resource that is held. Whoever may write it may wipe that, take one record out of it, or set it
 * back by applying a manifest that was saved with it; what this process knows to be the last that the operator wrote is put back.
 */

type Known = Pick<Facts, 'records' | 'recordsOpenUntil'>;

/** What another process wrote, or this one without an answer, may come to light so late: a watch may be frozen for minutes. */
const lateWriteMs = 300_000;

/** Takes what is on record for what is to be, unless somebody changed what the operator wrote. */
export function noteRecords(known: Known, object: ManagedObject, now: number): void {
  known.recordsOpenUntil ??= now + lateWriteMs;
  const isOpen = now < known.recordsOpenUntil;
  if (isOpen || known.records === undefined || isAsWritten(object, known.records)) known.records = recordsOf(object);
}

/** Others work on it: what they write is what is to be, also when it comes late. */
export function noteOthers(known: Known, object: ManagedObject): void {
  known.records = recordsOf(object);
  delete known.recordsOpenUntil;
}

/**
 * This process has written. That was based on the last that anybody else wrote, so nothing comes late any more; where it had to
 * be based on what somebody changed meanwhile, only what was written is taken.
 */
export function noteWritten(known: Known, latest: ManagedObject, written: Annotations): void {
  if (!isHeld(latest)) return;
  const now = recordsOf(latest);
  const { recordOf, installation, externalID } = annotation;
  const own = Object.fromEntries([recordOf, installation, externalID].map((name) => [name, now[name] ?? null]));
  const asWritten = Object.entries({ ...(known.records ?? now), ...written, ...own });
  known.records = Object.fromEntries(asWritten.filter((entry): entry is [string, string] => entry[1] !== null));
  known.recordsOpenUntil = Number.NEGATIVE_INFINITY;
}

/** It is guarded, and what it has on record is of this very resource. */
export function isHeld(object: ManagedObject): boolean {
  return hasFinalizer(object) && hasRecords(object);
}

/** But for what people say by records: the id that they name, and that a create is not to be looked for any more. */
export function isAsWritten(object: ManagedObject, records: Readonly<Record<string, string>>): boolean {
  const names = new Set([...Object.keys(recordsOf(object)), ...Object.keys(records)]);
  names.delete(annotation.externalID);
  const changed = [...names].filter((name) => annotationOf(object, name) !== records[name]);
  const isGivenUp = changed.length === 1 && annotationOf(object, annotation.createIntent) === undefined;
  return changed.length === 0 || (isGivenUp && changed[0] === annotation.createIntent);
}
