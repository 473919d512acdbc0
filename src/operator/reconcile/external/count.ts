import { type Connection, keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { mayBeTwoKeys } from '../ownership/key-mark.ts';
import { accountKeyOf, isObserver, originOf, ownedIDOf, ownershipOf } from '../ownership/ownership.ts';
import type { Peers } from '../ownership/peers.ts';
import { annotation, hasIntent, isPaused, recordIn } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { holdsNothing } from '../resource/writer.ts';
import type { AccountObjects } from './account-objects.ts';
import type { ExternalCache } from './cache.ts';
import type { Counts, Tally } from './census.ts';
import type { Claims } from './claims.ts';
import type { Identity } from './contract.ts';
import type { ExternalFlowOptions } from './options.ts';

const countedForMs = 1_000;

interface Counting<Observed> {
  readonly account: string;
  readonly peers: Peers;
  readonly connection: Connection<unknown>;
  readonly cache: ExternalCache<Observed>;
  readonly claims: Pick<Claims, 'claimOf'>;
  readonly identity: (observed: Observed) => Identity;
  readonly createSettleMs: number;
}

/** When it was counted, by which list, and with which key. */
interface Counted {
  readonly at: number;
  readonly sweptAt: number | undefined;
  readonly since: number | undefined;
  readonly counts: Counts;
}

/** The last count of one account: all that vanish at once ask at once. */
export class LastCount<Observed> {
  #last: Counted | undefined;

  /** Made anew where it is of another list or key, or a second old. */
  of(counting: Counting<Observed>, now: number): Counts {
    const { sweptAt } = counting.cache;
    const { since } = counting.connection;
    const last = this.#last;
    const isSame = last !== undefined && last.sweptAt === sweptAt && last.since === since;
    if (isSame && now - last.at < countedForMs) return last.counts;
    const counts = countOf(counting);
    this.#last = { at: now, sweptAt, since, counts };
    return counts;
  }
}

/** What resources own in the account of one of them, of all kinds of which something was missed: its own from now on. */
export function countIn<Observed>(
  { census, createSettleMs }: Pick<ExternalFlowOptions, 'createSettleMs' | 'census'>,
  { resource, peers, connection, time }: Pick<ReconcileContext<unknown>, 'resource' | 'peers' | 'connection' | 'time'>,
  contract: { readonly identity: (observed: Observed) => Identity },
  { cache, claims, count }: AccountObjects<Observed>,
): Tally {
  const account = accountKeyOf(resource.object);
  const { identity } = contract;
  const counting = { account, peers, connection, cache, claims, identity, createSettleMs };
  return census.add(connection, contract, () => count.of(counting, time.now()));
}

/** Of what resources of one kind own in the account, by its last list with the key in force. */
function countOf<Observed>(counting: Counting<Observed>): Counts {
  const { account, peers, connection, cache, claims, identity } = counting;
  const since = keySinceOf(connection);
  const counts = { proven: none(), said: none(), made: none() };
  if ((cache.sweptAt ?? Number.NEGATIVE_INFINITY) < since) return counts;
  const there = new Set(cache.current().map((each) => identity(each).id));
  for (const odd of cache.odd()) if (odd.id !== undefined) there.add(odd.id);
  // What was just made may not be on record yet.
  const justMade = (each: ManagedObject) => (hasIntent(each) ? claims.claimOf(each.metadata.uid ?? '') : undefined);
  const idOf = (each: ManagedObject) => ownedIDOf(each) ?? justMade(each) ?? '';
  const owners = peers
    .list()
    .filter((each) => idOf(each) !== '' && accountKeyOf(each) === account && !holdsNothing(each));
  const missing = owners.filter((each) => !there.has(idOf(each)));
  const thereAt = (each: ManagedObject) => cache.lossOf(idOf(each))?.thereAt ?? peers.factsOf(each).seen?.at;
  const lastThere = missing.reduce((at, each) => Math.max(at, thereAt(each) ?? at), since);
  for (const other of owners) {
    const id = idOf(other);
    const { deletedID, made, isElsewhere } = peers.factsOf(other);
    // Neither says anything of this place: what is deleted is gone, and what is at another address, or of another
    // installation, whose account of this name may be another one, is not looked for here.
    if (deletedID === id || isElsewhere === true) continue;
    const madeAt = made?.id === id && made.at >= since ? made.at : undefined;
    const isThere = there.has(id);
    // What was made since the missing were last there is wherever the key and the address lead now.
    if (isThere && madeAt !== undefined && madeAt >= lastThere) continue;
    if (!isThere && isOldLoss(other, id, { ...counting, lastThere })) continue;
    const proof = ownershipOf(other).id === id ? 'proven' : 'said';
    const count = counts[madeAt === undefined ? proof : 'made'];
    count[isThere ? 'present' : 'missing'] += 1;
    if (isThere && wasThereWithAnotherKey(other, id, counting)) count.vouching += 1;
  }
  return counts;
}

const none = () => ({ present: 0, missing: 0, vouching: 0 });

/** By what this process saw; of the time before by the mark that it found. */
function wasThereWithAnotherKey<Observed>(
  object: ManagedObject,
  id: string,
  { peers, connection }: Counting<Observed>,
): boolean {
  const { seen } = peers.factsOf(object);
  if (seen?.id !== id) return mayBeTwoKeys(recordIn(object, annotation.keyMark), connection.keyMark);
  return connection.hadAnotherKey?.(seen.firstAt) === true || mayBeTwoKeys(seen.keyMark, connection.keyMark);
}

/**
 * It is not looked for, or not made again, and did not vanish with the others: they were there for long after it was missed; or
 * it is paused, and was never there in this process' time.
 *
 * @param lastThere when the last of those that are missing was there
 */
function isOldLoss<Observed>(
  object: ManagedObject,
  id: string,
  { peers, connection, cache, createSettleMs, lastThere }: Counting<Observed> & { readonly lastThere: number },
): boolean {
  const since = keySinceOf(connection);
  const { absent } = peers.factsOf(object);
  const absentAt = absent?.id === id && absent.at >= since ? absent.at : undefined;
  if (absentAt !== undefined && !isLeftMissing(object, id)) return false;
  const lostAt = absentAt ?? cache.lossOf(id)?.missedAt;
  if (lostAt === undefined && isPaused(object)) return true;
  return Math.max(lostAt ?? since, since) + createSettleMs < lastThere;
}

/** That it is gone is told of at most, and nothing is done about it. */
function isLeftMissing(object: ManagedObject, id: string): boolean {
  return isObserver(object) || isPaused(object) || originOf(object, id) === 'Imported';
}
