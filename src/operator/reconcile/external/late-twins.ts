import type { ReconcileContext } from '../context.ts';
import { externalIDOf } from '../ownership/ownership.ts';
import { fingerprint } from '../resource/json.ts';
import type { ManagedSpec } from '../resource/resource.ts';
import type { AccountObjects, Suspect } from './account-objects.ts';
import { heldByOthers } from './claims.ts';
import type { ExternalContract } from './contract.ts';

/** An unclaimed match that shows up so long after a create was taken for lost is told of. */
const suspectMs = 3_600_000;

/** Beside those of the same resource whose time has not run out. */
export function suspect(
  { suspects }: Pick<AccountObjects<unknown>, 'suspects'>,
  uid: string,
  lost: Omit<Suspect, 'until'>,
  now: number,
): void {
  const { creates, toldOf } = suspects.get(uid) ?? { creates: [], toldOf: new Set() };
  suspects.set(uid, { creates: [...creates.filter(isOpen(now)), { ...lost, until: now + suspectMs }], toldOf });
}

const isOpen =
  (now: number) =>
  ({ until }: Suspect) =>
    now <= until;

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
  const known = suspects.get(uid);
  if (known === undefined) return;
  const { creates, toldOf } = known;
  if (!creates.some(isOpen(time.now()))) suspects.delete(uid);
  const held = new Set([
    externalIDOf(object),
    ...objects.claims.takenIDs(),
    ...heldByOthers(object, peers.list(), peers),
  ]);
  for (const each of cache.current()) {
    const { id, createdAt } = identity(each);
    if (held.has(id) || toldOf.has(id)) continue;
    const at = Date.parse(createdAt);
    const inTime = creates.filter(({ backTo, upTo = at }) => !(at < backTo || at > upTo));
    if (inTime.length === 0) continue;
    const content = fingerprint(contentOf(each));
    if (!inTime.some((create) => create.content === content)) continue;
    toldOf.add(id);
    journal.event(
      'Orphaned',
      `${displayName} ${id} is held by no resource: an earlier create of this one may have made it`,
    );
  }
}
