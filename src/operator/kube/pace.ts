export interface PaceOptions {
  readonly perSecond: number;
  /** So many may come at once after a quiet time. */
  readonly burst: number;
}

/** A bound on how often something is done: a burst, then evenly. */
export class Pace {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  /** When all that was taken would be through, had it been done evenly. */
  #throughAt = Number.NEGATIVE_INFINITY;

  constructor({ perSecond, burst }: PaceOptions) {
    this.#intervalMs = 1_000 / perSecond;
    this.#burstMs = burst * this.#intervalMs;
  }

  /** Takes one, and answers how many milliseconds it is to wait. */
  take(now: number): number {
    this.#throughAt = Math.max(this.#throughAt, now) + this.#intervalMs;
    return Math.max(0, this.#throughAt - this.#burstMs - now);
  }
}
