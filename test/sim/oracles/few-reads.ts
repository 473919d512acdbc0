import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import type { Answer } from '../core/server.ts';
import { accountsOf } from './accounts.ts';
import { cloudModelOf, isMutating, keyOf, succeeded, targetOf } from './cloud-model.ts';
import { disturbancesOf } from './disturbances.ts';
import { impliedObject } from './implied.ts';
import { type InstallationHistory, installationsOf } from './installations.ts';
import { fieldsOf, parsed } from './json.ts';
import type { AccountID } from './keys.ts';
import { kubeModelOf } from './kube-model.ts';
import { needOf, pagesOf } from './needed-reads.ts';
import { domain, isMarked, type Resource, type Version } from './resource.ts';
import { ByKey, RollingCount } from './rolling-count.ts';
import { installationOf } from './who.ts';
import { minute, second, type Witness } from './witness.ts';

/** So long nothing has changed before reads are counted, and for so long they are. */
const spanMs = 10 * minute;
const pagesOfLostCreate = 6;
/** So long a create that is lost is looked for. */
const lostMs = 3 * minute;
/** In which pages are counted: less than what lies between two sweeps. */
const searchMs = minute / 3;
/** For so long after the service was in trouble there is something to make up for. */
const troubleMs = 2 * minute;

/** Reads cost no more than drift checks need, and the search for a lost create a few pages, however many there are. */
export function fewReads(world: Witness, report: Report) {
  watchStillness(world, report);
  watchSearches(world, report);
  return {};
}

interface Count {
  from: number | undefined;
  reads: number;
}

function watchStillness(world: Witness, report: Report): void {
  let changedAt = 0;
  const counts = new ByKey((): Count => ({ from: undefined, reads: 0 }));
  kubeModelOf(world).writes.add(({ by, kind, at }) => {
    if (by === undefined && kind !== 'Lease') changedAt = at;
  });
  cloudModelOf(world).calls.add((call) => {
    const { installation: name = '', account, at } = call;
    const installation = installationsOf(world).get(name);
    if (isMutating(call) && succeeded(call)) changedAt = at;
    if (isMutating(call) || installation === undefined || account === undefined) return;
    const count = counts.of(name, account);
    if (count.from === undefined || count.from < changedAt + spanMs)
      Object.assign(count, { from: undefined, reads: 0 });
    if (at < changedAt + spanMs) return;
    count.from ??= at;
    count.reads += 1;
    if (at - count.from < spanMs) return;
    const span = [count.from, at] as const;
    if (!isDisturbed(world, installation, span)) {
      const need = needOf(world, installation, account, at - count.from);
      if (count.reads > need)
        report(
          'few-reads',
          `${name} reads ${account} more than ${Math.round(need)} times in 10 minutes in which nothing changes`,
        );
    }
    Object.assign(count, { from: at, reads: 0 });
  });
}

function isDisturbed(
  world: Witness,
  installation: InstallationHistory,
  [from, to]: readonly [number, number],
): boolean {
  return disturbancesOf(world).any(from - spanMs, to) || installation.startsIn(from - spanMs, to) > 0;
}

interface Search {
  /** Creates that were sent and not answered, yet or ever. */
  readonly lost: Map<number, number>;
  readonly sent: RollingCount;
  readonly read: RollingCount;
  /** As `sent` and `read`, of a minute: a sweep that failed begins anew by then. */
  readonly sentBefore: RollingCount;
  readonly readBefore: RollingCount;
  /** Changes of what is there, each of which may begin with a look. */
  readonly changes: RollingCount;
}

