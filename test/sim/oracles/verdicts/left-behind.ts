import { defaultCreateSettleMs } from '../../core/duration.ts';
import type { Act } from '../../core/story.ts';
import { accountNameOf, accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, type Thing } from '../witness/cloud-model.ts';
import { asksFor } from '../witness/implied.ts';
import { canonical, fieldsOf } from '../witness/json.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { moduleOwnershipOf, names, partOf, proves, saysApplied } from '../witness/module-ownership.ts';
import { kindsOfCollection, ownershipOf } from '../witness/ownership.ts';
import {
  begunVersionOf,
  domain,
  externalIDOf,
  finalizer,
  isForced,
  isMarked,
  isObserved,
  isPaused,
  isRetained,
  type Resource,
  recordedAccountOf,
  type Status,
  type Version,
} from '../witness/resource.ts';
import { wasTroubled } from '../witness/troubled.ts';
import { second, type Witness } from '../witness/witness.ts';
import { denial, neighboursOf, wasDeniedAlone, wasModuleDenied } from './denied.ts';
import { isDoubtful } from './doubts.ts';
import { isForged, pathsOf } from './excuses.ts';

type Trouble = Extract<Act, { do: 'trouble' }>;

/** Whether something that an operator made was left behind on purpose, or by what nobody can help. */
export function isLeftOnPurpose(world: Witness, thing: Thing): boolean {
  if (thing.collection === 'module') return wasDoneTooLate(thing.made) || isModuleLeft(world, thing);
  const maker = ownershipOf(world).makerOf(thing);
  if (wasForgottenByRestore(world, thing) || wasMadeTooLate(world, thing) || isTwinOfALateOne(world, thing))
    return true;
  if (isAskedAbout(world, thing)) return true;
  const makers = maker === undefined ? [...heirsOf(world, thing)] : [maker];
  return makers.some((each) => mayLeave(world, each, thing));
}

/** For whom it may have been made, and from whom one of those took a twin of it: then it is the other one's. */
function heirsOf(world: Witness, thing: Thing): ReadonlySet<Resource> {
  const makers = new Set(possibleMakers(world, thing));
  for (const twin of twinsOf(world, thing)) {
    const taker = ownershipOf(world).makerOf(twin);
    if (taker !== undefined && makers.has(taker)) for (const each of possibleMakers(world, twin)) makers.add(each);
  }
  return makers;
}

/** A person is asked whose it is, be it of another one that it was made for. */
function isAskedAbout(world: Witness, { name }: Thing): boolean {
  return [...kubeModelOf(world).live.values()].some(
    ({ ready }) => ready?.reason === 'AmbiguousCreate' && ready.message.includes(name),
  );
}

/** Nobody can wait for whoever acts on a request later than `--create-settle`. */
function wasDoneTooLate({ at, sentAt }: Thing['made']): boolean {
  return at - sentAt > defaultCreateSettleMs;
}

/** What no list shows as it is within `--create-settle` of the request is told of, and nobody can wait for it. */
export function wasMadeTooLate({ story }: Witness, { made }: Thing): boolean {
  const lastLook = made.sentAt + defaultCreateSettleMs;
  const troubles = story.acts
    .filter((act) => act.do === 'trouble')
    .filter(({ at, forMs }) => at <= lastLook && lastLook <= at + forMs);
  const lags = troubles.map(({ name, with: options }) => (name === 'lagging-lists' ? Number(options?.lagMs) : 0));
  return made.at + Math.max(0, ...lags) > lastLook;
}

/** Lists showed it as something else when the mark of its create was taken back. */
function wasDisguised({ story }: Witness, { versions: { all } }: Resource, { made }: Thing): boolean {
  const takenBack = all.find((version, index) => {
    const before = all[index - 1];
    const isOurs = version.by !== undefined && version.at >= made.sentAt;
    return isOurs && before !== undefined && isMarked(before) && !isMarked(version);
  });
  const lastLook = takenBack?.at ?? made.sentAt + defaultCreateSettleMs;
  return story.acts.some(
    (act) =>
      act.do === 'trouble' && act.at <= lastLook && lastLook <= act.at + act.forMs && mayHideMetadata(act, made.body),
  );
}

/** An item without its metadata is a whole one, of another content; without another field it is odd, and is waited for. */
function mayHideMetadata({ name, with: options }: Trouble, body: Thing['made']['body']): boolean {
  const { how = 'null', field = 'metadata' } = options ?? {};
  const isLeftOut = how === 'null' || how === 'missing';
  return name === 'odd-items' && isLeftOut && field === 'metadata' && (body.metadata ?? '') !== '';
}

