import { Histogram } from './histogram.ts';
import type { Ticks } from './rate.ts';

const stepMs = 5_000;
const steps = 120;

/** One step of the charts on the status page. */
export interface Sample {
  /** How long ago the step began, in milliseconds. */
  readonly agoMs: number;
  /** Exchanges per second. */
  readonly rate: number;
  /** Nanoseconds; 0 when there was no exchange. */
  readonly p50: number;
  readonly p99: number;
}

/** The exchanges of all tunnels over the last ten minutes, in steps of 5 s. */
export class History {
  readonly #ticks: Ticks;
  readonly #samples = new Map<number, Histogram>();

  constructor(ticks: Ticks) {
    this.#ticks = ticks;
  }

  record(durationNs: number): void {
    const step = this.#step();
    let sample = this.#samples.get(step);
    if (sample === undefined) {
      sample = new Histogram();
      this.#samples.set(step, sample);
      for (const old of this.#samples.keys()) if (old <= step - steps) this.#samples.delete(old);
    }
    sample.record(durationNs);
  }

  /** The steps that are complete, oldest first; always the same number of them. */
  read(): readonly Sample[] {
    const now = this.#step();
    return Array.from({ length: steps - 1 }, (_, index) => this.#sample(now, now - steps + 1 + index));
  }

  #sample(now: number, step: number): Sample {
    const sample = this.#samples.get(step);
    const agoMs = (now - step) * stepMs;
    if (sample === undefined) return { agoMs, rate: 0, p50: 0, p99: 0 };
    const rate = (sample.count * 1_000) / stepMs;
    return { agoMs, rate, p50: sample.percentile(50), p99: sample.percentile(99) };
  }

  #step(): number {
    return Math.floor(this.#ticks() / stepMs);
  }
}
