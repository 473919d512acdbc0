import type { ReconcileContext } from '../context.ts';
import { fingerprint } from '../json.ts';
import { externalIDOf } from '../ownership.ts';
import type { ManagedSpec } from '../resource.ts';
import type { AccountObjects, Suspect } from './account-objects.ts';
import { heldByOthers } from './claims.ts';
import type { ExternalContract } from './contract.ts';

/** An unclaimed match that shows up so long after a create was taken for lost is told of. */
const suspectMs = 3_600_000;

/** @param now on the monotonic clock */
export function suspectOf(lost: Pick<Suspect, 'content' | 'backTo'>, now: number): Suspect {
  return { ...lost, until: now + suspectMs, toldOf: new Set() };
}

/** Tells of what a create made that was taken for lost, or answered with another's id, and that nobody holds. */
export function tellOfLateTwins<Spec extends ManagedSpec, Observed, Client>(
  {
    resource: { uid, object },
    peers,
    time,
    journal,
  }: Pick<ReconcileContext<Client>, 'resource' | 'peers' | 'time' | 'journal'>,
  { displayName, identity, contentOf }: ExternalContract<Spec, Observed, Client>,
  objects: AccountObjects<Observed>,
): void {
  const { suspects, cache } = objects;
  const suspect = suspects.get(uid);
  if (suspect === undefined) return;
  if (time.now() > suspect.until) suspects.delete(uid);
  const held = new Set([
    externalIDOf(object),
    ...objects.claims.takenIDs(),
    ...heldByOthers(object, peers.list(), peers),
  ]);
  for (const each of cache.current()) {
    const { id, createdAt } = identity(each);
    if (Date.parse(createdAt) < suspect.backTo || held.has(id) || suspect.toldOf.has(id)) continue;
    if (fingerprint(contentOf(each)) !== suspect.content) continue;
    suspect.toldOf.add(id);
    journal.event(
      'Orphaned',
      `${displayName} ${id} is held by no resource: an earlier create of this one may have made it`,
    );
  }
}
