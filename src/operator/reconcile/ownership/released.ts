import type { Change } from '../../controller/informer.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { holdsNothing } from '../resource/writer.ts';
import { isObserver } from './ownership.ts';

export interface Releasing {
  /** What a resource names, also one that holds nothing any more. */
  readonly claimsOf: (object: ManagedObject) => readonly string[];
  /** Who claims the same. */
  readonly claimants: (claim: string) => readonly ManagedObject[];
  readonly isOneAccount: (one: ManagedObject, other: ManagedObject) => boolean;
}

/**
 * Who may take over what a change of a resource lets go, by whoever's hand: what lost a conflict with it. To all others it is
 * no news: whoever may name a thing could otherwise have them look at it, and spend their budget, with each edit.
 */
export function releasedBy(
  { type, object, old }: Pick<Change<ManagedObject>, 'type' | 'object' | 'old'>,
  { claimsOf, claimants, isOneAccount }: Releasing,
): readonly ManagedObject[] {
  const isGone = type === 'delete';
  // What is gone was most often released before, and this process may hear of both at once.
  const former = isGone ? object : old;
  if (former === undefined) return [];
  // Who takes up again what is proven to be his has a better claim than whoever took it over meanwhile.
  const isTakenUp = !isGone && isObserver(former) && !isObserver(object);
  const kept = new Set(isGone || holdsNothing(object) ? [] : claimsOf(object));
  const isNews = (rival: ManagedObject, claim: string) =>
    isInConflict(rival) || ((isTakenUp || !kept.has(claim)) && isOneAccount(rival, former));
  return claimsOf(former).flatMap((claim) => claimants(claim).filter((rival) => isNews(rival, claim)));
}

/** It, or a part of it, is another one's as far as was written. */
function isInConflict({ status }: ManagedObject): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'Conflict') === true;
}
