import type { Flow } from '../flow.ts';
import { recordsFor } from '../resource/annotations.ts';
import type { Facts } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { installationOf, isRemoved, isSameInstallation, ownedIDOf } from './ownership.ts';

type Known = Readonly<Pick<Facts, 'isLetGo' | 'wasThere' | 'deletedID' | 'records' | 'recordsOpenUntil'>>;

interface Witness {
  /** Of the process that worked on it. */
  readonly known: Known;
  /** Not asked for of what this process never worked on. */
  readonly installation: () => string;
  /** On the monotonic clock. */
  readonly now: number;
}

/**
 * What a resource that has gone from Kubernetes leaves behind, because somebody took its finalizer off; undefined where that is
 * nothing, or was left on purpose.
 */
export function orphanOf(
  flow: Pick<Flow<never>, 'leavesNothing' | 'leftBehind'>,
  object: ManagedObject,
  { known, installation, now }: Witness,
): string | undefined {
  if (known.isLetGo === true || !hasMet(known, now)) return undefined;
  const held = asRecorded(object, known.records);
  const manager = installationOf(held);
  if (manager !== undefined && !isSameInstallation(manager, installation())) return undefined;
  const id = ownedIDOf(held);
  const isDeleted = isRemoved(held) || (id !== undefined && id === known.deletedID);
  // What has no say in that stands for what others made, whose resources tell of it.
  return isDeleted || flow.leavesNothing?.(held) !== false ? undefined : flow.leftBehind?.(held);
}

/** It was there when this process worked on it: one that the process before released may be in its cache for a while. */
function hasMet({ wasThere, recordsOpenUntil = Number.POSITIVE_INFINITY }: Known, now: number): boolean {
  return wasThere === true || now >= recordsOpenUntil;
}

/** Whoever took the finalizer may have taken the records with it. */
export function asRecorded(object: ManagedObject, records: Known['records']): ManagedObject {
  if (records === undefined) return object;
  const all = Object.entries({ ...object.metadata.annotations, ...recordsFor(object, records) });
  const annotations = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  return { ...object, metadata: { ...object.metadata, annotations } };
}