/** An earlier one like it came so late that it was taken for it. */
function isTwinOfALateOne(world: Witness, thing: Thing): boolean {
  const isLate = (other: Thing) => other.made.sentAt < thing.made.sentAt && wasMadeTooLate(world, other);
  return twinsOf(world, thing).some(isLate);
}

/** Of equal content, in the same account. */
function twinsOf(world: Witness, thing: Thing): readonly Thing[] {
  const { collection, account } = thing;
  const content = canonical(thing.made.body);
  return [...cloudModelOf(world).things].filter(
    (other) =>
      other !== thing &&
      other.collection === collection &&
      other.account === account &&
      canonical(other.made.body) === content,
  );
}

/** For whom it may have been made, in that account and by that installation, where no answer was ever recorded. */
export function possibleMakers(world: Witness, { collection, account, made }: Thing): readonly Resource[] {
  const kind = kindsOfCollection[collection];
  const installation = accountsOf(world).installations.get(made.installation ?? '');
  if (kind === undefined || installation === undefined) return [];
  const span = [made.sentAt - 60_000, made.at] as const;
  return [...kubeModelOf(world).ofKind(kind)].filter((resource) => {
    if (resource.createdAt > made.at) return false;
    const versions = resource.versions.during(...span).filter(({ spec }) => asksFor(kind, spec, made.body));
    const accesses = accountsOf(world).during(installation, resource, versions, span);
    return accesses.some((each) => each.account === account);
  });
}

function mayLeave(world: Witness, resource: Resource, thing: Thing): boolean {
  // Whoever forges the record of what a resource made loses that.
  if (isForged(resource) || wasDisguised(world, resource, thing)) return true;
  if (!resource.lives) return wasLetGo(world, resource, thing);
  if (resource.ready?.reason === 'AmbiguousCreate' || isOutOfReach(world, resource, thing)) return true;
  if (isStillSought(world, resource, thing)) return true;
  if (wasTakenMeanwhile(resource, thing) || wasDeniedAlone(world, resource, thing)) return true;
  if (wasToldOfLater(world, resource, thing)) return true;
  return isPaused(resource.version) || isObserved(resource.version) || wasForgotten(world, resource, thing);
}

/** It may be behind another key than the one in force: a person is asked, and the mark of its create stays until he answers. */
function isStillSought(world: Witness, resource: Resource, { made }: Thing): boolean {
  const begunAt = begunVersionOf(resource)?.at ?? Number.POSITIVE_INFINITY;
  return begunAt <= made.sentAt && resource.ready?.reason === 'Unreachable' && isDoubtful(world, resource);
}

/** A person wiped its records while it was made, and another installation took it: there was nowhere to record what was made. */
function wasTakenMeanwhile({ versions: { all } }: Resource, { made }: Thing): boolean {
  const managerOf = ({ annotations }: Version) => annotations[`${domain}/installation`];
  return all.some((version, index) => {
    const [before, next] = [all[index - 1], all[index + 1]];
    const wasMeanwhile = version.at >= made.sentAt && version.at <= made.at + second;
    if (!wasMeanwhile || version.by !== undefined || managerOf(version) !== undefined) return false;
    return before !== undefined && next?.by !== undefined && managerOf(before) !== managerOf(next);
  });
}

/** It was made with a key that is not in force any more: nobody can tell that it was another account's. */
function isOutOfReach(world: Witness, resource: Resource, thing: Thing): boolean {
  const { account, made } = thing;
  const maker = made.installation === undefined ? undefined : accountsOf(world).installations.get(made.installation);
  if (maker === undefined || accountsOf(world).now(maker, resource)?.account === account) return false;
  const all = ownershipOf(world).madeFor(resource);
  const earlier = all.includes(thing) ? all.slice(0, all.indexOf(thing)) : all.filter((each) => each.made.at < made.at);
  const had = earlier.filter(({ gone }) => gone === undefined || gone.at > made.at);
  const isKnown = had.some((each) => each.made.process === made.process);
  return had.length === 0 || (!isKnown && neighboursOf(world, resource, made.sentAt).length < 2);
}

/** It went, and whoever let it go had a reason not to remove what it made. */
function wasLetGo(world: Witness, resource: Resource, thing: Thing): boolean {
  const { version, lostByRestore, goneAt: at = 0 } = resource;
  if (lostByRestore || isRetained(version) || isForced(version) || wasForgotten(world, resource, thing)) return true;
  if (wasToldOf(world, resource, thing) || wasDeniedAlone(world, resource, thing)) return true;
  return wasFinalizerTaken(resource) || usedAnotherKey(world, resource, thing, { ...version, at });
}

