import { type Access, accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, type Thing } from '../witness/cloud-model.ts';
import { impliedObject } from '../witness/implied.ts';
import { fieldsOf, textOf } from '../witness/json.ts';
import type { AccountID } from '../witness/keys.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { ownershipOf } from '../witness/ownership.ts';
import {
  begunVersionOf,
  domain,
  isMarked,
  isOfSameManager,
  type Resource,
  recordedAccountOf,
} from '../witness/resource.ts';
import { sightingsOf } from '../witness/sightings.ts';
import { restoresOf } from '../witness/troubled.ts';
import { installationOf } from '../witness/who.ts';
import { minute, type Span, second, type Witness } from '../witness/witness.ts';
import { accessesOf, resyncMsOf, servants } from './look.ts';

/* Whether it is in doubt that what is not found in an account is gone: nobody concludes anything of that. */

/** What is not found in its account may not be gone. */
export function isDoubtful(world: Witness, resource: Resource): boolean {
  return (
    isMuchMissing(world, resource) ||
    isInAnotherAccount(world, resource) ||
    isGoneWithAnotherKey(world, resource) ||
    isBegunWithAnotherKey(world, resource)
  );
}

/**
 * A create of it was sent with another key, or its mark does not tell with which, and nothing that is there tells that both are of
 * the same account.
 */
function isBegunWithAnotherKey(world: Witness, resource: Resource): boolean {
  const written = begunVersionOf(resource);
  const collection = impliedObject(resource.kind, resource.version.spec)?.collection;
  if (written === undefined || collection === undefined) return false;
  // Who sent it may not have known yet of the last key then.
  const sent: Span = [Math.max(0, written.at - 10 * second), written.at + minute];
  const keys = servants(world, resource).flatMap((each) =>
    accountsOf(world)
      .during(each, resource, [written], sent)
      .map(({ key }) => key),
  );
  // The Lease may be another one, whose uid is the secret of key marks, and that of another installation is.
  const { now } = world.scheduler;
  const [sender, speaker] = [written.by, resource.status?.by].map((by) => installationOf(by ?? ''));
  const isAnothers = sender !== undefined && speaker !== undefined && sender !== speaker;
  const isOfAnotherSecret = isAnothers || restoresOf(world).some(({ to }) => written.at <= to && to <= now);
  return begunAt(world, resource).some(({ account, key }) => {
    if (account === undefined || (keys.every((each) => each === key) && !isOfAnotherSecret)) return false;
    if (processesSince(world, written.at) > 1) return true;
    return recordedIn(world, account, resource).every(
      ({ thing }) => thing?.collection !== collection || !isProof(world, thing),
    );
  });
}

/** Where a create of it was begun whose end nobody knows: it stays there, whatever its spec names by then. */
function begunAt(world: Witness, resource: Resource): readonly Access[] {
  const { version, namespace } = resource;
  const account = isMarked(version) ? recordedAccountOf(version) : undefined;
  if (account === undefined) return [];
  return servants(world, resource).flatMap((each) => accountsOf(world).named(each, namespace, account.name) ?? []);
}

/** It was made with a key of another account, and that is not in force any more where it is said to be missing. */
function isInAnotherAccount(world: Witness, resource: Resource): boolean {
  const thing = cloudModelOf(world).object(recordedIDOf(resource) ?? '');
  if (thing?.content === undefined) return false;
  const speaker = installationOf(resource.status?.by ?? '');
  const accesses = servants(world, resource)
    .filter(({ name }) => speaker === undefined || name === speaker)
    .flatMap((each) => accountsOf(world).now(each, resource) ?? []);
  return !accesses.some(({ account }) => account === thing.account);
}

/**
 * A person deleted it, or another installation, a lone one, and no operator saw it with the key in force, or none that had the time
 * to mark that: that this one is of the same account nobody knows.
 */
function isGoneWithAnotherKey(world: Witness, resource: Resource): boolean {
  const thing = cloudModelOf(world).object(recordedIDOf(resource) ?? '');
  if (thing?.gone === undefined) return false;
  const { at, installation } = thing.gone;
  if (servants(world, resource).some(({ name }) => name === installation)) return false;
  const seen = sightingsOf(world).of(thing);
  if (seen === undefined) return false;
  return accessesOf(world, resource).some(({ account, key }) => {
    if (account !== thing.account) return false;
    if (key === seen.key) {
      const { since, isOfChange } = seen;
      const markedWithinMs = 1.25 * resyncMsOf(world, resource) + minute;
      if (since === undefined || at - since >= markedWithinMs) return false;
      return isOfChange || processesSince(world, since) > 0;
    }
    // A second process has it since: of the others, which the first one marked anew, it does not know that they had that key too.
    if (processesSince(world, at) > 1) return true;
    return recordedIn(world, account, resource).every(
      (other) => other.thing?.collection !== thing.collection || !isProof(world, other.thing),
    );
  });
}

/** How many have begun, or taken their turn, since then. */
function processesSince(world: Witness, at: number): number {
  const begun = world.beginnings.filter((each) => each.at > at && each.rotated !== true);
  const taken = [...kubeModelOf(world).leases.values()].flatMap(({ all }) => all.filter((each) => each.at > at));
  return begun.length + taken.length;
}

/**
 * Of what resources have on record in its account, no less is missing than is there. Only kinds of which something is
 * missing are counted.
 */
function isMuchMissing(world: Witness, resource: Resource): boolean {
  return [...accessesOf(world, resource), ...begunAt(world, resource)].some(({ account }) => {
    if (account === undefined) return false;
    const recorded = recordedIn(world, account, resource);
    const missing = recorded.filter(({ thing }) => thing?.content === undefined);
    const kinds = new Set(missing.map(({ kind }) => kind));
    const present = recorded.filter(({ kind, thing }) => kinds.has(kind) && isProof(world, thing));
    return missing.length >= 2 && missing.length >= present.length;
  });
}

/**
 * What resources have on record in an account, beside one of them, but for what another installation manages, or made for them
 * in its own.
 */
function recordedIn(world: Witness, account: AccountID, resource: Resource) {
  const neighbours = [...kubeModelOf(world).live.values()].filter((other) => isOfSameManager(resource, other));
  return neighbours.flatMap((other) => {
    const id = recordedIDOf(other);
    const isHere = accessesOf(world, other).some((access) => access.account === account);
    if (id === undefined || !isHere) return [];
    const made = cloudModelOf(world).object(id);
    const maker = accountsOf(world).installations.get(made?.made.installation ?? '');
    const isTheirs = maker !== undefined && accountsOf(world).now(maker, other)?.account === made?.account;
    if (isTheirs && made?.account !== account) return [];
    return { kind: other.kind, thing: cloudModelOf(world).thing(account, id) };
  });
}

/**
 * It is there, and says that the key is the right one: not what an operator made, or learned that it had made, since the
 * process began.
 */
function isProof(world: Witness, thing: Thing | undefined): boolean {
  if (thing?.content === undefined) return false;
  const maker = accountsOf(world).installations.get(thing.made.installation ?? '');
  if (maker === undefined) return true;
  const startedAt = maker.at(world.scheduler.now)?.from ?? 0;
  const recordedAt = ownershipOf(world).recordedAt(thing) ?? thing.made.at;
  return recordedAt < startedAt;
}

/** What it has on record as its own: what it took over by an import is in its status alone. */
function recordedIDOf({ version, status }: Resource): string | undefined {
  return textOf(fieldsOf(status?.fields.ownership).id) ?? textOf(version.annotations[`${domain}/created-id`]);
}
