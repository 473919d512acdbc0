import { type Priority, priorities } from '../../common/priority.ts';
import { RollingWindow } from './rolling-window.ts';

export interface LimiterOptions {
  /** Requests in any rolling 60 s, at least 1. */
  readonly requestsPerMinute: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** A request that has waited this long is served out of turn, but no more than one request in four. Default 30 s. */
  readonly ageingMs?: number;
}

export interface LimiterState {
  /** Slots of the current window in use. */
  readonly used: number;
  readonly limit: number;
  readonly waiting: Readonly<Record<Priority, number>>;
  /** On the clock given as `now`; absent when not paused. */
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
  readonly #now: () => number;
  readonly #ageingMs: number;
  readonly #window = new RollingWindow();
  readonly #queues: Record<Priority, Waiter[]> = { change: [], first: [], resync: [] };
  #limit: number;
  #concurrency = Number.POSITIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #grantsInTurn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LimiterOptions) {
    this.#limit = atLeastOne(options.requestsPerMinute);
    this.#now = options.now ?? (() => performance.now());
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
      const since = this.#now();
      const queue = this.#queues[priority];
      const abort = () => {
        queue.splice(queue.indexOf(waiter), 1);
        this.#serve();
        reject(signal?.reason);
      };
      const done = () => signal?.removeEventListener('abort', abort);
      const grant = () => {
        done();
        resolve(this.#now() - since);
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
    const now = this.#now();
    this.#window.finish(priority, sent, now);
    if (sent && now >= this.#pausedUntil) this.#concurrency += 1;
    this.#serve();
  }

  /** A 429: every class waits `retryAfterMs` (15 s without one, at most an hour). Call it before {@link release}. */
  penalize(retryAfterMs: number | undefined): void {
    const pause = Math.min(Math.max(retryAfterMs ?? defaultPauseMs, 1), longestPauseMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + pause);
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
    const now = this.#now();
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
    const left = this.#pausedUntil - this.#now();
    return left > longestSilentPauseMs ? new BudgetPausedError(left) : undefined;
  }

  #serve(): void {
    const now = this.#now();
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
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (priorities.every((priority) => this.#queues[priority].length === 0)) return;
    const at = this.#pausedUntil > now ? this.#pausedUntil : this.#window.nextChange();
    // Rounded up: a timer that fires a fraction early would find nothing to do.
    if (at !== undefined) this.#timer = setTimeout(() => this.#serve(), Math.ceil(at - now));
  }
}

function atLeastOne(requestsPerMinute: number): number {
  if (!(requestsPerMinute >= 1)) throw new RangeError(`requestsPerMinute must be at least 1, not ${requestsPerMinute}`);
  return Math.floor(requestsPerMinute);
}