/** So long a resource that is to go is kept for what a lost create may have made. */
const keptMs = 120_000;
/** How an item of a list is named that an event says may be left behind. */
const itemNamed = /\bitem (\w+_\w+)/;
/** What is said of one that was denied with most else. */
const inDoubt = 'cannot be known to be gone';
/** Of what a create made whose answer was lost, when nothing was found. */
const heldByNone = 'is held by no resource';

/**
 * An event said that what a create made whose answer was lost may be left behind, by its id where a list showed one, after the
 * resource was kept for it; each event is in the log too, also where it cannot be written to Kubernetes.
 */
function wasToldOf(world: Witness, resource: Resource, thing: Thing): boolean {
  const { versions, goneAt } = resource;
  const keptSince = versions.all.find(({ deleting }) => deleting)?.at ?? Number.POSITIVE_INFINITY;
  return orphansOf(world, resource).some(({ at, message }) => {
    if (at < keptSince + keptMs || at > (goneAt ?? at)) return false;
    if (message.includes(inDoubt)) return message.includes(thing.name) && denial(world, thing, at) !== undefined;
    return message.includes('of an unanswered create') && (itemNamed.exec(message)?.[1] ?? thing.name) === thing.name;
  });
}

/** The service denied what it had while a lost create was looked for: of what turned up later an event tells by its id. */
function wasToldOfLater(world: Witness, resource: Resource, thing: Thing): boolean {
  const isTold = orphansOf(world, resource).some(
    ({ message }) => message.includes(heldByNone) && message.includes(thing.name),
  );
  return isTold && denial(world, thing, thing.made.at) !== undefined;
}

/** What events said that may be left behind. */
const orphansOf = (world: Witness, resource: Resource) => eventsOf(world, resource, 'Orphaned');

function eventsOf({ logs }: Witness, { kind, namespace, name }: Resource, event: string) {
  return logs.filter(({ fields }) => {
    const isOfIt = fields.kind === kind && fields.namespace === namespace && fields.name === name;
    return isOfIt && fields.event === event;
  });
}

/** By a person, whenever it was. */
export function wasFinalizerTaken({ versions, goneBy }: Resource): boolean {
  const all = versions.all;
  const isHeld = ({ finalizers }: Version) => finalizers.includes(finalizer);
  const wasTaken = all.some((version, index) => {
    const before = all[index - 1];
    return version.by === undefined && before !== undefined && isHeld(before) && !isHeld(version);
  });
  const last = all.at(-1);
  return wasTaken || (goneBy === undefined && last !== undefined && isHeld(last));
}

/**
 * A person, or the key of the default account, had it look in another account when it, or a part of it, was let go: there
 * the service said that nothing was left. What is to go is looked for where its record says that it is.
 */
function usedAnotherKey(world: Witness, resource: Resource, thing: Thing, version: Version): boolean {
  return [version, asRecorded(version)].some((each) => isElsewhere(world, resource, thing, each));
}

/** With the account that its record names in place of that of its spec. */
function asRecorded(version: Version): Version {
  const accountRef = recordedAccountOf(version);
  return accountRef === undefined ? version : { ...version, spec: { ...version.spec, accountRef } };
}

function isElsewhere(world: Witness, resource: Resource, { account }: Thing, version: Version): boolean {
  const { at } = version;
  const service = account.split('/')[0];
  return [...accountsOf(world).installations.values()].some((installation) => {
    if (!installation.serves(resource, at)) return false;
    const accesses = accountsOf(world).during(installation, resource, [version], [at, at]);
    // What the default account made at one service it does not look for at another, as right after a wrong address.
    const isDefault = accountNameOf(version) === undefined;
    return accesses.some((each) => each.account !== account && (!isDefault || each.service === service));
  });
}

/**
 * People wiped the id from annotations and status both, or from the status while a policy kept it out of annotations, or from
 * annotations while no status had it yet and nobody was there to put it back, or the mark of its create; and nothing in
 * Kubernetes says what it made. Of one that lost its mark so, and was sent another create, either may be found.
 */
export function wasForgotten(world: Witness, resource: Resource, thing: Thing): boolean {
  if (wasTakenOverUnmarked(world, resource, thing)) return true;
  // One restore took the resource away, and the next brought it back as it was before that create.
  if (resource.lostByRestore && wasForgottenByRestore(world, thing)) return true;
  const { name: id } = thing;
  const told = resource.statuses.all;
  const fromStatus = told.find((status, index) => {
    const before = told[index - 1];
    return status.by === undefined && before !== undefined && tells(before, id) && !tells(status, id);
  });
  if (fromStatus && (wipesOf(resource, thing).length > 0 || wasTroubled(world, 'kube-strips', fromStatus.at, stripped)))
    return true;
  if (told.some((status) => tells(status, id))) return false;
  const earlier = ownershipOf(world)
    .madeFor(resource)
    .filter((other) => other.made.at < thing.made.at);
  return [thing, ...earlier].some((each) => hasLostItsMark(world, resource, each));
}

