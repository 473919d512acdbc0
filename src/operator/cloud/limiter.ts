import type { Clock } from '../../common/clock.ts';
import { type Priority, priorities } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { RollingWindow } from './rolling-window.ts';

export interface LimiterOptions extends Pick<Runtime, 'monotonic'> {
  /** Requests in any rolling 60 s, at least 1. */
  readonly requestsPerMinute: number;
  /** A request that has waited this long is served out of turn, but no more than one request in four. Default 30 s. */
  readonly ageingMs?: number;
}

export interface LimiterState {
  /** Slots of the current window in use. */
  readonly used: number;
  readonly limit: number;
  readonly waiting: Readonly<Record<Priority, number>>;
  /** On the monotonic clock; absent when not paused. */
  readonly pausedUntilMs?: number;
}

interface Waiter {
  readonly since: number;
  grant(): void;
  refuse(error: Error): void;
}

/** The service asked for a pause so long that whoever asked for a change is told of it rather than kept waiting. */
export class BudgetPausedError extends Error {
  override readonly name = 'BudgetPausedError';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the API answered 429 before and asked for a pause');
    this.retryAfterMs = retryAfterMs;
  }
}

const inTurnBetweenAged = 3;
const defaultPauseMs = 15_000;
const longestPauseMs = 3_600_000;
/** A change waits for the end of a pause that takes no longer. */
const longestSilentPauseMs = 10_000;

