import type { ObjectMeta } from '../../kube/types.ts';
import { isHolderFinalizer } from '../resource/annotations.ts';
import type { DataObject } from './values.ts';

/** Without what may be large. */
export function keptMetadata({
  metadata: { name, namespace, uid, finalizers, deletionTimestamp },
}: DataObject): ObjectMeta {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}

/**
 * It is to be deleted now, is another of that name, which nobody may have seen come, or has lost a holder, as to a manifest that it
 * was replaced by: whatever is in it.
 */
export function mustBeHeldAnew(before: ObjectMeta | undefined, now: ObjectMeta | undefined): boolean {
  if (now === undefined || before === undefined) return now?.deletionTimestamp !== undefined;
  const isMarked = now.deletionTimestamp !== undefined && before.deletionTimestamp === undefined;
  return isMarked || before.uid !== now.uid || !holdersOf(before).isSubsetOf(holdersOf(now));
}

export function withFinalizer(metadata: ObjectMeta, finalizer: string): ObjectMeta {
  const { finalizers = [] } = metadata;
  return finalizers.includes(finalizer) ? metadata : { ...metadata, finalizers: [...finalizers, finalizer] };
}

function holdersOf({ finalizers = [] }: ObjectMeta): ReadonlySet<string> {
  return new Set(finalizers.filter(isHolderFinalizer));
}
