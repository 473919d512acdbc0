import type { Flight } from '../../core/network.ts';
import type { Report } from '../../core/run.ts';
import { accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, keyOf, targetOf } from '../witness/cloud-model.ts';
import { disturbancesOf } from '../witness/disturbances.ts';
import { impliedObject } from '../witness/implied.ts';
import { type InstallationHistory, installationsOf } from '../witness/installations.ts';
import { fieldsOf, parsed, textOf } from '../witness/json.ts';
import type { AccountID } from '../witness/keys.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { domain, isMarked, type Resource, type Version } from '../witness/resource.ts';
import { ByKey } from '../witness/rolling-count.ts';
import { wasTroubled } from '../witness/troubled.ts';
import { installationOf } from '../witness/who.ts';
import { minute, second, type Witness } from '../witness/witness.ts';
import { isForged } from './excuses.ts';

/** A list of all objects of a kind that an account has. */
interface List {
  readonly installation: InstallationHistory;
  readonly account: AccountID;
  readonly collection: string;
}

/** What one process reads of a list with one key. */
interface Reading {
  readonly from: number;
  /** At which it checks what the account has, or did. */
  readonly intervals: Set<number>;
  /** Ends of pages, each the first of its list: what lies behind is older than whatever a create in doubt may have made. */
  readonly ends: Set<string>;
  /** How often it went on there. */
  whole: number;
}

/** When what failed of a process was sent, and, by its id, what is not answered. */
interface Failures {
  readonly times: number[];
  readonly open: Map<number, number>;
}

/** With these a resource is Ready, or on its way. */
const progress = ['Available', 'Creating', 'Updating', 'Deleting', ''];
/** For so long after its mark is gone somebody may still be reading who looks for what a create made. */
const lookMs = 3 * minute;
/**
 * A page of which less is shown, as by a service that lags, or can be read, does not tell whether what follows is older, where all
 * is of one moment.
 */
const pageSize = 100;
/** A client has given up by then. */
const answerMs = 5 * second;

/**
 * Lists are newest first, and what a lost create may have made is looked for no further back than that can be. What lies
 * behind is for checks for drift alone: once when a process begins, once an interval, and again where something has failed
 * since. How often a lost create is looked for is not asked here: each look costs a first page.
 */
export function watchWholeLists(world: Witness, report: Report): void {
  const { network, scheduler } = world;
  const readings = new ByKey((): Reading => ({ from: scheduler.now, intervals: new Set(), ends: new Set(), whole: 0 }));
  const readingOf = (flight: Flight, { collection }: List) =>
    readings.of(flight.from.name, flight.to.name, keyOf(flight), collection);

  network.arrivals.add((flight, { status, body }) => {
    const list = listOf(world, flight);
    if (list === undefined || status !== 200) return;
    const { next_page_uri: next, [list.collection]: items } = fieldsOf(parsed(body));
    const end = cursorOf(next) ?? '';
    const since = soughtSince(world, list);
    const isBeyond = (id: string | undefined) => madeAt(world, id) < since;
    const { ends } = readingOf(flight, list);
    const isOdd = wasTroubled(world, 'odd-items', flight.arrivedAt ?? scheduler.now);
    const isWhole = Array.isArray(items) && items.length >= pageSize && !isOdd;
    if (isWhole && isBeyond(end) && !isBeyond(cursorOf(flight.path))) ends.add(end);
    else ends.delete(end);
  });
  network.sendings.add((flight) => {
    const list = listOf(world, flight);
    if (list === undefined) return;
    const reading = readingOf(flight, list);
    for (const each of intervalsOf(world, list)) reading.intervals.add(each);
    if (!reading.ends.has(cursorOf(flight.path) ?? '') || isEndless(world)) return;
    reading.whole += 1;
    const most = dueBy(scheduler.now, reading) + failedSince(reading.from, failures.of(flight.from.name));
    const { installation, account, collection } = list;
    if (reading.whole > most)
      report('few-reads', `${installation.name} lists all ${collection} of ${account} more than ${most} times`);
  });
  // After that: what is just being sent has not failed.
  const failures = watchFailures(world);
}

