import type { CreateIntent } from '../annotations.ts';
import type { Identity } from './contract.ts';

/** The service's clock and ours may differ by this much where the service's is not known. */
const clockSkewMs = 60_000;
/** Its stamps and the clock in its answers may differ by this much. */
const stampSkewMs = 5_000;

/** A create that was begun and whose result nobody recorded. */
export interface UnresolvedCreate {
  readonly uid: string;
  /** What it made was not made before, by the service's clock, in milliseconds since the epoch. */
  readonly notBefore: number;
}

/** What the clocks show now, in milliseconds since the epoch, and how long ago a create was sent. */
export interface Moment {
  readonly own: number;
  readonly service: number | undefined;
  /** Where this process sent it. */
  readonly sentMsAgo?: number | undefined;
}

/**
 * From when on what a create made is to be looked for, by the service's clock: the earliest that any clock suggests, as each
 * of them may have been set meanwhile. The beginning of time where a person garbled the mark of the create.
 */
export function notBefore({ at = '', clock }: Partial<CreateIntent>, { own, service, sentMsAgo }: Moment): number {
  const begunAt = Date.parse(at) || 0;
  if (clock === 'service') {
    const sentAt = service === undefined || sentMsAgo === undefined ? begunAt : service - sentMsAgo;
    return Math.min(begunAt, sentAt) - stampSkewMs;
  }
  const asShown = service === undefined ? begunAt : begunAt + service - own;
  const sentAt = service === undefined || sentMsAgo === undefined ? begunAt : service - sentMsAgo;
  return Math.min(begunAt, asShown, sentAt) - clockSkewMs;
}

export type Resolution =
  | { readonly kind: 'adopt'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] };

/**
 * Which of the unclaimed objects of equal content is the one that `mine` made.
 *
 * Creates of equal content make interchangeable objects, so it does not matter which of them gets which: while there
 * are no more objects than unresolved creates, they are handed out, oldest first. One object too many means that one
 * of them is somebody else's, and no telling which: ambiguous.
 */
export function resolveLostCreate(
  mine: UnresolvedCreate,
  unresolved: readonly UnresolvedCreate[],
  unclaimed: readonly Identity[],
): Resolution {
  const creates = [...unresolved].sort((a, b) => a.notBefore - b.notBefore || (a.uid < b.uid ? -1 : 1));
  const earliest = creates[0]?.notBefore ?? mine.notBefore;
  const objects = unclaimed
    .filter((object) => Date.parse(object.createdAt) >= earliest)
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1));
  if (objects.length > creates.length) return { kind: 'ambiguous', ids: objects.map((object) => object.id) };
  const object = objects[creates.findIndex((create) => create.uid === mine.uid)];
  return object === undefined ? { kind: 'none' } : { kind: 'adopt', id: object.id };
}
