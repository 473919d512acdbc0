import type { Clock } from '../../common/clock.ts';
import { Fifo } from '../../common/fifo.ts';

/** So long the event loop may be kept from everybody else. */
const mostMs = 10;
/** For each millisecond of work: all that is done in turns takes a quarter of a core. */
const restPerWork = 3;

/** One piece of long work, in steps. */
export class Turn {
  readonly #clock: Clock;
  #since: number;
  #spentMs = 0;

  /** @param clock the monotonic one */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** To be asked between steps of at most some milliseconds each: it is time to rest. */
  get isOver(): boolean {
    return this.#clock.now() - this.#since > mostMs;
  }

  /** What the work took until now, without its rests, in milliseconds. */
  get spentMs(): number {
    return this.#spentMs + this.#clock.now() - this.#since;
  }

  async rest(): Promise<void> {
    const ms = this.#clock.now() - this.#since;
    this.#spentMs += ms;
    if (ms > 0) await this.#clock.sleep(ms * restPerWork);
    this.#since = this.#clock.now();
  }
}

/** Where long work waits for its turn. */
export interface TurnTaking {
  take<T>(work: (turn: Turn) => T | Promise<T>): Promise<T>;
}

/**
 * Work that takes long is done one piece at a time, with rests in which everybody else goes on. Namespaces take turns: who has many
 * agents is not before who has one.
 */
export class Turns {
  readonly #clock: Clock;
  /** In the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Fifo<() => void>>();
  #isTaken = false;

  /** @param clock the monotonic one */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those of the namespace that the work is for. */
  of(namespace: string): TurnTaking {
    return { take: (work) => this.#take(namespace, work) };
  }

  async #take<T>(namespace: string, work: (turn: Turn) => T | Promise<T>): Promise<T> {
    await this.#begin(namespace);
    const turn = new Turn(this.#clock);
    try {
      return await work(turn);
    } finally {
      const next = () => this.#next();
      // Whoever had the turn does not wait for this.
      void turn.rest().then(next, next);
    }
  }

  #begin(namespace: string): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const those = this.#waiting.get(namespace) ?? new Fifo();
    those.push(resolve);
    this.#waiting.set(namespace, those);
    return promise;
  }

  #next(): void {
    const [namespace, those] = this.#waiting.entries().next().value ?? [];
    this.#isTaken = those !== undefined;
    if (namespace === undefined || those === undefined) return;
    this.#waiting.delete(namespace);
    const begin = those.shift();
    if (those.size > 0) this.#waiting.set(namespace, those);
    begin?.();
  }
}
