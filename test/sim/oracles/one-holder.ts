import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import { keyOf } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { identitiesOf } from './witness/identities.ts';
import { installationsOf } from './witness/installations.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { installationOf } from './witness/who.ts';
import { minute, second, type Witness } from './witness/witness.ts';

/** The last process of an installation that used a key. */
interface User {
  readonly process: string;
  readonly at: number;
}

/** Without a holder for longer, something is wrong. */
const mostGapMs = 20 * second;
const lookEveryMs = 5 * second;

/**
 * No two replicas use one key at the same time: who begins to has taken a Lease since the other sent something with it
 * for the last time. And no Lease stays without a holder while there is somebody to take it.
 */
export function oneHolder(world: Witness, report: Report) {
  const users = new Map<string, User>();
  kubeModelOf(world);
  identitiesOf(world);
  world.network.sendings.add((flight) => {
    const { from, to, sentAt: at } = flight;
    const installation = installationOf(from.name);
    const key = keyOf(flight);
    if (to.name === 'kube' || installation === undefined || key === undefined) return;
    const what = `${installation} ${to.name} ${key}`;
    const before = users.get(what);
    if (before !== undefined && before.process !== from.name && !mayFollow(world, before, flight)) {
      const { process, at: last } = before;
      report('one-holder', `${from.name} uses a key at ${to.name} that ${process} used ${at - last} ms before`);
      return;
    }
    users.set(what, { process: from.name, at });
  });
  const watch = new Gaps(world, report);
  watch.begin();
  return {};
}

/** It has taken a Lease since, or its predecessor is no more. */
function mayFollow(world: Witness, { process, at }: User, { from, sentAt }: Flight): boolean {
  if (!isSeveral(world, from.name, sentAt)) return true;
  const frozen = disturbancesOf(world).all.some(
    ({ name, from: begun, to }) => /freez|pause/.test(name) && begun <= sentAt && to >= at,
  );
  const ended = world.endings.some((ending) => ending.process === process && ending.at <= sentAt);
  const identity = identitiesOf(world).of(from.name);
  const took = [...kubeModelOf(world).leases.values()].some((tenures) => {
    const all = tenures.all;
    const taken = all.findLastIndex(
      (tenure, index) => tenure.holder === identity && all[index - 1]?.holder !== identity,
    );
    return (all[taken]?.at ?? Number.NEGATIVE_INFINITY) >= at - 1;
  });
  return frozen || ended || took || tookOverKey(world, from.name, at, sentAt);
}

/** The default account has it from then on; each replica reads its file once a second. */
function tookOverKey(world: Witness, process: string, at: number, sentAt: number): boolean {
  const history = installationsOf(world).get(installationOf(process) ?? '');
  return history?.isRekeyedIn(at - 2 * second, sentAt) === true;
}

function isSeveral(world: Witness, process: string, now: number): boolean {
  const name = installationOf(process) ?? '';
  const spec = world.story.installations.find((each) => each.name === name);
  return (spec?.replicas ?? 1) > 1 && installationsOf(world).get(name)?.at(now)?.elects === true;
}

/** Times in which a Lease that somebody held has no holder. */
class Gaps {
  readonly #world: Witness;
  readonly #report: Report;

  constructor(world: Witness, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  begin(): void {
    this.#world.scheduler.after(lookEveryMs, () => {
      this.#look();
      this.begin();
    });
  }

  #look(): void {
    const now = this.#world.scheduler.now;
    for (const [name, tenures] of kubeModelOf(this.#world).leases) {
      const tenure = tenures.last;
      const shards = this.#shardsOf(name, now);
      if (tenure === undefined || shards < 2) continue;
      const shard = Number(/-(\d+)$/.exec(name)?.[1] ?? shards);
      if (shard >= shards) continue;
      // Of one that was given away, since then; of one that ran out, since its holder was to be followed.
      const since = tenure.at + (tenure.holder === '' ? 0 : tenure.durationMs);
      const gapMs = now - since;
      if (gapMs <= mostGapMs || gapMs > mostGapMs + 2 * lookEveryMs) continue;
      if (disturbancesOf(this.#world).any(since - 2 * minute, now)) continue;
      this.#report('one-holder', `nobody has held the Lease ${name} for ${Math.round(gapMs / 1_000)} s`);
    }
  }

  /** In so many the installation of the Lease divides its work now. */
  #shardsOf(lease: string, now: number): number {
    const installations = [...installationsOf(this.#world).values()];
    const own = installations.find(({ name }) => lease.startsWith(`Lease edge-operator-${name}/`));
    return own?.isWanted(now) === true ? (own.at(now)?.shards ?? 1) : 0;
  }
}
