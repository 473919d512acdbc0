import { setImmediate } from 'node:timers/promises';

const mostMs = 8;

/** Long work in short turns, so that traffic goes on meanwhile. */
export class Turns {
  #since = performance.now();

  /** To be asked between steps of at most some milliseconds each; gives way once a turn is over. */
  get isOver(): boolean {
    return performance.now() - this.#since > mostMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
