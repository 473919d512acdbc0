import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import { type Call, cloudModelOf, isMutating, succeeded } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { canonical } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { partOf } from './witness/module-ownership.ts';
import { told } from './witness/mutations.ts';
import { partCondition, type Resource } from './witness/resource.ts';
import { ByKey } from './witness/rolling-count.ts';
import { installationOf } from './witness/who.ts';
import { minute, second, type Witness } from './witness/witness.ts';

/** An operator that is not told how a request ended may send it again; by then there may be nothing to change. */
class Sent {
  readonly flights = new Set<Flight>();
  /** How many changed nothing, though whoever sent them heard so. */
  idle = 0;
}

/** What an operator sends to change something changes it, unless an answer was lost to it before. */
export function noMoreThanNeeded(world: Witness, report: Report) {
  const sent = new ByKey(() => new Sent());
  const idle = new Map<Flight, Call>();
  const lastBodies = new Map<string, string>();
  const shown = new Map<string, string>();
  /** When, and with which key, an installation last read a path. */
  const looks = new Map<string, Pick<Call, 'at' | 'key'>>();

  world.network.sendings.add((flight) => {
    if (isChange(flight)) sent.of(flight.to.name, flight.path).flights.add(flight);
  });
  cloudModelOf(world).calls.add((call) => {
    const path = `${call.installation} ${call.service} ${call.path}`;
    if (call.method === 'GET') looks.set(path, call);
    if (!isMutating(call) || !succeeded(call) || call.thing === undefined) return;
    const { thing, flight } = call;
    const name = `${thing.account} ${thing.name}`;
    const [before, body] = [shown.get(name), lastBodies.get(name)];
    const after = canonical(thing.content);
    shown.set(name, after);
    lastBodies.set(name, flight.body ?? '');
    // Of a module there may be more than it shows.
    const isSame = before === after && (call.method === 'PATCH' || body === flight.body);
    // Another key came between the look and the change.
    const look = looks.get(path);
    const isOfOther = (look?.key ?? call.key) !== call.key;
    // Two that take a resource for theirs, of which a person wiped whose it is, or with two keys of one account.
    const former = thing.edits.at(-2);
    const isAnothers = former?.installation !== call.installation || former?.key !== call.key;
    const isOutpaced = isAnothers && (former?.at ?? 0) > (look?.at ?? call.at);
    const isBlind = isOfOther || isOutpaced || mayHaveReadWrong(world, call) || mayHaveMetMore(world, call);
    if (isSame && isChange(flight) && !isBlind) idle.set(flight, call);
  });
  world.network.arrivals.add((flight, { status }) => {
    if (!isChange(flight) || status >= 300) return;
    const all = sent.of(flight.to.name, flight.path);
    all.flights.delete(flight);
    const call = idle.get(flight);
    if (call === undefined) return;
    all.idle += 1;
    if (all.idle > lostBefore(flight, all)) report('no-more-than-needed', `${told(call)} changes nothing`);
  });
  return {};
}

function lostBefore({ id }: Flight, { flights }: Sent): number {
  return [...flights].filter((each) => each.id < id).length;
}

function isChange({ method, from }: Flight): boolean {
  return (method === 'PUT' || method === 'PATCH') && installationOf(from.name) !== undefined;
}

/** The longest pause before a watch is opened again, and some time for that. */
const reopenMs = 35 * second;
/** Under these the service, or what answers like it, shows what is not so. */
const lies: readonly string[] = ['lagging-lists', 'odd-items', 'empty-account', 'gateway-404', 'mixed-answers'];

function mayHaveReadWrong(world: Witness, { sentAt }: Call): boolean {
  return disturbancesOf(world).all.some(
    ({ name, from, to }) => lies.includes(name) && from <= sentAt && to + 2 * minute >= sentAt,
  );
}

/**
 * Who has forgotten, or never knew, what an earlier spec had put there cannot tell whether the module still has it, unless
 * the status, as far as it can be known, says that it is as this spec asks.
 */
function mayHaveMetMore(world: Witness, { method, path, sentAt, key, thing }: Call): boolean {
  if (method !== 'PUT') return false;
  // What is said of another key's account is not said of this one's.
  const isOfThisKey = thing?.edits.at(-2)?.key === key;
  const knownUntil = disturbancesOf(world).knowledge(sentAt, 0, reopenMs);
  return [...kubeModelOf(world).live.values()].some((resource) => {
    const part = partOf(resource, path);
    return (
      part !== undefined && resource.version.generation > 1 && !(isOfThisKey && isAsAsked(resource, part, knownUntil))
    );
  });
}

/** A policy is all that there is to its resource: a field can leave no module by leaving its spec. */
function isAsAsked({ kind, status, version }: Resource, part: string, knownUntil: number): boolean {
  if (status === undefined || status.at > knownUntil) return false;
  const said = partCondition(status, part);
  const isWhole = kind === 'TlsEdgeTrafficPolicy';
  return said?.observedGeneration === version.generation && (isWhole || said.status === 'True');
}
