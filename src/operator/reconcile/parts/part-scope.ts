import { canonicalURL } from '../../../common/http/url.ts';
import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { isProof, ownershipOf, type Standing, standingOnPart, wish } from '../ownership/ownership.ts';
import type { Peers } from '../ownership/peers.ts';
import type { ManagedObject } from '../resource/resource.ts';
import type { Part } from './part.ts';

// biome-ignore lint/suspicious/noExplicitAny: each part has a body and an observation of its own, which only it reads
export type AnyPart<Spec, Client> = Part<Spec, Client, any, any>;

/** What a call of ours last showed of a claim, when, for which resource, and in which account. */
interface Sight {
  readonly at: number;
  readonly observed: unknown;
  readonly uid: string;
  readonly account: string;
}

/** By claim. */
export type Seen = Map<string, Sight>;

/** What was last seen of the part for this very resource, in the account that it uses now. */
export function sightOf(
  { seen, claim }: Pick<PartScope<unknown>, 'seen' | 'claim'>,
  { resource, connection }: Pick<ReconcileContext<unknown>, 'resource' | 'connection'>,
): Sight | undefined {
  const known = seen.get(claim);
  return known?.uid === resource.uid && known.account === connection.key ? known : undefined;
}

/** When an answer first said that the part is not there; what was said to another key says nothing. */
export function absentSince(
  { name }: { readonly name: string },
  { facts, connection }: Pick<ReconcileContext<unknown>, 'facts' | 'connection'>,
): number | undefined {
  const at = facts.absentParts?.get(name);
  return at === undefined || at < keySinceOf(connection) ? undefined : at;
}

/** An answer says so: answers since when one did. */
export function foundAbsent(
  part: { readonly name: string },
  context: Pick<ReconcileContext<unknown>, 'facts' | 'connection' | 'time'>,
): number {
  const { facts, time } = context;
  const at = absentSince(part, context) ?? time.now();
  facts.absentParts ??= new Map();
  facts.absentParts.set(part.name, at);
  return at;
}

/** Of each claim at an address, when a DELETE that was not answered was last sent, whoever sent it and with whatever key. */
export type LostDeletes = Map<string, number>;

/** The same for all accounts at one address: their keys may be two of one account, or the one in place of the other. */
export function claimThere(
  { claim }: Pick<PartScope<unknown>, 'claim'>,
  { connection: { url } }: Pick<ReconcileContext<unknown>, 'connection'>,
): string {
  return url === undefined ? claim : `${claim} at ${canonicalURL(url)}`;
}

/** What one reconcile knows of one part. */
export interface PartScope<Spec> {
  readonly spec: Spec;
  /** As people call it. */
  readonly parent: string;
  /** As two resources of the same part have it alike. */
  readonly claim: string;
  /** The spec names the part. */
  readonly named: boolean;
  /** On record from an earlier reconcile. */
  readonly applied: boolean;
  readonly seen: Seen;
  readonly lostDeletes: LostDeletes;
  /** How long after a change of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
}

/**
 * Who has a better claim on the part. Where one had it before, who is still proven to have it at that address has it whatever
 * account his key opens now: to a process that never knew another key it may open another one, or none.
 */
export function rivalOf(
  { name }: { readonly name: string },
  { resource: { object }, peers }: Pick<ReconcileContext<unknown>, 'resource' | 'peers'>,
  { claim }: { readonly claim: string },
): ManagedObject | undefined {
  const isContested = ownershipOf(object).contested?.includes(name) === true && !isProven({ name }, object);
  return peers.rivalOf(object, claim, standingHere({ name }, peers), isContested ? 'address' : 'account');
}

/** The keys of accounts are read at once, and within seconds after a start. */
export const unreadMs = 1_000;

/** Somebody else is proven to have the part, whose account, not read yet, may turn out to be this one. */
export function mayBeKept(
  { name }: { readonly name: string },
  { peers }: Pick<ReconcileContext<unknown>, 'peers'>,
  { claim }: { readonly claim: string },
): boolean {
  return peers.mayBeKept(claim, standingHere({ name }, peers));
}

/**
 * As `standingOnPart`; but what is on record, and this process has put there itself, or found as asked, is proven, though no status may
 * say so yet: its write may be refused for long.
 */
export function standingHere({ name }: { readonly name: string }, peers: Pick<Peers, 'factsOf'>): Standing {
  const recorded = standingOnPart(name);
  return (object) => {
    const known = recorded(object);
    if (isProof(known) || known >= wish) return known;
    const isKnown = peers
      .factsOf(object)
      .inPlace?.get(name)
      ?.some(({ fingerprint }) => fingerprint !== undefined);
    return isKnown === true ? 0 : known;
  };
}

/** The part is proven to be this very resource's. */
export function isProven({ name }: { readonly name: string }, object: ManagedObject): boolean {
  return isProof(standingOnPart(name)(object));
}
