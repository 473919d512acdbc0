/** Milliseconds that only ever grow, with fractions; `performance.now` outside of tests. */
export type Ticks = () => number;

const windowsMs = { rate1: 60_000, rate5: 300_000, rate15: 900_000 } as const;

export interface Rates {
  readonly rate1: number;
  readonly rate5: number;
  readonly rate15: number;
}

/**
 * Events per second as exponentially weighted averages over 1, 5 and 15 minutes: an event weighs less by a factor of
 * e for each window that has passed since. Exact at any moment, and like a load average it rises from 0 at the start.
 */
export class Rate {
  readonly #ticks: Ticks;
  #at: number;
  #perMs: Rates = { rate1: 0, rate5: 0, rate15: 0 };

  constructor(ticks: Ticks) {
    this.#ticks = ticks;
    this.#at = ticks();
  }

  mark(): void {
    const { rate1, rate5, rate15 } = this.#decay();
    this.#perMs = {
      rate1: rate1 + 1 / windowsMs.rate1,
      rate5: rate5 + 1 / windowsMs.rate5,
      rate15: rate15 + 1 / windowsMs.rate15,
    };
  }

  read(): Rates {
    const { rate1, rate5, rate15 } = this.#decay();
    return { rate1: rate1 * 1_000, rate5: rate5 * 1_000, rate15: rate15 * 1_000 };
  }

  #decay(): Rates {
    const now = this.#ticks();
    const passed = now - this.#at;
    const { rate1, rate5, rate15 } = this.#perMs;
    this.#at = now;
    this.#perMs = {
      rate1: rate1 * Math.exp(-passed / windowsMs.rate1),
      rate5: rate5 * Math.exp(-passed / windowsMs.rate5),
      rate15: rate15 * Math.exp(-passed / windowsMs.rate15),
    };
    return this.#perMs;
  }
}
