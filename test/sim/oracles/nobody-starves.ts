import { defaultCreateSettleMs } from '../core/duration.ts';
import type { Report } from '../core/run.ts';
import { servants } from './verdicts/look.ts';
import { type Access, accountsOf } from './witness/accounts.ts';
import { cloudModelOf } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { impliedObject, modulePaths } from './witness/implied.ts';
import type { InstallationHistory } from './witness/installations.ts';
import { textOf } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { names } from './witness/module-ownership.ts';
import { externalIDOf, isMarked, type Resource, type Version } from './witness/resource.ts';
import { ByKey, RollingCount } from './witness/rolling-count.ts';
import { minute, second, type Witness } from './witness/witness.ts';

/** In which whatever costs nothing is answered. */
const patienceMs = 30 * second;
/** A minute of a budget, with what latency adds. */
const turnMs = minute + second;
const callsOfObject = 4;
const callsOfModule = 3;
/** Of a budget, from which on nobody can be sure of a turn within the minute. */
const exhaustedShare = 0.7;

/** On the way: it says nothing of what became of it. */
const underway = ['Creating', 'Updating', 'RateLimited', 'Deleting'];

/**
 * What a person creates or edits is answered within a time that depends on what its namespace asks of its account, and on
 * who shares that account, but on no other account and on nothing that others ask.
 */
export function nobodyStarves(world: Witness, report: Report) {
  const patience = new Patience(world);
  kubeModelOf(world).writes.add(({ resource, by, at, deleted }) => {
    if (resource === undefined || by !== undefined || deleted || resource.version.at !== at) return;
    if (callsOf(resource) === 0) return;
    patience.wait(resource, resource.version, patienceMs, (waitedMs) =>
      report('nobody-starves', `${resource.key} had no answer ${Math.round(waitedMs / second)} s after its last edit`),
    );
  });
  return {};
}

class Patience {
  readonly #world: Witness;
  readonly #sent = new ByKey(() => new RollingCount(2 * minute));

  constructor(world: Witness) {
    this.#world = world;
    cloudModelOf(world).calls.add(({ installation, service, key, at }) => {
      if (installation !== undefined) this.#sent.of(installation, service, key).add(at);
    });
  }

  /** Looks again when its time has come, until it is answered or it is too late. */
  wait(resource: Resource, version: Version, ms: number, tooLate: (waitedMs: number) => void): void {
    this.#world.scheduler.after(ms, () => {
      if (resource.version !== version || isAnswered(resource)) return;
      const dueMs = this.#dueMs(resource, version);
      if (dueMs === undefined) return;
      const { now } = this.#world.scheduler;
      const left = version.at + dueMs - now;
      if (left > 0) this.wait(resource, version, left, tooLate);
      else tooLate(now - version.at);
    });
  }

  /** Undefined: nothing can be said. */
  #dueMs(resource: Resource, version: Version): number | undefined {
    const { now } = this.#world.scheduler;
    const [installation, ...others] = servants(this.#world, resource);
    if (installation === undefined || others.length > 0) return undefined;
    const access = accountsOf(this.#world).now(installation, resource);
    if (disturbancesOf(this.#world).any(version.at, now, access?.key)) return undefined;
    if (access === undefined) return patienceMs;
    const doubtMs = isMarked(version) || this.#isMissing(resource, access) ? defaultCreateSettleMs : 0;
    return patienceMs + doubtMs + turnMs * this.#turns(installation, access, resource, version);
  }

  /** What it made, or says that it made, is not in the account, which may be for a wrong key: nobody concludes that soon. */
  #isMissing({ status, version }: Resource, { account }: Access): boolean {
    const id = textOf(status?.fields.id) ?? externalIDOf(version);
    if (id === undefined || account === undefined) return false;
    return cloudModelOf(this.#world).thing(account, id)?.content === undefined;
  }

  /** Minutes of the budget that may pass before everything that its namespace asked for had its turn. */
  #turns(installation: InstallationHistory, access: Access, { namespace }: Resource, { at }: Version): number {
    const { now } = this.#world.scheduler;
    const users = [...kubeModelOf(this.#world).live.values()].filter((each) => {
      const used = callsOf(each) > 0 ? accountsOf(this.#world).now(installation, each) : undefined;
      return used?.service === access.service && used.key === access.key;
    });
    const tenants = new Set(users.map((each) => each.namespace)).size;
    const own = users.filter((each) => each.namespace === namespace && isNew(each, at));
    const calls = own.reduce((sum, each) => sum + callsOf(each), 0);
    // Another account may have the same key: together they have no more than that.
    const { requestsPerMinute = 120 } = installation.at(now) ?? {};
    const limit = Math.min(access.requestsPerMinute, requestsPerMinute);
    const turns = Math.ceil((calls * tenants) / limit);
    // Whoever was before it may have used up what there was.
    const sent = this.#sent.of(installation.name, access.service, access.key).count(now);
    return sent >= exhaustedShare * limit ? turns : turns - 1;
  }
}

function isAnswered({ lives, ready, version }: Resource): boolean {
  if (!lives) return true;
  return ready !== undefined && ready.observedGeneration === version.generation && !underway.includes(ready.reason);
}

/** Asked for in the minute before. */
const isNew = ({ versions }: Resource, now: number): boolean =>
  versions.during(now - minute, Number.POSITIVE_INFINITY).some(({ by, at }) => by === undefined && at >= now - minute);

function callsOf({ kind, version }: Resource): number {
  if (impliedObject(kind, version.spec) !== undefined) return callsOfObject;
  return callsOfModule * modulePaths(kind, version.spec).filter(({ part }) => names(version, part)).length;
}
