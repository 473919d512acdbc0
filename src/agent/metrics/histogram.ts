const growth = Math.log(1.02);
const leastNs = 1_000;
const mostNs = 24 * 3_600e9;
const bucketCount = bucketOf(mostNs) + 1;

/** Durations from a microsecond to a day in buckets that grow by 2 %: a percentile is off by at most 1 %. */
export class Histogram {
  readonly #buckets = new Uint32Array(bucketCount);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  record(durationNs: number): void {
    const bucket = bucketOf(durationNs);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#count += 1;
  }

  add(other: Histogram): void {
    for (const [bucket, count] of other.#buckets.entries()) {
      this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + count;
    }
    this.#count += other.#count;
  }

  /** Nanoseconds that the given fraction (0 to 1) of the durations do not exceed; 0 when there are none. */
  quantile(fraction: number): number {
    let left = Math.max(1, Math.ceil(this.#count * fraction));
    for (const [bucket, count] of this.#buckets.entries()) {
      left -= count;
      if (left <= 0) return middleOf(bucket);
    }
    return 0;
  }

  clear(): void {
    this.#buckets.fill(0);
    this.#count = 0;
  }
}

function bucketOf(durationNs: number): number {
  const within = Math.min(Math.max(durationNs, leastNs), mostNs);
  return Math.floor(Math.log(within / leastNs) / growth);
}

/** The geometric middle of a bucket. */
function middleOf(bucket: number): number {
  return Math.round(leastNs * Math.exp((bucket + 0.5) * growth));
}
