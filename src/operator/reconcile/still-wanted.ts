import type { Call } from '../../common/call.ts';
import { isForcedOrphan, isPaused } from './annotations.ts';
import type { ReconcileContext } from './context.ts';
import { BehindError } from './outcome.ts';
import { isDeleting, keyOf, type ManagedObject } from './resource.ts';

/*
 * A call may wait for its turn for minutes. What was true when it was decided on is looked at once more when it could be
 * sent: each of these throws a BehindError where it is to be decided anew.
 */

/**
 * Of every call for a resource: a person may have paused that meanwhile, or, of one that is to go, have it leave behind what
 * it made.
 *
 * @param latest as it is known now
 */
export function checkWanted(object: ManagedObject, latest: ManagedObject | undefined): void {
  if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return;
  const isForced = isDeleting(latest) && isForcedOrphan(latest);
  if (isForced || isPaused(latest) || (isDeleting(object) && isEdited(object, latest)))
    throw new BehindError('not sent: the resource was changed meanwhile');
}

/**
 * The call of a delete: the spec may ask for it again meanwhile, or somebody else have it.
 *
 * @param keeperOf who has a better claim to what it deletes
 */
export function callOfDelete(
  { call, peers, resource }: Pick<ReconcileContext<unknown>, 'call' | 'peers' | 'resource'>,
  keeperOf: () => ManagedObject | undefined,
): Call {
  const permit = () => {
    call.permit?.();
    const { object } = resource;
    const latest = peers.get(keyOf(object));
    if (latest !== undefined && isEdited(object, latest))
      throw new BehindError('not sent: the spec was changed meanwhile');
    if (keeperOf() !== undefined) throw new BehindError('not sent: another resource has it by now');
  };
  return { ...call, permit };
}

/** What was read by itself may be newer than what is known. */
const isEdited = ({ metadata }: ManagedObject, latest: ManagedObject): boolean =>
  (latest.metadata.generation ?? 0) > (metadata.generation ?? 0);
