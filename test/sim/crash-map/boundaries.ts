import type { Flight, Position } from '../core/network.ts';
import type { World } from '../core/world.ts';

/** A crash around the n-th request, from 1: of the life, or of the process that took over after the crash before. */
export interface Crash {
  readonly boundary: number;
  readonly position: Position;
}

/** A request of an operator, as the map counts it. */
export interface Boundary {
  readonly at: number;
  /** Whether it may change something, here or there. */
  readonly writes: boolean;
}

const lease = /\/leases(\/|\?|$)/;

/**
 * Whether a process can die around it so that it matters to a resource. Watches and Leases are no boundaries: they
 * belong to the process and not to a life, and go on for ever.
 */
function isBoundary({ from, isWatch, path, to }: Flight, world: World): boolean {
  if (isWatch || (to.name === 'kube' && lease.test(path))) return false;
  return [...world.installations.values()].some((installation) => installation.processes.includes(from));
}

/** Numbers the boundaries from now on, and crashes at those of a plan, one after the other. */
export class Boundaries {
  /** Those before each crash, and those after the last. */
  readonly stages: Boundary[][] = [[]];
  /** When each crash was. */
  readonly crashedAt: number[] = [];
  readonly #world: World;
  readonly #plan: readonly Crash[];
  readonly #numbers = new Map<number, number>();
  readonly #crash = (flight: Flight, position: Position) => this.#dies(flight, position);

  constructor(world: World, plan: readonly Crash[]) {
    this.#world = world;
    this.#plan = plan;
    world.network.crashes.add(this.#crash);
  }

  stop(): void {
    this.#world.network.crashes.delete(this.#crash);
  }

  #dies(flight: Flight, position: Position): boolean {
    if (position === 'before sending' && isBoundary(flight, this.#world)) this.#number(flight);
    const next = this.#plan[this.crashedAt.length];
    if (next === undefined || next.position !== position) return false;
    if (this.#numbers.get(flight.id) !== next.boundary) return false;
    this.#numbers.clear();
    this.stages.push([]);
    this.crashedAt.push(this.#world.scheduler.now);
    return true;
  }

  #number({ id, method }: Flight): void {
    const stage = this.stages.at(-1) ?? [];
    this.#numbers.set(id, stage.push({ at: this.#world.scheduler.now, writes: method !== 'GET' }));
  }
}
