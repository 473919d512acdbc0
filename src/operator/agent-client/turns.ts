import type { Clock } from '../../common/clock.ts';

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

/** Work that takes long, whoever it is for, is done one piece at a time, with rests in which everybody else goes on. */
export class Turns {
  readonly #clock: Clock;
  #last: Promise<void> = Promise.resolve();

  /** @param clock the monotonic one */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take<T>(work: (turn: Turn) => T | Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const turn = new Turn(this.#clock);
    try {
      return await work(turn);
    } finally {
      // Whoever had the turn does not wait for this.
      void turn.rest().then(resolve, resolve);
    }
  }
}