function listOf(world: Witness, { from, to, method, path, headers }: Flight): List | undefined {
  const target = targetOf(path.split('?')[0] ?? '');
  if (method !== 'GET' || target.kind !== 'list' || target.collection === 'endpoints') return undefined;
  const installation = installationsOf(world).get(installationOf(from.name) ?? '');
  const account = cloudModelOf(world).keys.accountOf(to.name, keyOf({ headers } as Flight));
  if (installation === undefined || account === undefined) return undefined;
  return { installation, account, collection: target.collection };
}

/** Undefined: of a first page, or of none. */
function cursorOf(uri: unknown): string | undefined {
  const query = textOf(uri)?.split('?')[1] ?? '';
  return new URLSearchParams(query).get('before_id') ?? undefined;
}

/** Whatever is not known is young. */
function madeAt(world: Witness, id: string | undefined): number {
  return cloudModelOf(world).object(id ?? '')?.made.at ?? Number.POSITIVE_INFINITY;
}

/** The oldest that a create in doubt may have made: nothing is made for a resource before it is there. */
function soughtSince(world: Witness, list: List): number {
  const { now } = world.scheduler;
  const inDoubt = usersOf(world, list).filter(({ versions }) => versions.during(now - lookMs, now).some(isMarked));
  return Math.min(Number.POSITIVE_INFINITY, ...inDoubt.map((each) => (isDated(world, each) ? each.createdAt : 0)));
}

/** By the service's own clock, which nobody set. By any other it may be older than anything. */
function isDated(world: Witness, resource: Resource): boolean {
  const isReset = disturbancesOf(world).all.some(({ name }) => name === 'cloud-clock');
  return !isReset && !isForged(resource) && !resource.versions.all.some(isMarkedByOwnClock);
}

const isMarkedByOwnClock = ({ annotations }: Version): boolean =>
  fieldsOf(parsed(annotations[`${domain}/create-intent`])).clock === 'own';

function usersOf(world: Witness, { installation, account, collection }: List): readonly Resource[] {
  return [...kubeModelOf(world).live.values()].filter(
    (each) =>
      impliedObject(each.kind, each.version.spec)?.collection === collection &&
      accountsOf(world).now(installation, each)?.account === account,
  );
}

function intervalsOf(world: Witness, list: List): readonly number[] {
  const { resyncMs = minute } = list.installation.at(world.scheduler.now) ?? {};
  const own = usersOf(world, list).map(({ version }) => Number(version.spec.resyncIntervalSeconds ?? 0) * second);
  return [resyncMs, ...own.filter((each) => each > 0)];
}

/** At the moments of each interval, and when it began. */
const dueBy = (now: number, { from, intervals }: Reading): number =>
  [...intervals].reduce((sum, each) => sum + Math.floor((now - from) / each) + 1, 1);

/**
 * When a process tried what did not succeed: requests that were not answered, or not well, and resources that were not Ready
 * after it. Not creates, whatever becomes of them: they are looked for in another way.
 */
function watchFailures(world: Witness): ByKey<Failures> {
  const { network, scheduler } = world;
  const failures = new ByKey((): Failures => ({ times: [], open: new Map() }));
  network.sendings.add(({ id, from, method, path, isWatch, sentAt }) => {
    const isCreate = method === 'POST' && targetOf(path).kind === 'list';
    if (!isWatch && !isCreate) failures.of(from.name).open.set(id, sentAt);
  });
  network.arrivals.add(({ id, from, sentAt }, { status, headers }) => {
    const { open, times } = failures.of(from.name);
    const isLate = scheduler.now - sentAt > answerMs;
    if (open.delete(id) && (isLate || status >= 300 || headers['content-type'] === 'text/html')) times.push(sentAt);
  });
  kubeModelOf(world).writes.add(({ at, by, resource }) => {
    if (by === undefined || resource?.status?.at !== at || isMarked(resource.version)) return;
    if (!progress.includes(resource.ready?.reason ?? '')) failures.of(by).times.push(at);
  });
  return failures;
}

const failedSince = (from: number, { times, open }: Failures): number =>
  [...times, ...open.values()].filter((at) => at >= from).length;

function isEndless(world: Witness): boolean {
  const { now } = world.scheduler;
  return disturbancesOf(world).all.some(
    ({ name, from, to }) => name === 'endless-pages' && from <= now && to >= now - minute,
  );
}
