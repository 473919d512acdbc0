import type { Act } from '../../core/story.ts';
import { accountNameOf } from '../witness/accounts.ts';
import type { Thing } from '../witness/cloud-model.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { kindsOfCollection, ownershipOf } from '../witness/ownership.ts';
import { domain, isOfSameManager, type Resource } from '../witness/resource.ts';
import { emptiedBy, wasTroubled } from '../witness/troubled.ts';
import { minute, type Witness } from '../witness/witness.ts';
import { areStrangers } from './strangers.ts';

/** When something was done because of what was concluded, and by which process; undefined where that is not known. */
export interface Deed {
  readonly sentAt: number;
  readonly process: string | undefined;
}

/**
 * It was taken for gone when the service denied it in words of its own, alone and in lists, and its account had nothing else
 * before that to tell by: that is what a deleted one looks like (docs/reliability.md).
 *
 * @param deed if not that another was made for the resource, or that it went: its record may have been taken off long before
 */
export function wasDeniedAlone(world: Witness, resource: Resource, thing: Thing, deed = endOf(world, resource, thing)) {
  const forgetting = forgettingOf(resource, thing);
  const { sentAt: at, process } = forgetting !== undefined && forgetting.sentAt < deed.sentAt ? forgetting : deed;
  const began = denial(world, thing, at)?.at;
  if (began === undefined) return false;
  const { account, collection } = thing;
  // Each kind is looked at by itself. What a lost create made is known of once it is on record.
  const isKnown = (each: Thing) => (ownershipOf(world).recordedAt(each) ?? each.made.at) <= at;
  const neighbours = neighboursOf(world, resource, began, at).filter(
    (each) => each.account === account && each.collection === collection && isKnown(each),
  );
  // What the process made that concludes it says nothing of the key: of two, it tells nothing.
  const isOfOwn = neighbours.length === 2 && neighbours.some(({ made }) => made.process === process);
  return neighbours.length < 2 || isOfOwn;
}

function endOf(world: Witness, resource: Resource, thing: Thing): Deed {
  const next = ownershipOf(world)
    .madeFor(resource)
    .find(({ made }) => made.sentAt > thing.made.at);
  return next?.made ?? { sentAt: resource.goneAt ?? Number.POSITIVE_INFINITY, process: resource.goneBy };
}

/** Its record was taken off. */
function forgettingOf({ versions: { all } }: Resource, { name }: Thing): Deed | undefined {
  const last = all.findLastIndex(({ annotations }) => annotations[`${domain}/created-id`] === name);
  const next = last < 0 ? undefined : all[last + 1];
  return next && { sentAt: next.at, process: next.by };
}

/** The service, or a gateway that speaks as it does, may say twice within seconds that a module is gone: it is let go within a minute. */
export function wasModuleDenied(world: Witness, thing: Thing, letGoAt: number): boolean {
  const byGateway = { with: { form: 'api-error' }, afterMs: minute };
  return denial(world, thing, letGoAt) !== undefined || wasTroubled(world, 'gateway-404', letGoAt, byGateway);
}

/** What denied it then: its account, or a gateway in the words of the service, while lists did not show it yet. */
export function denial(world: Witness, thing: Thing, at: number): Act | undefined {
  const { acts } = world.story;
  const byAccount = emptiedBy(world, thing.account, at);
  if (byAccount !== undefined) return byAccount;
  const isUnlisted = acts.some(
    (act) =>
      act.do === 'trouble' &&
      act.name === 'lagging-lists' &&
      lasts(act, at) &&
      at - thing.made.at < Number(act.with?.lagMs),
  );
  return isUnlisted ? acts.find((act) => deniesReads(act) && lasts(act, at)) : undefined;
}

function deniesReads(act: Act): boolean {
  if (act.do !== 'trouble' || act.name !== 'gateway-404') return false;
  return act.with?.form === 'api-error' && act.with.calls === 'all';
}

/** What it did within the last minute counts. */
function lasts(act: Act, at: number): boolean {
  return 'forMs' in act && act.at <= at && at <= act.at + act.forMs + minute;
}

/**
 * What is in the account of the resource then, as far as whoever serves it may know, its own too: of each user of it, that has
 * any, and whose status no person wipes until then, what was made for it last.
 */
export function neighboursOf(world: Witness, resource: Resource, at: number, until = at): readonly Thing[] {
  const { namespace, version } = resource;
  const name = accountNameOf(version);
  const users = Object.values(kindsOfCollection).flatMap((kind) =>
    [...kubeModelOf(world).ofKind(kind)].filter(
      (each) => accountNameOf(each.version) === name && (name === undefined || each.namespace === namespace),
    ),
  );
  const isThere = ({ made, gone }: Thing) => made.at < at && (gone === undefined || gone.at > at);
  const isKnown = (each: Resource) =>
    (each.goneAt ?? until) >= until && !areStrangers(world, resource, each, at) && isOfSameManager(each, resource);
  const known = users.filter((each) => (each === resource || isKnown(each)) && !wasWiped(each, at, until));
  return known.flatMap((each) => ownershipOf(world).madeFor(each).findLast(isThere) ?? []);
}

/** Annotations alone say what it made. */
function wasWiped({ statuses }: Resource, from: number, to: number): boolean {
  return statuses.all.some(
    ({ at, by, fields }) => by === undefined && from < at && at <= to && fields.id === undefined,
  );
}
