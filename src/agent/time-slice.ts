import { setImmediate } from 'node:timers/promises';

const mostMs = 8;

/** Long work in slices of time, so that traffic goes on meanwhile. */
export class TimeSlice {
  #since = performance.now();

  /** To be asked between steps of at most some milliseconds each; gives way once a slice is over. */
  get isOver(): boolean {
    return performance.now() - this.#since > mostMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
