import type { Away } from '../../common/call.ts';
import type { Workers } from './workers.ts';

/** What is to be told of one reconcile as it goes away and comes back. */
export interface ShiftHooks {
  onLeave(): void;
  onReturn(): void;
}

/**
 * The hold of one reconcile on a worker. It has one unless some part of it waits elsewhere: for as long as that, another
 * reconcile has it. Parts that work meanwhile, beside one that waits, go on without.
 */
export class Shift {
  readonly #workers: Workers;
  readonly #hooks: ShiftHooks;
  #awayCount = 0;
  #holds = true;
  #hasEnded = false;
  #returning: Promise<void> | undefined;

  /** @param workers of which one has been taken for it */
  constructor(workers: Workers, hooks: ShiftHooks) {
    this.#workers = workers;
    this.#hooks = hooks;
  }

  readonly away: Away = async (wait) => {
    this.#awayCount += 1;
    this.#leave();
    try {
      return await wait();
    } finally {
      this.#awayCount -= 1;
      if (this.#mayHold() && !this.#holds) await this.#return();
    }
  };

  end(): void {
    this.#hasEnded = true;
    this.#leave();
  }

  #mayHold(): boolean {
    return this.#awayCount === 0 && !this.#hasEnded;
  }

  #leave(): void {
    if (!this.#holds) return;
    this.#holds = false;
    this.#hooks.onLeave();
    this.#workers.give();
  }

  /** Once for all parts that come back meanwhile. */
  #return(): Promise<void> {
    this.#returning ??= this.#workers.retake().then(() => {
      this.#returning = undefined;
      // Some part has left again by now, or there is nothing left to do.
      if (!this.#mayHold()) return this.#workers.give();
      this.#holds = true;
      this.#hooks.onReturn();
    });
    return this.#returning;
  }
}
