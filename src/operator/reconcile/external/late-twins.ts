import type { ReconcileContext } from '../context.ts';
import { fingerprint } from '../json.ts';
import { externalIDOf } from '../ownership.ts';
import type { ManagedSpec } from '../resource.ts';
import type { AccountObjects } from './account-objects.ts';
import { heldByOthers } from './claims.ts';
import type { ExternalContract } from './contract.ts';

/** Tells of what a create made that was taken for lost, and that nobody holds. */
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
      `${displayName} ${id} is held by no resource: a create that was taken for lost may have made it`,
    );
  }
}