/**
 * Another installation took its resource over and made another one in its own account: the mark of the key with which the first
 * one was there a person had wiped by then, while nobody of that installation was there to put it back.
 */
function wasTakenOverUnmarked(world: Witness, resource: Resource, { account, made }: Thing): boolean {
  const next = ownershipOf(world)
    .madeFor(resource)
    .find(
      (other) =>
        other.made.sentAt > made.at && other.made.installation !== made.installation && other.account !== account,
    );
  if (next === undefined) return false;
  const all = resource.versions.during(made.at, next.made.sentAt);
  return all.some((version, index) => {
    const before = all[index - 1];
    if (version.by !== undefined || before === undefined || !hasKeyMark(before) || hasKeyMark(version)) return false;
    // The next mark is that of the create, or of a later one.
    const marked = all.slice(index).find(hasKeyMark);
    return (marked === undefined || isMarked(marked)) && !isServed(world, next, version.at);
  });
}

const hasKeyMark = ({ annotations }: Version): boolean => annotations[`${domain}/key-mark`] !== undefined;

/** People wiped its id, or the mark of its create, while nobody was there to put it back. */
export function hasLostItsMark(world: Witness, resource: Resource, thing: Thing): boolean {
  return wipesOf(resource, thing).some(({ at }) => !isServed(world, thing, at));
}

/** What operators write to annotations a policy takes out again. */
const stripped = { with: { part: 'annotations' } } as const;

/** When people wiped its id, or the mark of its create. */
function wipesOf(resource: Resource, { name: id, made }: Thing): readonly Version[] {
  const { all } = resource.versions;
  return all.filter((version, index) => {
    const before = all[index - 1];
    if (version.by !== undefined || before === undefined) return false;
    const isOfMark = isMarked(before) && !isMarked(version) && wasMarkedBy(before, resource, made);
    return isOfMark || (externalIDOf(before) === id && externalIDOf(version) !== id);
  });
}

/** It bears the mark of that create, or of a later one: none was written between it and the create. */
function wasMarkedBy(version: Version, { versions: { all } }: Resource, { sentAt }: Thing['made']): boolean {
  return !all.some((other) => other.at > version.at && other.at <= sentAt && isMarked(other));
}

const tells = ({ fields }: Status, id: string): boolean => fields.id === id || fieldsOf(fields.ownership).id === id;

/** So long an API server that is in trouble, or a frozen process, may keep an operator from writing. */
const writesWithinMs = 60_000;
/** So long a process may take to read what there is from an API server that is in trouble. */
const firstReadMs = 5_000;

/**
 * Whether the installation that made it was to run then, and did for a while; a process that is told to stop begins nothing
 * anew, and the next one knows nothing of what this one could not write, nor of what was there before it could read anything.
 */
function isServed(world: Witness, { made }: Thing, at: number): boolean {
  const installation = accountsOf(world).installations.get(made.installation ?? '');
  if (installation === undefined) return true;
  const { from = at } = installation.at(at) ?? {};
  if (isWithoutKubernetes(world, from, at)) return false;
  return installation.isWanted(at) && installation.startsIn(at, at + writesWithinMs) === 0;
}

function isWithoutKubernetes({ story }: Witness, from: number, to: number): boolean {
  return story.acts.some((act) => {
    if (act.do !== 'trouble' || act.at > from) return false;
    // What fails of the first lists is read with the next ones.
    if (act.name === 'kube-5xx') return from <= act.at + act.forMs && to <= from + firstReadMs;
    if (act.with?.to !== 'kube' || act.with.probability !== 1) return false;
    return act.name === 'refused-connections' && to <= act.at + act.forMs;
  });
}

/** Kubernetes went back to a backup from before it was made: no trace is left of it. */
export const wasForgottenByRestore = (world: Witness, { made }: Pick<Thing, 'made'>): boolean =>
  wasUndoneByRestore(world, made.at);

/** Kubernetes went back to a backup from before that. */
export function wasUndoneByRestore(world: Witness, at: number): boolean {
  return wasTroubled(world, 'kube-restored', at);
}

