import type { Report } from '../core/run.ts';
import { contested, namedBy } from './verdicts/strangers.ts';
import { type Call, cloudModelOf, isMutating, succeeded } from './witness/cloud-model.ts';
import { canonical } from './witness/json.ts';
import { type KubeWrite, kubeModelOf } from './witness/kube-model.ts';
import { told } from './witness/mutations.ts';
import { domain, type Status, type Version } from './witness/resource.ts';
import { ByKey, RollingCount } from './witness/rolling-count.ts';
import { restoresOf } from './witness/troubled.ts';
import { hour, type Witness } from './witness/witness.ts';

/** What is refused is tried six times an hour. */
const mostTries = 7;
/** Before a try what it may make is put on record, and after a refusal it is taken off. */
const writesATry = 2;

/** Once all has come to rest, nothing is written and nothing is changed any more. */
export function calm(world: Witness, report: Report) {
  let isAtRest = false;
  const tries = new ByKey(() => new RollingCount(hour));
  cloudModelOf(world).calls.add((call) => {
    if (isAtRest && isMutating(call) && call.installation !== undefined) say(told(call), call);
  });
  const say = (what: string, call: Call) => {
    if (call.thing !== undefined && contested(world).has(call.thing.name)) return;
    if (isTry(call) && countTry(call) <= mostTries) return;
    report('calm', what);
  };
  const isOfTry = ({ resource, at }: KubeWrite) => {
    if (resource?.ready?.reason !== 'Rejected') return false;
    const count = tries.of('record', resource.uid);
    count.add(at);
    return count.count(at) <= writesATry * mostTries;
  };
  const [isFirstMark, isFirstRighting] = [once(), once()];
  const isMarkedAnew = ({ resource }: KubeWrite) => {
    const isFirst = resource !== undefined && wasRestored(world) && isFirstMark(resource.uid);
    return isFirst && isOfMarkAlone(resource.versions.all.slice(-2));
  };
  const isRighted = ({ at, resource }: KubeWrite) => {
    const isFirst = resource?.kind === 'RequestReplay' && wasPruned(world) && isFirstRighting(resource.uid);
    return isFirst && isOfFieldsAlone(resource.statuses.all.slice(-2), at);
  };
  const countTry = ({ method, path, flight, at }: Call) => {
    const count = tries.of(method, path, method === 'POST' ? flight.body : '');
    count.add(at);
    return count.count(at);
  };
  kubeModelOf(world).writes.add((write) => {
    if (!isAtRest || !isNews(write)) return;
    const isDue = isOfTry(write) || isOfWar(world, write) || isMarkedAnew(write) || isRighted(write);
    if (!isDue) report('calm', `${write.by} writes ${whatOf(write)}`);
  });
  return {
    atRest: () => {
      isAtRest = true;
    },
  };
}

/** Whether each is asked for the first time. */
function once(): (uid: string) => boolean {
  const known = new Set<string>();
  return (uid) => !known.has(uid) && known.add(uid).has(uid);
}

const isTry = (call: Call): boolean => !succeeded(call) && call.status < 500;

/** Leases are renewed, and finished replays go when their time has come. */
function isNews({ kind, by, deleted }: KubeWrite): boolean {
  if (by === undefined || kind === 'Lease') return false;
  return !(kind === 'RequestReplay' && deleted);
}

/** An event of what strangers change in turn. */
function isOfWar(world: Witness, { kind, namespace }: KubeWrite): boolean {
  if (kind !== 'Event') return false;
  const ofStrangers = contested(world);
  const all = [...kubeModelOf(world).live.values()];
  return all.some((each) => each.namespace === namespace && namedBy(each).some((name) => ofStrangers.has(name)));
}

/** The secret of key marks may have gone with it: each resource is marked anew at the next check after that is known. */
function wasRestored(world: Witness): boolean {
  return restoresOf(world).length > 0;
}

function isOfMarkAlone(versions: readonly Version[]): boolean {
  const [before, after] = versions.map(({ annotations, ...rest }) => {
    const { [`${domain}/key-mark`]: mark, ...others } = annotations;
    return { mark, rest: canonical([others, rest.finalizers, rest.spec]) };
  });
  return before?.mark !== after?.mark && before?.rest === after?.rest;
}

/** A policy took away what was written of statuses. A finished replay is not looked at until its time has come. */
const wasPruned = ({ story }: Witness): boolean =>
  story.acts.some((act) => act.do === 'trouble' && act.name === 'kube-prunes');

/** Nothing is said anew but what was left out. */
function isOfFieldsAlone([before, after]: readonly Status[], at: number): boolean {
  if (before === undefined || after?.at !== at) return false;
  const kept = Object.entries(before.fields).every(
    ([name, value]) => canonical(after.fields[name]) === canonical(value),
  );
  return kept && canonical(before.conditions) === canonical(after.conditions);
}

/** Names of events are new each time. */
function whatOf({ kind, namespace, name }: KubeWrite): string {
  return kind === 'Event' ? `an Event in ${namespace}` : `${kind} ${namespace}/${name}`;
}
