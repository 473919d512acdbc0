import { Backoff, type BackoffOptions } from './backoff.ts';

export interface BreakerOptions extends BackoffOptions {
  /** Milliseconds. */
  readonly now: () => number;
  /** In 0..1, for jitter; without it pauses have their full length. */
  readonly random?: (() => number) | undefined;
}

/**
 * Keeps what failed from being tried again by everyone. A failure opens it for a pause, longer with each (`minMs`
 * doubling to `maxMs`), in which whoever checks is told the same failure at no cost; after the pause one caller finds
 * out for the others, and success closes it.
 */
export class Breaker<E extends Error = Error> {
  readonly #now: () => number;
  readonly #maxMs: number;
  readonly #backoff: Backoff;
  #open: { readonly error: E; readonly until: number } | undefined;
  #trying = 0;

  constructor({ now, random = () => 1, minMs, maxMs }: BreakerOptions) {
    this.#now = now;
    this.#maxMs = maxMs;
    this.#backoff = new Backoff({ minMs: Math.min(minMs, maxMs), maxMs }, random);
  }

  /** What opened it; undefined while it is closed. */
  get failure(): E | undefined {
    return this.#open?.error;
  }

  /** Until the pause is over; a clock that was set back does not put that off. */
  retryInMs(): number {
    return Math.min(this.#maxMs, Math.max(0, (this.#open?.until ?? 0) - this.#now()));
  }

  /** Whoever comes next finds out now; where that fails too, the next pause is longer as ever. */
  endPause(): void {
    if (this.#open !== undefined) this.#open = { ...this.#open, until: this.#now() };
  }

  /** Throws the failure while it is open, unless the pause is over and nobody is at it. */
  check(): void {
    if (this.#open !== undefined && (this.#trying > 0 || this.retryInMs() > 0)) throw this.#open.error;
  }

  /**
   * Learns from an attempt: an answer closes it, and an error for which `failureOf` has a failure opens it and is thrown
   * as that. Any other error, as of a wait that was given up, tells nothing.
   */
  async try<T>(attempt: () => Promise<T>, failureOf: (error: unknown) => E | undefined): Promise<T> {
    this.#trying += 1;
    try {
      const result = await attempt();
      this.close();
      return result;
    } catch (error) {
      const failure = failureOf(error);
      if (failure !== undefined) this.#fail(failure);
      throw failure ?? error;
    } finally {
      this.#trying -= 1;
    }
  }

  close(): void {
    this.#open = undefined;
    this.#backoff.forget();
  }

  /** One step of the pause for all that failed meanwhile. */
  #fail(error: E): void {
    if (this.retryInMs() > 0) return;
    this.#open = { error, until: this.#now() + this.#backoff.next() };
  }
}
