import { ApiError } from '../../../common/http/errors.ts';
import type { OddItem } from '../../../common/odd-item.ts';
import { annotation, type CreateIntent } from '../resource/annotations.ts';
import type { Identity } from './contract.ts';

/** The service's clock and ours may differ by this much where the service's is not known. */
export const clockSkewMs = 60_000;
/** Its stamps and the clock in its answers may differ by this much. */
const stampSkewMs = 5_000;
/** Stamps and answers may leave out what is less. */
const stampUnitMs = 1_000;

/** From when on what a create made is looked for, by the service's clock, in milliseconds since the epoch. */
export interface SoughtSince {
  /** What it made was not made before, whatever clock was set meanwhile. */
  readonly notBefore: number;
  /** Nor before this, if none was. */
  readonly likelySince: number;
}

/** A create that was begun and whose result nobody recorded. */
export interface UnresolvedCreate extends SoughtSince {
  readonly uid: string;
  /** Another installation's, whose account of the same name may be another one. */
  readonly isForeign?: boolean;
  /** Its resource is to go, and what it made with it. */
  readonly isGoing?: boolean;
}

/** What the clocks show now, in milliseconds since the epoch, and how long ago a create was sent. */
export interface Moment {
  readonly own: number;
  readonly service: number | undefined;
  /** Where this process sent it. */
  readonly sentMsAgo?: number | undefined;
}

/**
 * By the mark of a create: the earliest that any clock suggests, as each of them may have been set meanwhile, and what they
 * suggest if none was. The beginning of time where a person garbled the mark. Nothing was made for a resource before it
 * was there itself, by the clock of Kubernetes: that holds even if our clock was ahead and the process is gone that knew.
 */
export function soughtSince(
  { at = '', clock }: Partial<CreateIntent>,
  { own, service, sentMsAgo }: Moment,
  resourceSince?: number,
): SoughtSince {
  const begunAt = Date.parse(at) || 0;
  const sentAt = service === undefined || sentMsAgo === undefined ? undefined : service - sentMsAgo;
  if (clock === 'service') {
    const notBefore = Math.min(begunAt, sentAt ?? begunAt) - stampSkewMs;
    return { notBefore, likelySince: notBefore };
  }
  const asShown = service === undefined ? undefined : begunAt + service - own;
  const suggested = [asShown, sentAt, resourceSince].map((each) => each ?? begunAt);
  const notBefore = Math.min(begunAt, ...suggested) - clockSkewMs;
  const likely = sentAt ?? asShown;
  return { notBefore, likelySince: likely === undefined ? notBefore : likely - stampSkewMs };
}

/** The service's clock was set back since the mark was made, so that it says nothing of what was made after it. */
export function isAhead({ at = '', clock }: Partial<CreateIntent>, service: number | undefined): boolean {
  return clock === 'service' && service !== undefined && Date.parse(at) - stampSkewMs > service;
}

/** Was there before the create was begun, unless the clocks differ: what that made may still appear. */
export function isOlder({ createdAt }: Identity, { likelySince }: SoughtSince): boolean {
  return Date.parse(createdAt) < likelySince + stampSkewMs - stampUnitMs;
}

/**
 * By the clock of the mark alone, and as if that was right: what an answer that may be another's says of the service's clock
 * proves nothing, and to take the resource's own for another's costs a minute, the other way round an object.
 */
export function isOlderThanMark({ createdAt }: Identity, { at = '' }: Partial<CreateIntent>): boolean {
  return Date.parse(createdAt) < Date.parse(at) - stampSkewMs;
}

