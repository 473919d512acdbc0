import type { Clock } from '../../common/clock.ts';
import { type Priority, priorities } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { RollingWindow, windowMs } from './rolling-window.ts';
import { type Account, type Standing, type Tenant, Tenants } from './tenants.ts';
import { shareOf, Use } from './use.ts';

export interface LimiterOptions extends Pick<Runtime, 'monotonic'> {
  /** Requests in any rolling 60 s, at least 1. */
  readonly requestsPerMinute: number;
  /** A request that has waited this long is served out of turn, but no more than one request in four. Default 30 s. */
  readonly ageingMs?: number;
  /** The account has used what {@link Limiter.record} says, and waits for more. Called whenever that is found. */
  readonly onShort?: ((account: string) => void) | undefined;
}

/** One request that is to be sent. */
export interface Ask {
  readonly priority: Priority;
  /** Of those that share the credential. Default the only one. */
  readonly account?: string | undefined;
  /** Of what the request is for. Default none. */
  readonly namespace?: string | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The right to send one request. */
export interface Slot {
  readonly waitedMs: number;
  /** To be called once: the request is over, answered or not. `sent` false: it never left this process. */
  release(sent?: boolean): void;
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
  readonly priority: Priority;
  readonly since: number;
  grant(slot: Slot): void;
  refuse(error: Error): void;
}

/** A request in the window. */
interface Taken {
  readonly tenant: Tenant<Waiter>;
  readonly priority: Priority;
  /** Out of the part that is given out evenly. */
  readonly paced: boolean;
  /** By this process. */
  readonly own: boolean;
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
/** Of a shared window, which changes may use up at once; the rest comes evenly over the minute. */
const atOnceShare = 1 / 2;
/** Of a shared window: so many changes of a namespace are sent before those of any that had more, and at once. */
const lightShare = 1 / 12;
/** Of a shared window: kept for those. */
const keptShare = 1 / 40;

/**
 * The request budget of one credential, shared by everything that uses it, and the one place where waiting for it is
 * ordered. It guarantees:
 * - the server sees at most `requestsPerMinute` requests in any rolling 60 s (see {@link RollingWindow}), and of an
 *   account at most what {@link bound} says;
 * - `resync` takes at most half of any window, `resync` and `first` together at most three quarters (but at least
 *   one), so a change starts at once unless changes alone have used a quarter of the last minute;
 * - classes are served in order; within a class accounts take turns, then the namespaces of an account, each first
 *   come first served; and nothing starves: of every four requests at least one goes to the class that waits longest,
 *   once it has waited `ageingMs`;
 * - a shared budget ({@link share}) is never used up for long: its second half goes to changes at even distances, of
 *   60.5 s / (half of the limit), and a namespace that had less than a twelfth of the window goes first, and has a
 *   fortieth to itself, so that whoever asks for little has its turn at once, or within that time;
 * - after a 429 nothing starts until the pause ends, and then one at a time, each answer letting one more in;
 * - while a pause still takes more than 10 s, a change is refused at once with a {@link BudgetPausedError}.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #clock: Clock;
  readonly #ageingMs: number;
  readonly #use = new Use();
  readonly #window = new RollingWindow<Taken>((taken) => this.#left(taken));
  readonly #tenants = new Tenants<Waiter>();
  #limit: number;
  #shared = false;
  #paced = 0;
  #pacedNextAt = Number.NEGATIVE_INFINITY;
  #concurrency = Number.POSITIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #grantsInTurn = 0;
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#limit = atLeastOne(options.requestsPerMinute);
    this.#clock = options.monotonic;
    this.#ageingMs = options.ageingMs ?? 30_000;
  }

  /** Resolves when the request may be sent; rejects with the signal's reason, or refuses. */
  acquire({ priority, account = '', namespace = '', signal }: Ask): Promise<Slot> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const refusal = priority === 'change' ? this.#refusal() : undefined;
    if (refusal !== undefined) return Promise.reject(refusal);
    const tenant = this.#tenants.of(account, namespace);
    const waiting = tenant.waiting[priority];
    return new Promise((resolve, reject) => {
      const abort = () => {
        waiting.delete(waiter);
        this.#tenants.settle(tenant);
        this.#serve();
        reject(signal?.reason);
      };
      const done = () => signal?.removeEventListener('abort', abort);
      const waiter: Waiter = {
        priority,
        since: this.#clock.now(),
        grant: (slot) => {
          done();
          resolve(slot);
        },
        refuse: (error) => {
          done();
          reject(error);
        },
      };
      waiting.add(waiter);
      signal?.addEventListener('abort', abort, { once: true });
      this.#serve();
    });
  }

