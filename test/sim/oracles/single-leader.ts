import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { identitiesOf } from './witness/identities.ts';
import { installationsOf } from './witness/installations.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { installationOf } from './witness/who.ts';
import type { Witness } from './witness/witness.ts';

/**
 * A process of an installation that elects a leader changes nothing while its Lease is another's, or has run out; where
 * the work is shared out, while it holds none of them.
 */
export function singleLeader(world: Witness, report: Report) {
  const elections = new Elections(world);
  world.network.observers.add((flight) => {
    const why = elections.unled(flight);
    if (why !== undefined) report('single-leader', why);
  });
  return {};
}

class Elections {
  readonly #world: Witness;
  /** When a process first did something out of its term, right after it had been frozen. */
  readonly #thawed = new Map<string, number>();

  constructor(world: Witness) {
    this.#world = world;
    kubeModelOf(world);
    identitiesOf(world);
  }

  /** Undefined: it may. */
  unled(flight: Flight): string | undefined {
    const { from, method, path, sentAt, to } = flight;
    if (method === 'GET' || isLease(path) || !this.#elects(from.name, sentAt)) return undefined;
    const holder = this.#holderAt(from.name, sentAt);
    if (holder === undefined || this.#wasOnItsWay(from.name, sentAt)) return undefined;
    return `${method} ${to.name} ${path} by ${from.name}, sent while ${holder}`;
  }

  #elects(process: string, now: number): boolean {
    return (
      installationsOf(this.#world)
        .get(installationOf(process) ?? '')
        ?.at(now)?.elects === true
    );
  }

  /** Undefined: the process itself. */
  #holderAt(process: string, now: number): string | undefined {
    const identity = identitiesOf(this.#world).of(process);
    let why = 'nobody held the Lease';
    for (const tenures of kubeModelOf(this.#world).leases.values()) {
      const tenure = tenures.at(now);
      if (tenure === undefined) continue;
      const leftMs = tenure.at + tenure.durationMs - now;
      if (tenure.holder === identity && leftMs >= 0) return undefined;
      if (tenure.holder !== '') why = `${tenure.holder} held the Lease, for ${leftMs} ms more`;
    }
    return why;
  }

  /**
   * Between its last look at the clock and the sending a process can be frozen, against which nothing helps. Then it
   * sends at the moment when it thaws, and never again.
   */
  #wasOnItsWay(process: string, now: number): boolean {
    const freezes = disturbancesOf(this.#world).all.some(
      ({ name, from, to }) => /freez|pause/.test(name) && from <= now && to >= now,
    );
    if (!freezes) return false;
    const first = this.#thawed.get(process) ?? now;
    this.#thawed.set(process, first);
    return first === now;
  }
}

const isLease = (path: string): boolean => path.includes('/leases');
