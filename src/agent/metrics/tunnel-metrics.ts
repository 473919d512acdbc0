import { Durations, type Percentiles } from './durations.ts';
import { Rate, type Rates, type Ticks } from './rate.ts';

export interface HttpMetrics extends Rates, Percentiles {
  readonly count: number;
}

export interface ConnectionMetrics extends HttpMetrics {
  /** Open now. */
  readonly gauge: number;
}

/** Told that what was begun is over; further calls do nothing. */
export type Done = () => void;

/** Counts, rates per second and durations in ns of a tunnel's connections or exchanges (Local Agent API, section 2). */
export class Meter {
  readonly #ticks: Ticks;
  readonly #rate: Rate;
  readonly #durations: Durations;
  #count = 0;
  #open = 0;

  constructor(ticks: Ticks) {
    this.#ticks = ticks;
    this.#rate = new Rate(ticks);
    this.#durations = new Durations(ticks);
  }

  begin(): Done {
    const start = this.#ticks();
    let over = false;
    this.#count += 1;
    this.#open += 1;
    this.#rate.mark();
    return () => {
      if (over) return;
      over = true;
      this.#open -= 1;
      this.#durations.record((this.#ticks() - start) * 1e6);
    };
  }

  read(): ConnectionMetrics {
    return { count: this.#count, gauge: this.#open, ...this.#rate.read(), ...this.#durations.read() };
  }
}

export interface TunnelMetrics {
  readonly conns: Meter;
  readonly http: Meter;
}

export function newTunnelMetrics(ticks: Ticks): TunnelMetrics {
  return { conns: new Meter(ticks), http: new Meter(ticks) };
}