/**
 * The request budget of one credential, shared by everything that uses it. It guarantees:
 * - the server sees at most `requestsPerMinute` requests in any rolling 60 s (see {@link RollingWindow});
 * - `resync` takes at most half of any window, `resync` and `first` together at most three quarters (but at least
 *   one), so a change starts at once unless changes alone have used a quarter of the last minute;
 * - classes are served in order, each first come first served, and nothing starves: of every four requests at least
 *   one goes to the longest waiting of those that have waited `ageingMs`;
 * - after a 429 nothing starts until the pause ends, and then one at a time, each answer letting one more in;
 * - while a pause still takes more than 10 s, a change is refused at once with a {@link BudgetPausedError}.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #ageingMs: number;
  readonly #window = new RollingWindow();
  readonly #queues: Record<Priority, Waiter[]> = { change: [], first: [], resync: [] };
  #limit: number;
  #concurrency = Number.POSITIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #grantsInTurn = 0;
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;

  constructor(options: LimiterOptions) {
    this.#limit = atLeastOne(options.requestsPerMinute);
    this.#clock = options.monotonic;
    this.#ageingMs = options.ageingMs ?? 30_000;
  }

  /**
   * Resolves with the milliseconds waited when one request may be sent; rejects with the signal's reason, or refuses.
   * Every resolved call needs one {@link release}.
   */
  acquire(priority: Priority, signal?: AbortSignal): Promise<number> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const refusal = priority === 'change' ? this.#refusal() : undefined;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const since = this.#clock.now();
      const queue = this.#queues[priority];
      const abort = () => {
        queue.splice(queue.indexOf(waiter), 1);
        this.#serve();
        reject(signal?.reason);
      };
      const done = () => signal?.removeEventListener('abort', abort);
      const grant = () => {
        done();
        resolve(this.#clock.now() - since);
      };
      const refuse = (error: Error) => {
        done();
        reject(error);
      };
      const waiter: Waiter = { since, grant, refuse };
      queue.push(waiter);
      signal?.addEventListener('abort', abort, { once: true });
      this.#serve();
    });
  }

  /** The request is over, answered or not. `sent` false: it never left this process. */
  release(priority: Priority, sent = true): void {
    const now = this.#clock.now();
    this.#window.finish(priority, sent, now);
    if (sent && now >= this.#pausedUntil) this.#concurrency += 1;
    this.#serve();
  }

  /** A 429: every class waits `retryAfterMs` (15 s without one, at most an hour). Call it before {@link release}. */
  penalize(retryAfterMs: number | undefined): void {
    const pause = Math.min(Math.max(retryAfterMs ?? defaultPauseMs, 1), longestPauseMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pause);
    this.#concurrency = 1;
    const refusal = this.#refusal();
    if (refusal !== undefined) for (const waiter of this.#queues.change.splice(0)) waiter.refuse(refusal);
    this.#serve();
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#limit = atLeastOne(requestsPerMinute);
    this.#serve();
  }

  state(): LimiterState {
    const now = this.#clock.now();
    this.#window.advance(now);
    return {
      used: this.#window.total,
      limit: this.#limit,
      waiting: {
        change: this.#queues.change.length,
        first: this.#queues.first.length,
        resync: this.#queues.resync.length,
      },
      ...(this.#pausedUntil > now ? { pausedUntilMs: this.#pausedUntil } : {}),
    };
  }

  #refusal(): BudgetPausedError | undefined {
    const left = this.#pausedUntil - this.#clock.now();
    return left > longestSilentPauseMs ? new BudgetPausedError(left) : undefined;
  }

  #serve(): void {
    const now = this.#clock.now();
    this.#window.advance(now);
    if (now >= this.#pausedUntil) {
      for (let next = this.#next(now); next !== undefined; next = this.#next(now)) {
        this.#window.start(next);
        this.#queues[next].shift()?.grant();
      }
    }
    this.#wakeLater(now);
  }

  #next(now: number): Priority | undefined {
    const open = priorities.filter((priority) => this.#queues[priority].length > 0 && this.#mayStart(priority));
    const inTurn = open[0];
    const oldest = open.reduce((a, b) => (this.#waitingSince(b) < this.#waitingSince(a) ? b : a), inTurn ?? 'change');
    const aged = inTurn !== undefined && oldest !== inTurn && now - this.#waitingSince(oldest) >= this.#ageingMs;
    if (aged && this.#grantsInTurn >= inTurnBetweenAged) {
      this.#grantsInTurn = 0;
      return oldest;
    }
    if (inTurn !== undefined) this.#grantsInTurn += 1;
    return inTurn;
  }

  #waitingSince(priority: Priority): number {
    return this.#queues[priority][0]?.since ?? Number.POSITIVE_INFINITY;
  }

  #mayStart(priority: Priority): boolean {
    const window = this.#window;
    if (window.total >= this.#limit || window.running >= this.#concurrency) return false;
    if (priority === 'change') return true;
    if (priority === 'resync' && window.used('resync') >= this.#share(1 / 2)) return false;
    return window.used('resync') + window.used('first') < this.#share(3 / 4);
  }

  #share(part: number): number {
    return Math.max(1, Math.floor(this.#limit * part));
  }

  #wakeLater(now: number): void {
    const until = this.#nextChange(now);
    if (this.#sleep?.until === until) return;
    this.#sleep?.abort.abort();
    this.#sleep = undefined;
    if (until === undefined) return;
    const sleep = { until, abort: new AbortController() };
    this.#sleep = sleep;
    // Rounded up: a timer that fires a fraction early would find nothing to do.
    this.#clock.sleep(Math.ceil(until - now), sleep.abort.signal).then(
      () => this.#wake(sleep),
      () => {},
    );
  }

  #wake(sleep: object): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    this.#serve();
  }

  /** When there may be something to do for those that wait. */
  #nextChange(now: number): number | undefined {
    if (priorities.every((priority) => this.#queues[priority].length === 0)) return undefined;
    return this.#pausedUntil > now ? this.#pausedUntil : this.#window.nextChange();
  }
}

function atLeastOne(requestsPerMinute: number): number {
  if (!(requestsPerMinute >= 1)) throw new RangeError(`requestsPerMinute must be at least 1, not ${requestsPerMinute}`);
  return Math.floor(requestsPerMinute);
}