function watchSearches(world: Witness, report: Report): void {
  const { network, scheduler } = world;
  const searches = new ByKey(
    (): Search => ({
      lost: new Map(),
      sent: new RollingCount(searchMs),
      read: new RollingCount(searchMs),
      sentBefore: new RollingCount(minute),
      readBefore: new RollingCount(minute),
      changes: new RollingCount(searchMs),
    }),
  );
  const of = (flight: Flight) => {
    const [path = '', query] = flight.path.split('?', 2);
    const target = targetOf(path);
    const installation = installationOf(flight.from.name);
    if ((target.kind !== 'list' && target.kind !== 'object') || installation === undefined) return undefined;
    if (target.collection === 'endpoints' || isProbe(query)) return undefined;
    const { name } = flight.to;
    return { target, installation, search: searches.of(installation, name, keyOf(flight), target.collection) };
  };
  /** Answers that say that the service is in trouble, to anything. */
  const troubles = new ByKey(() => new RollingCount(troubleMs));
  const troublesOf = ({ from, to }: Flight) => troubles.of(installationOf(from.name) ?? '', to.name);
  network.sendings.add((flight) => {
    const { search, target } = of(flight) ?? {};
    if (flight.method === 'POST') search?.lost.set(flight.id, scheduler.now);
    else if (target?.kind === 'list') for (const sent of [search?.sent, search?.sentBefore]) sent?.add(scheduler.now);
    else if (flight.method !== 'GET') search?.changes.add(scheduler.now);
  });
  network.arrivals.add((flight, answer) => {
    const { status, body } = answer;
    if (isTrouble(status) || isPage(answer)) troublesOf(flight).add(scheduler.now);
    const found = of(flight);
    if (found?.target.kind !== 'list') return;
    const { search, installation, target } = found;
    if (flight.method === 'POST') {
      // What stands before the service does not say what became of it.
      const isTold = status < 500 && status !== 408 && !isPage(answer) && body !== '';
      if (isTold) search.lost.delete(flight.id);
      return;
    }
    if (status >= 300 || isPage(answer)) return;
    const { now } = scheduler;
    for (const read of [search.read, search.readBefore]) read.add(now);
    for (const [id, at] of search.lost) if (at < now - lostMs) search.lost.delete(id);
    // What is under way is not lost.
    const lost = [...search.lost.values()].filter((at) => at < now - 500).length;
    if (lost === 0 || search.read.count(now) <= pagesOfLostCreate) return;
    const account = cloudModelOf(world).keys.accountOf(flight.to.name, keyOf(flight));
    if (account === undefined || isEndless(world)) return;
    // What was read lately may have been sent before that.
    const failedNow = Math.max(0, search.sent.count(now) - search.read.count(now));
    const hasFailed = search.sentBefore.count(now) > search.readBefore.count(now);
    const failed = Math.max(failedNow, hasFailed ? 1 : 0);
    // Each process looks for it anew.
    const starts =
      installationsOf(world)
        .get(installation)
        ?.startsIn(now - searchMs, now) ?? 0;
    const users = usersOf(world, installation, account, target.collection);
    // A process that died before the POST, or over a write after it, left a mark all the same; and where many are lost they
    // wait minutes for the account's budget.
    const startedAt = installationsOf(world).get(installation)?.at(now)?.from ?? 0;
    const isLeft = (version: Version) => isMarked(version) && version.at < Math.max(startedAt, now - minute);
    const marked = users.filter(({ versions }) => versions.during(now - searchMs, now).some(isLeft)).length;
    const looks = Math.max(lost, marked) * Math.max(1, starts);
    // A sweep that was due then is made up for, shortly before the next one.
    const missed = troublesOf(flight).count(now) > 0 ? 1 : 0;
    const sweeps = sweepsOf(world, installation, account, target.collection, failed + missed);
    // By an own clock's mark it may have been made any time since the resource was there.
    const isOwnClocks = users.some(({ versions }) => versions.during(now - lostMs, now).some(isMarkedByOwnClock));
    const pagesOfLook = isOwnClocks ? pagesOf(world, account, target.collection) : 0;
    const most = Math.max(pagesOfLostCreate, pagesOfLook) * looks + sweeps + search.changes.count(now);
    if (search.read.count(now) > most)
      report(
        'few-reads',
        `${installation} reads more than ${most} pages of ${target.collection} of ${account} for ${lost} lost creates`,
      );
  });
}

const isTrouble = (status: number): boolean => status === 0 || status === 408 || status >= 460;

/** Of a gateway, for people to read. */
const isPage = ({ headers }: Pick<Answer, 'headers'>): boolean => headers['content-type'] === 'text/html';

/** A list of one asks whether the service answers, again and again while it does not: it looks for nothing. */
const isProbe = (query: string | undefined): boolean => query === 'limit=1';

/** Pages of the sweeps that are due in that time anyway, or have to begin again. */
function sweepsOf(world: Witness, name: string, account: AccountID, collection: string, failed: number): number {
  const { now } = world.scheduler;
  const installation = installationsOf(world).get(name);
  if (installation === undefined) return Number.POSITIVE_INFINITY;
  const resources = usersOf(world, name, account, collection);
  const { resyncMs = minute } = installation.at(now) ?? {};
  const intervals = new Set(
    resources.map(({ version }) => Number(version.spec.resyncIntervalSeconds ?? 0) * second || resyncMs),
  );
  // Sweeps of two intervals may fall together; those of more hardly ever do.
  const due = Math.min(2, intervals.size) + [...intervals].filter((each) => each <= 2 * searchMs).length;
  const startedAt = installation.at(now)?.from ?? 0;
  // Each process begins with one, of what was there before.
  const firsts = resources.some(({ createdAt }) => createdAt < startedAt)
    ? installation.startsIn(now - minute, now)
    : 0;
  const sweeps = due + firsts + failed;
  return sweeps * pagesOf(world, account, collection);
}

function usersOf(world: Witness, name: string, account: AccountID, collection: string): readonly Resource[] {
  const installation = installationsOf(world).get(name);
  if (installation === undefined) return [];
  return [...kubeModelOf(world).live.values()].filter(
    (each) =>
      impliedObject(each.kind, each.version.spec)?.collection === collection &&
      accountsOf(world).now(installation, each)?.account === account,
  );
}

const isMarkedByOwnClock = ({ annotations }: Version): boolean =>
  fieldsOf(parsed(annotations[`${domain}/create-intent`])).clock === 'own';

function isEndless(world: Witness): boolean {
  const { now } = world.scheduler;
  return disturbancesOf(world).all.some(
    ({ name, from, to }) => name === 'endless-pages' && from <= now && to >= now - searchMs,
  );
}
