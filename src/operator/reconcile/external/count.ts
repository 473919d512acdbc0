import type { ExternalCache } from '../cache.ts';
import type { Connection } from '../connection.ts';
import { accountKeyOf, isObserver, originOf, ownedIDOf, ownershipOf } from '../ownership.ts';
import type { Peers } from '../peers.ts';
import type { ManagedObject } from '../resource.ts';
import { isReleased } from '../writer.ts';
import type { Counts } from './census.ts';
import type { Identity } from './contract.ts';

const countedForMs = 1_000;

export interface Counting<Observed> {
  readonly account: string;
  readonly peers: Peers;
  readonly connection: Connection<unknown>;
  readonly cache: ExternalCache<Observed>;
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

/** Of what resources of one kind own in the account, by its last list with the key in force. */
function countOf<Observed>(counting: Counting<Observed>): Counts {
  const { account, peers, connection, cache, identity, createSettleMs } = counting;
  const { since = Number.NEGATIVE_INFINITY } = connection;
  const [proven, said] = [
    { present: 0, missing: 0 },
    { present: 0, missing: 0 },
  ];
  if ((cache.sweptAt ?? Number.NEGATIVE_INFINITY) < since) return { proven, said };
  const there = new Set(cache.current().map((each) => identity(each).id));
  for (const odd of cache.odd()) if (odd.id !== undefined) there.add(odd.id);
  const owners = peers
    .list()
    .filter((each) => ownedIDOf(each) !== undefined && accountKeyOf(each) === account && !isReleased(each));
  const missing = owners.filter((each) => !there.has(ownedIDOf(each) ?? ''));
  const lastSeen = missing.reduce((at, each) => Math.max(at, peers.factsOf(each).seen?.at ?? at), since);
  for (const other of owners) {
    const id = ownedIDOf(other) ?? '';
    const { deletedID, made, absent, isElsewhere } = peers.factsOf(other);
    // None says anything of the key: what is deleted is gone, what was made with it is where it leads, what is at another
    // address is not looked for here, and another installation's account of this name may be another one.
    if (deletedID === id || (made?.id === id && made.at >= since) || isElsewhere === true) continue;
    // Nor does what is not made again, though others were there for long after it was missed.
    const missedAt = absent?.id === id && absent.at >= since ? absent.at : Number.POSITIVE_INFINITY;
    if (isLeftMissing(other, id) && missedAt + createSettleMs < lastSeen) continue;
    const count = ownershipOf(other).id === id ? proven : said;
    if (there.has(id)) count.present += 1;
    else count.missing += 1;
  }
  return { proven, said };
}

/** An import, or what is only observed: that it is gone is told of, and nothing is done about it. */
function isLeftMissing(object: ManagedObject, id: string): boolean {
  return isObserver(object) || originOf(object, id) === 'Imported';
}