function isModuleLeft(world: Witness, thing: Thing): boolean {
  const { name, account } = thing;
  if (thing.edits.some((edit) => wasForgottenByRestore(world, { ...thing, made: edit }))) return true;
  const isRefusedAway = [...kubeModelOf(world).live.values()].some(
    (resource) => pathsOf(resource).includes(name) && isOutOfReach(world, resource, thing),
  );
  if (isRefusedAway) return true;
  return [...accountsOf(world).installations.values()].some((installation) =>
    moduleOwnershipOf(world)
      .claimants(name, account, installation, [0, world.scheduler.now])
      .some((resource) => mayLeaveModule(world, resource, thing)),
  );
}

function mayLeaveModule(world: Witness, resource: Resource, thing: Thing): boolean {
  const part = partOf(resource, thing.name) ?? '';
  const dropped = droppedBy(resource, part);
  if (dropped !== undefined && usedAnotherKey(world, resource, thing, dropped)) return true;
  if (wasModuleDenied(world, thing, dropped?.at ?? doneWithAt(world, resource) ?? Number.NaN)) return true;
  if (wasPartForgotten(resource, part) || wasPartSetBack(world, resource, thing, part)) return true;
  if (wasLeftToAnother(world, resource, thing)) return true;
  if (!resource.lives) return wasLetGo(world, resource, thing);
  return names(resource.version, part) || isPaused(resource.version) || isObserved(resource.version);
}

/** Its finalizer may be kept, by a policy, long after it was said that what it had was gone. */
function doneWithAt(world: Witness, resource: Resource): number | undefined {
  const deletedAt = resource.versions.all.find(({ deleting }) => deleting)?.at ?? Number.POSITIVE_INFINITY;
  const said = eventsOf(world, resource, 'Deleted').find(({ at }) => at >= deletedAt);
  return said?.at ?? resource.goneAt;
}

/** People wiped it from annotations and status both before an operator could put it back. */
function wasPartForgotten({ versions, statuses }: Resource, part: string): boolean {
  const all = versions.all;
  const wiped = all.findLastIndex((version, index) => {
    const before = all[index - 1];
    return version.by === undefined && before !== undefined && saysApplied(before, part) && !saysApplied(version, part);
  });
  if (wiped < 0) return false;
  const next = all.slice(wiped).find(({ by }) => by !== undefined)?.at ?? Number.POSITIVE_INFINITY;
  const told = statuses.all.filter(({ at }) => at < next);
  const last = told.at(-1);
  if (last === undefined || proves(last, part)) return false;
  // An operator that could not look meanwhile has its own words in there.
  const lost = told.findLast((status, index) => proves(told[index - 1], part) && !proves(status, part));
  return (lost ?? last).by === undefined;
}

/** For so long a process that has not written to a resource takes what is on record of it for what the one before it wrote. */
const recordsOpenMs = 300_000;

/**
 * A person took it out of the annotations, as by a manifest that was saved with older ones, when there was no process that knew
 * better, and none has put it back: what is on record is newer than the status.
 */
function wasPartSetBack(world: Witness, { versions: { all } }: Resource, thing: Thing, part: string): boolean {
  const at = all.findLastIndex((version, index) => {
    const before = all[index - 1];
    return version.by === undefined && before !== undefined && saysApplied(before, part) && !saysApplied(version, part);
  });
  const version = all[at];
  if (version === undefined || all.slice(at).some((each) => saysApplied(each, part))) return false;
  // Where all is wiped the status tells.
  if (recordedAccountOf(version) === undefined) return false;
  const begun = world.beginnings.filter((each) => each.at <= version.at && each.rotated !== true);
  const since = Math.max(...begun.map((each) => each.at));
  const isNew = all.every((each) => each.by === undefined || each.at < since || each.at > version.at);
  return !isServed(world, thing, version.at) || (isNew && version.at - since < recordsOpenMs);
}

/** When it went, no status proved that it had the part, and another's proved one of the same path, in whatever account. */
function wasLeftToAnother(world: Witness, resource: Resource, { name }: Thing): boolean {
  const { goneAt: at } = resource;
  if (at === undefined) return false;
  const isProven = (each: Resource) => proves(each.statuses.at(at), partOf(each, name));
  const others = [...kubeModelOf(world).ofKind(resource.kind)].filter(
    (each) => each !== resource && each.livedIn(at, at),
  );
  return !isProven(resource) && others.some(isProven);
}

/** The version from which on the operator has the part on record no more: to it, it is gone. */
function droppedBy({ versions }: Resource, part: string): Version | undefined {
  const all = versions.all;
  const last = all.findLastIndex((version) => saysApplied(version, part));
  const next = last < 0 ? undefined : all[last + 1];
  return next?.by === undefined ? undefined : next;
}
