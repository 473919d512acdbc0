/** The service asked for a pause so long that whoever asked for a change is told of it rather than kept waiting. */
export class BudgetPausedError extends Error {
  override readonly name = 'BudgetPausedError';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the API answered 429 before and asked for a pause');
    this.retryAfterMs = retryAfterMs;
  }
}

const defaultPauseMs = 15_000;
const longestPauseMs = 3_600_000;
/** A change waits for the end of a pause that takes no longer. */
const longestSilentPauseMs = 10_000;

/**
 * What a 429 asks for: nothing starts before the pause ends, and then one request at a time, each answer letting one more
 * in. Moments are of the monotonic clock, in milliseconds.
 */
export class Pause {
  #until = Number.NEGATIVE_INFINITY;
  #concurrency = Number.POSITIVE_INFINITY;

  /** The longer of two counts. */
  begin(retryAfterMs: number | undefined, now: number): void {
    const pause = Math.min(Math.max(retryAfterMs ?? defaultPauseMs, 1), longestPauseMs);
    this.#until = Math.max(this.#until, now + pause);
    this.#concurrency = 1;
  }

  /** When it ends; undefined when it is over. */
  until(now: number): number | undefined {
    return now < this.#until ? this.#until : undefined;
  }

  /** Whether one more may start beside those that run. */
  admits(running: number): boolean {
    return running < this.#concurrency;
  }

  answered(now: number): void {
    if (this.until(now) === undefined) this.#concurrency += 1;
  }

  /** Why a change is not kept waiting. */
  refusal(now: number): BudgetPausedError | undefined {
    const leftMs = this.#until - now;
    return leftMs > longestSilentPauseMs ? new BudgetPausedError(leftMs) : undefined;
  }
}
