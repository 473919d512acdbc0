import type { Clock } from '../../../src/common/clock.ts';
import type { Chance } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * One process of the world: its clocks and chance, and whether it lives. A dead one never runs again: no timer fires, no
 * answer arrives, what it still sends goes nowhere. A frozen one does all that came meanwhile when it thaws.
 */
export class SimProcess {
  readonly name: string;
  readonly #scheduler: Scheduler;
  readonly #started: number;
  readonly #chance: Chance;
  readonly #backlog: (() => void)[] = [];
  #alive = true;
  #frozen = false;
  /** How far its wall clock is off. */
  skewMs = 0;

  constructor(name: string, scheduler: Scheduler, chance: Chance) {
    this.name = name;
    this.#scheduler = scheduler;
    this.#started = scheduler.now;
    this.#chance = chance;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  kill(): void {
    this.#alive = false;
    this.#backlog.length = 0;
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const run of this.#backlog.splice(0)) this.#scheduler.after(0, () => this.run(run));
  }

  /** Something reaches the process. */
  run(what: () => void): void {
    if (!this.#alive) return;
    if (this.#frozen) this.#backlog.push(what);
    else what();
  }

  /** Runs it in the process after a time; returns the function that calls it off. */
  after(ms: number, what: () => void): () => void {
    let wanted = true;
    const cancel = this.#scheduler.after(ms, () => this.run(() => wanted && what()));
    return () => {
      wanted = false;
      cancel();
    };
  }

  readonly monotonic: Clock = this.#clock(() => this.#scheduler.now - this.#started);
  readonly clock: Clock = this.#clock(() => epochMs + Math.floor(this.#scheduler.now + this.skewMs));

  random = (): number => this.#chance.next();
  uuid = (): string => this.#chance.uuid();

  #clock(now: () => number): Clock {
    return {
      now,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          const stop = () => {
            cancel();
            reject(signal?.reason);
          };
          const cancel = this.after(ms, () => {
            signal?.removeEventListener('abort', stop);
            resolve();
          });
          signal?.addEventListener('abort', stop, { once: true });
        }),
      timeout: (ms) => {
        const controller = new AbortController();
        this.after(ms, () => controller.abort(timedOut));
        return controller.signal;
      },
    };
  }
}

/** One for all: making one costs more than all else of a timeout, and most come when nobody waits any more. */
const timedOut = new DOMException('The operation timed out', 'TimeoutError');

/** When every world begins. */
export const epochMs = Date.UTC(2030, 0, 1);
