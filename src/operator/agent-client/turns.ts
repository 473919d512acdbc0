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
  /** @param signal ends the wait, after which the work is not done */
  take<T>(work: (turn: Turn) => T | Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Waiter {
  readonly begin: () => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Work that takes long is done one piece at a time, with rests in which everybody else goes on. Namespaces take turns: who has many
 * agents is not before who has one.
 */
export class Turns {
  readonly #clock: Clock;
  /** In the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Fifo<Waiter>>();
  #isTaken = false;

  /** @param clock the monotonic one */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those of the namespace that the work is for. */
  of(namespace: string): TurnTaking {
    return { take: (work, signal) => this.#take(namespace, work, signal) };
  }

  async #take<T>(namespace: string, work: (turn: Turn) => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isTaken) await this.#wait(namespace, signal);
    this.#isTaken = true;
    const turn = new Turn(this.#clock);
    try {
      return await work(turn);
    } finally {
      const next = () => this.#next();
      // Whoever had the turn does not wait for this.
      void turn.rest().then(next, next);
    }
  }

  /** Resolves when the turn has come, which whoever gives up from then on has all the same. */
  async #wait(namespace: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => reject(signal?.reason);
    signal?.addEventListener('abort', giveUp, { once: true });
    const begin = () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    const those = this.#waiting.get(namespace) ?? new Fifo();
    those.push({ begin, signal });
    this.#waiting.set(namespace, those);
    await promise;
  }

  #next(): void {
    const waiter = this.#shift();
    this.#isTaken = waiter !== undefined;
    waiter?.begin();
  }

  /** The next one of the namespace whose turn it is, which comes again after all others. */
  #shift(): Waiter | undefined {
    for (const [namespace, those] of this.#waiting) {
      this.#waiting.delete(namespace);
      const waiter = stillWaiting(those);
      if (those.size > 0) this.#waiting.set(namespace, those);
      if (waiter !== undefined) return waiter;
    }
    return undefined;
  }
}

/** The oldest that has not given up: whoever has takes no turn from the namespace. */
function stillWaiting(those: Fifo<Waiter>): Waiter | undefined {
  let waiter = those.shift();
  while (waiter?.signal?.aborted === true) waiter = those.shift();
  return waiter;
}
