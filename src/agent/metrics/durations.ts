import { Histogram } from './histogram.ts';
import type { Ticks } from './rate.ts';

const windowMs = 300_000;

/** Nanoseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * Percentiles over the last 5 to 10 minutes that had any events: old durations leave when new ones come in, so an
 * idle tunnel goes on showing what it last had.
 */
export class Durations {
  readonly #ticks: Ticks;
  #current = new Histogram();
  #previous = new Histogram();
  #since: number;

  constructor(ticks: Ticks) {
    this.#ticks = ticks;
    this.#since = ticks();
  }

  record(durationNs: number): void {
    if (this.#ticks() - this.#since >= windowMs) this.#turn();
    this.#current.record(durationNs);
  }

  read(): Percentiles {
    const all = new Histogram();
    all.add(this.#previous);
    all.add(this.#current);
    return { p50: all.percentile(50), p90: all.percentile(90), p95: all.percentile(95), p99: all.percentile(99) };
  }

  #turn(): void {
    [this.#previous, this.#current] = [this.#current, this.#previous];
    this.#current.clear();
    if (this.#ticks() - this.#since >= 2 * windowMs) this.#previous.clear();
    this.#since = this.#ticks();
  }
}
