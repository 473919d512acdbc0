export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Exponential delays, per key where there are several; each between half of its nominal value and all of it. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** Counts a failure of the key. Milliseconds. */
  next(key = ''): number {
    this.#failures.set(key, this.failuresOf(key) + 1);
    return this.last(key) * (0.5 + 0.5 * this.#random());
  }

  /** The longest that the last failure of the key can have asked for; 0 without one. */
  last(key = ''): number {
    const failures = this.failuresOf(key);
    if (failures === 0) return 0;
    return Math.min(this.#options.maxMs, this.#options.minMs * 2 ** Math.min(failures - 1, 30));
  }

  failuresOf(key = ''): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key = ''): void {
    this.#failures.delete(key);
  }
}
