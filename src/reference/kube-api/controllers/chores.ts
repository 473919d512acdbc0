import type { Clock } from '../../../common/clock.ts';
import { alarm } from '../reads/alarm.ts';
import { DataError } from '../store/data-error.ts';

const retryMs = 1_000;

/** What is to be done after the write that calls for it, in order. Nobody waits for that: on a full disk it is tried again. */
export class Chores {
  readonly #clock: Clock;
  #due: (() => void)[] = [];
  #callOffRetry = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Done soon, but not within the call. */
  add(chore: () => void): void {
    this.#due.push(chore);
    queueMicrotask(() => this.#doOrRetry());
  }

  /** All of it at once, and what that calls for. @throws DataError */
  do(): void {
    for (let [next] = this.#due; next !== undefined; [next] = this.#due) {
      next();
      this.#due.shift();
    }
  }

  drop(): void {
    this.#due = [];
    this.#callOffRetry();
  }

  #doOrRetry(): void {
    this.#callOffRetry();
    try {
      this.do();
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.#callOffRetry = alarm(this.#clock, retryMs, () => this.#doOrRetry());
    }
  }
}