export type Resolution =
  | { readonly kind: 'adopt'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  /**
   * None that is likely; these would be if a clock was set meanwhile, or have no date that can be read, or are its or not as
   * another installation has the same account or not.
   */
  | { readonly kind: 'unlikely'; readonly ids: readonly string[] };

/**
 * Which of the unclaimed objects of equal content is the one that `mine` made.
 *
 * Creates of equal content make interchangeable objects, so it does not matter which of them gets which: while there
 * are no more objects than unresolved creates that can have made them, they are handed out, oldest first, and to what is to go
 * last: nothing is deleted that another one is left without. One object too many means that one of them is somebody else's, and
 * no telling which: ambiguous. One that is older than the clocks suggest is nobody's to take, as long as a younger one may still
 * appear. Thousands may be lost together, and each is resolved by itself: nothing here takes longer than sorting them.
 */
export function resolveLostCreate(
  mine: UnresolvedCreate,
  unresolved: readonly UnresolvedCreate[],
  unclaimed: readonly Identity[],
): Resolution {
  const own = unresolved.filter(({ isForeign }) => isForeign !== true);
  const alone = shareOut(mine, own, unclaimed);
  if (own.length === unresolved.length) return alone;
  const together = shareOut(mine, unresolved, unclaimed);
  const [ids, others] = [idsIn(alone), idsIn(together)];
  if (alone.kind === together.kind && ids.join() === others.join()) return alone;
  return { kind: 'unlikely', ids: [...new Set([...ids, ...others])] };
}

function shareOut(
  mine: UnresolvedCreate,
  unresolved: readonly UnresolvedCreate[],
  unclaimed: readonly Identity[],
): Resolution {
  const creates = unresolved.toSorted((a, b) => a.likelySince - b.likelySince || (a.uid < b.uid ? -1 : 1));
  const made = unclaimed.map(({ id, createdAt }) => ({ id, at: Date.parse(createdAt) }));
  const since = creates[0]?.likelySince ?? mine.likelySince;
  const likely = made.filter(({ at }) => at >= since).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const place = creates.findIndex((create) => create.uid === mine.uid);
  // So many creates at the most can have made what is older than the next one; of the last there is no next one.
  let older = 0;
  for (let most = place + 1; most <= creates.length; most += 1) {
    const next = creates[most]?.likelySince ?? Number.POSITIVE_INFINITY;
    while ((likely[older]?.at ?? Number.POSITIVE_INFINITY) < next) older += 1;
    if (older > most) return { kind: 'ambiguous', ids: idsOf(likely.slice(0, older)) };
  }
  const shares = sharesOf(creates, likely);
  const own = shares.get(mine.uid);
  if (own !== undefined) return { kind: 'adopt', id: own.id };
  // Of those that are likely only what stands at its own place, and nobody else gets.
  const others = new Set(likely).difference(new Set([likely[place]])).union(new Set(shares.values()));
  const unlikely = made.filter((each) => !(each.at < mine.notBefore) && !others.has(each));
  return unlikely.length > 0 ? { kind: 'unlikely', ids: idsOf(unlikely) } : { kind: 'none' };
}

/** What was made, and when, in milliseconds since the epoch; NaN where that cannot be read. */
interface Made {
  readonly id: string;
  readonly at: number;
}

/** By the uids of those who get one. Where there are too few, those that are to stay come first; their order tells who gets which. */
function sharesOf(creates: readonly UnresolvedCreate[], likely: readonly Made[]): ReadonlyMap<string, Made> {
  const staying = handOut(
    creates.filter(({ isGoing }) => isGoing !== true),
    likely,
  );
  const left = new Set(likely).difference(new Set(staying.values()));
  const going = handOut(
    creates.filter(({ isGoing }) => isGoing === true),
    [...left],
  );
  return handOut(
    creates.filter(({ uid }) => staying.has(uid) || going.has(uid)),
    likely,
  );
}

/** To each the oldest that it can have made: both are in the order of time. */
function handOut(creates: readonly UnresolvedCreate[], likely: readonly Made[]): ReadonlyMap<string, Made> {
  const shares = new Map<string, Made>();
  let next = 0;
  for (const { uid, likelySince } of creates) {
    while ((likely[next]?.at ?? Number.POSITIVE_INFINITY) < likelySince) next += 1;
    const share = likely[next];
    if (share === undefined) break;
    shares.set(uid, share);
    next += 1;
  }
  return shares;
}

function idsIn(resolution: Resolution): readonly string[] {
  if (resolution.kind === 'none') return [];
  return resolution.kind === 'adopt' ? [resolution.id] : resolution.ids;
}

const idsOf = (objects: readonly Made[]): readonly string[] => objects.map(({ id }) => id);

/**
 * Of the unclaimed items that cannot be read those that may be what a lost create made. What is older than the create is
 * somebody else's, and of no concern.
 */
export function mayBeMade(mine: UnresolvedCreate, unclaimed: readonly OddItem[]): readonly OddItem[] {
  const young = unclaimed.filter(({ createdAt }) => createdAt === undefined || Date.parse(createdAt) >= mine.notBefore);
  return young.toSorted((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1));
}

/** Why nothing can be concluded of a lost create, though no object that can be read is its. */
export function unreadable(displayName: string, item: OddItem): ApiError {
  const message =
    `${nameOf(item)} of the list may be the ${displayName} of an unanswered create, and cannot be read: ${item.problem}; ` +
    `if it is somebody else's, remove the annotation ${annotation.createIntent}`;
  return new ApiError(message, { reason: 'Unreachable', definite: false });
}

/** What is said of it where nobody waits for it any longer. */
export function leftUnread(displayName: string, item: OddItem): string {
  return (
    `${nameOf(item)} of the list, which cannot be read, may be the ${displayName} of an unanswered create, and is left ` +
    'behind'
  );
}

/** The same, where it is not found in what may be another account. */
export function leftUnfound(displayName: string): string {
  return (
    `the ${displayName} of an unanswered create, if it was made, is left behind: it is not found, and the key or the ` +
    'address may be of another account'
  );
}

function nameOf({ id }: OddItem): string {
  return id === undefined ? 'an item without an id' : `item ${id}`;
}
