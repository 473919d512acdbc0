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
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const nominal = Math.min(this.#options.maxMs, this.#options.minMs * 2 ** Math.min(failures, 30));
    return nominal * (0.5 + 0.5 * this.#random());
  }

  failuresOf(key = ''): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key = ''): void {
    this.#failures.delete(key);
  }
}
