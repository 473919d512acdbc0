import { createHistogram } from 'node:perf_hooks';

const leastNs = 1_000;
const mostNs = 24 * 3_600e9;

/** Durations from a microsecond to a day; a percentile is off by at most 1 %. Node's own HdrHistogram. */
export class Histogram {
  readonly #recorded = createHistogram({ lowest: leastNs, highest: mostNs, figures: 2 });

  get count(): number {
    return this.#recorded.count;
  }

  record(durationNs: number): void {
    this.#recorded.record(Math.round(Math.min(Math.max(durationNs, leastNs), mostNs)));
  }

  add(other: Histogram): void {
    this.#recorded.add(other.#recorded);
  }

  /** Nanoseconds that the given percentage (above 0, to 100) of the durations do not exceed; 0 when there are none. */
  percentile(percentage: number): number {
    return this.count === 0 ? 0 : this.#recorded.percentile(percentage);
  }

  clear(): void {
    this.#recorded.reset();
  }
}