  /** A 429: every class waits `retryAfterMs` (15 s without one, at most an hour). Call it before the slot's release. */
  penalize(retryAfterMs: number | undefined): void {
    const pause = Math.min(Math.max(retryAfterMs ?? defaultPauseMs, 1), longestPauseMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pause);
    this.#concurrency = 1;
    const refusal = this.#refusal();
    if (refusal !== undefined) for (const waiter of this.#tenants.drain('change')) waiter.refuse(refusal);
    this.#serve();
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    if (this.#limit === requestsPerMinute) return;
    this.#limit = atLeastOne(requestsPerMinute);
    this.#serve();
  }

  /** What an account may use of it in any rolling 60 s. */
  bound(account: string, requestsPerMinute: number): void {
    const bounded = this.#tenants.account(account);
    if (bounded.limit === requestsPerMinute) return;
    bounded.limit = atLeastOne(requestsPerMinute);
    this.#serve();
  }

  /** Several accounts, or several namespaces, may ask for it. */
  share(shared: boolean): void {
    if (this.#shared === shared) return;
    this.#shared = shared;
    this.#serve();
  }

  /** How many requests the account may have in its window: so many are on durable record. Default any number. */
  record(account: string, count: number): void {
    const recorded = this.#tenants.account(account);
    if (recorded.recorded === count) return;
    recorded.recorded = count;
    this.#serve();
  }

  /** Charges an account with what another process may have sent, the last at `endedAt` (monotonic). */
  carry(account: string, count: number, endedAt: number): void {
    const tenant = this.#tenants.of(account, '');
    const taken: Taken = { tenant, priority: 'change', paced: false, own: false };
    const slots = Array.from({ length: Math.min(count, this.#limit) }, () => taken);
    for (const slot of slots) this.#enter(slot);
    this.#window.carry(slots, endedAt);
    this.#serve();
  }

  /** How many requests of this process the account has in the window. */
  ownUse(account: string): number {
    this.#window.advance(this.#clock.now());
    return this.#tenants.account(account).own;
  }

  /** When those of them ended that have. */
  endedAt(account: string): readonly number[] {
    const ended = this.#window.finished().filter(({ slot }) => slot.tenant.account.name === account);
    return ended.map(({ endedAt }) => endedAt);
  }

  /** An account does not use it any more; what it sent still counts. */
  leave(account: string): void {
    this.#tenants.leave(account);
  }

  /** The service asked for a pause that is not over. */
  get isPaused(): boolean {
    return this.#clock.now() < this.#pausedUntil;
  }

  /** Of an account, or of the credential, whichever has less room; what waits is the account's. */
  state(account?: string): LimiterState {
    const now = this.#clock.now();
    this.#window.advance(now);
    const all = { used: this.#use.total, limit: this.#limit };
    const own = account === undefined ? all : this.#boundOf(this.#tenants.account(account));
    const { used, limit } = own.limit - own.used < all.limit - all.used ? own : all;
    const waiting = (priority: Priority) => this.#tenants.waiting(priority, account);
    return {
      used,
      limit,
      waiting: { change: waiting('change'), first: waiting('first'), resync: waiting('resync') },
      ...(this.#pausedUntil > now ? { pausedUntilMs: this.#pausedUntil } : {}),
    };
  }

  #boundOf({ use, limit }: Account<Waiter>) {
    return { used: use.total, limit: Math.min(limit, this.#limit) };
  }

  #refusal(): BudgetPausedError | undefined {
    const left = this.#pausedUntil - this.#clock.now();
    return left > longestSilentPauseMs ? new BudgetPausedError(left) : undefined;
  }

  #serve(): void {
    const now = this.#clock.now();
    this.#window.advance(now);
    if (now >= this.#pausedUntil) {
      for (let next = this.#next(now); next !== undefined; next = this.#next(now)) this.#start(next, now);
    }
    this.#wakeLater(now);
  }

  #start({ tenant, priority }: Turn, now: number): void {
    const waiter = this.#tenants.take(tenant, priority);
    if (waiter === undefined) return;
    const paced = priority === 'change' && this.#isPaced(tenant);
    if (paced) this.#pacedNextAt = now + this.#paceMs();
    const taken: Taken = { tenant, priority, paced, own: true };
    this.#window.start();
    this.#enter(taken);
    waiter.grant({ waitedMs: now - waiter.since, release: (sent = true) => this.#release(taken, sent) });
  }

  #release(taken: Taken, sent: boolean): void {
    const now = this.#clock.now();
    this.#window.finish(taken, sent, now);
    if (sent && now >= this.#pausedUntil) this.#concurrency += 1;
    this.#serve();
  }

  #enter({ tenant, priority, paced, own }: Taken): void {
    for (const use of this.#usesOf(tenant)) use.add(priority);
    if (paced) this.#paced += 1;
    if (own) tenant.account.own += 1;
  }

  #left({ tenant, priority, paced, own }: Taken): void {
    for (const use of this.#usesOf(tenant)) use.remove(priority);
    if (paced) this.#paced -= 1;
    if (own) tenant.account.own -= 1;
    this.#tenants.settle(tenant);
  }

  #usesOf(tenant: Tenant<Waiter>): readonly Use[] {
    return [this.#use, tenant.account.use, tenant.use];
  }

  #next(now: number): Turn | undefined {
    if (this.#use.total >= this.#limit || this.#window.running >= this.#concurrency) return undefined;
    const open = priorities.flatMap((priority) => {
      const next = this.#tenants.next(priority, (tenant) => this.#standingOf(tenant, priority, now));
      return next === undefined ? [] : [{ ...next, priority }];
    });
    const [inTurn] = open;
    if (inTurn === undefined) return undefined;
    const oldest = open.reduce((a, b) => (b.oldest < a.oldest ? b : a));
    if (oldest !== inTurn && now - oldest.oldest >= this.#ageingMs && this.#grantsInTurn >= inTurnBetweenAged) {
      this.#grantsInTurn = 0;
      return oldest;
    }
    this.#grantsInTurn += 1;
    return inTurn;
  }

  #standingOf(tenant: Tenant<Waiter>, priority: Priority, now: number): Standing {
    const { use, limit, own, recorded } = tenant.account;
    if (!use.admits(priority, limit) || !this.#use.admits(priority, this.#limit)) return 'not now';
    if (own >= recorded) {
      this.#options.onShort?.(tenant.account.name);
      return 'not now';
    }
    if (!this.#shared) return 'in turn';
    if (priority === 'change' && this.#isLight(tenant)) return 'ahead';
    if (this.#use.total >= this.#limit - Math.floor(this.#limit * keptShare)) return 'not now';
    if (priority !== 'change') return 'in turn';
    return now >= this.#pacedNextAt || !this.#isPaced(tenant) ? 'in turn' : 'not now';
  }

  /** It has asked for little of late. */
  #isLight({ use }: Tenant<Waiter>): boolean {
    return use.of('change') < shareOf(this.#limit, lightShare);
  }

  /** The next change of the tenant is of the part that is given out evenly. */
  #isPaced(tenant: Tenant<Waiter>): boolean {
    if (!this.#shared || this.#isLight(tenant)) return false;
    return this.#use.total - this.#paced >= shareOf(this.#limit, atOnceShare);
  }

  #paceMs(): number {
    return windowMs / Math.max(1, this.#limit - shareOf(this.#limit, atOnceShare));
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
    if (priorities.every((priority) => this.#tenants.waiting(priority) === 0)) return undefined;
    if (this.#pausedUntil > now) return this.#pausedUntil;
    const left = this.#window.nextChange();
    return this.#pacedNextAt > now ? Math.min(left ?? this.#pacedNextAt, this.#pacedNextAt) : left;
  }
}

interface Turn {
  readonly tenant: Tenant<Waiter>;
  readonly priority: Priority;
}

function atLeastOne(requestsPerMinute: number): number {
  if (!(requestsPerMinute >= 1)) throw new RangeError(`requestsPerMinute must be at least 1, not ${requestsPerMinute}`);
  return Math.floor(requestsPerMinute);
}
