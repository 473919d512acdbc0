import type { Clock } from '../../common/clock.ts';
import { type Priority, priorities } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Alarm } from './alarm.ts';
import { Ledger, type Taken } from './ledger.ts';
import { Pause } from './pause.ts';
import { type InUse, Sharing } from './sharing.ts';
import { type Account, type Standing, type Tenant, Tenants } from './tenants.ts';

export interface LimiterOptions extends Pick<Runtime, 'monotonic'> {
  /** Requests in any rolling 60 s, at least 1. */
  readonly requestsPerMinute: number;
  /** A request that has waited this long is served out of turn, but no more than one request in four. Default 30 s. */
  readonly ageingMs?: number;
  /** The account has used what {@link Ledger.record} says, and waits for more. Called whenever that is found. */
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
  /** It is none: the account has left meanwhile, and nothing may be sent by it. */
  readonly isVoid?: true;
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

const inTurnBetweenAged = 3;

/**
 * The request budget of one credential, shared by everything that uses it, and the one place where waiting for it is
 * ordered. It guarantees:
 * - the server sees at most `requestsPerMinute` requests in any rolling 60 s (see {@link Ledger}), and of an
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
 * - while a pause still takes more than 10 s, a change is refused at once with a BudgetPausedError.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #clock: Clock;
  readonly #ageingMs: number;
  readonly #tenants = new Tenants<Waiter>();
  readonly #pause = new Pause();
  readonly #sharing = new Sharing();
  readonly #alarm: Alarm;
  /** What was used of it. */
  readonly ledger: Ledger;
  #pauses = 0;
  #limit: number;
  #grantsInTurn = 0;
  #isServedSoon = false;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#limit = atLeastOne(options.requestsPerMinute);
    this.#clock = options.monotonic;
    this.#ageingMs = options.ageingMs ?? 30_000;
    this.#alarm = new Alarm(this.#clock, () => this.#serve());
    this.ledger = new Ledger({
      monotonic: options.monotonic,
      tenants: this.#tenants,
      onChange: () => this.#serveSoon(),
      onPacedLeft: () => this.#sharing.left(),
    });
  }

  /** Resolves when the request may be sent; rejects with the signal's reason, or refuses. */
  acquire({ priority, account = '', namespace = '', signal }: Ask): Promise<Slot> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const refusal = priority === 'change' ? this.#pause.refusal(this.#clock.now()) : undefined;
    if (refusal !== undefined) return Promise.reject(refusal);
    const tenant = this.#tenants.of(account, namespace);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#tenants.delete(tenant, waiter);
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
      this.#tenants.add(tenant, waiter);
      signal?.addEventListener('abort', abort, { once: true });
      this.#serve();
    });
  }

  /** A 429: every class waits `retryAfterMs` (15 s without one, at most an hour). Call it before the slot's release. */
  penalize(retryAfterMs: number | undefined): void {
    const now = this.#clock.now();
    this.#pauses += 1;
    this.#pause.begin(retryAfterMs, now);
    const refusal = this.#pause.refusal(now);
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
    if (this.#sharing.isShared === shared) return;
    this.#sharing.isShared = shared;
    this.#serve();
  }

  /** An account does not use it any more; what it sent still counts. What waits for it is given a slot that is void. */
  leave(account: string): void {
    const now = this.#clock.now();
    for (const { since, grant } of this.#tenants.leave(account))
      grant({ waitedMs: now - since, isVoid: true, release: () => {} });
  }

  /** Nothing of what was sent counts any more, and nothing is waited for. */
  get isIdle(): boolean {
    this.ledger.advance();
    return this.ledger.use.total === 0 && !this.isPaused;
  }

  /** How many pauses the service has asked for: after each one requests start one at a time. */
  get pauses(): number {
    return this.#pauses;
  }

  /** The service asked for a pause that is not over. */
  get isPaused(): boolean {
    return this.#pause.until(this.#clock.now()) !== undefined;
  }

  /** Of an account, or of the credential, whichever has less room; what waits is the account's. */
  state(account?: string): LimiterState {
    const now = this.#clock.now();
    this.ledger.advance();
    const all = { used: this.ledger.use.total, limit: this.#limit };
    const own = account === undefined ? all : this.#boundOf(this.#tenants.account(account));
    const { used, limit } = own.limit - own.used < all.limit - all.used ? own : all;
    const waiting = (priority: Priority) => this.#tenants.waiting(priority, account);
    const pausedUntilMs = this.#pause.until(now);
    return {
      used,
      limit,
      waiting: { change: waiting('change'), first: waiting('first'), resync: waiting('resync') },
      ...(pausedUntilMs === undefined ? {} : { pausedUntilMs }),
    };
  }

  #boundOf({ use, limit }: Account<Waiter>) {
    return { used: use.total, limit: Math.min(limit, this.#limit) };
  }

  #serve(): void {
    const now = this.#clock.now();
    this.ledger.advance();
    if (this.#pause.until(now) === undefined) {
      for (let next = this.#next(now); next !== undefined; next = this.#next(now)) this.#start(next, now);
    }
    this.#alarm.set(this.#nextChange(now));
  }

  /** Once for all that is told now, as of thousands of accounts: each time looks at all that wait. */
  #serveSoon(): void {
    if (this.#isServedSoon) return;
    this.#isServedSoon = true;
    queueMicrotask(() => {
      this.#isServedSoon = false;
      this.#serve();
    });
  }

  #start({ tenant, priority }: Turn, now: number): void {
    const waiter = this.#tenants.take(tenant, priority);
    if (waiter === undefined) return;
    const paced = this.#sharing.start(priority, this.#inUse(tenant), now);
    const taken = this.ledger.start(tenant, priority, paced);
    waiter.grant({ waitedMs: now - waiter.since, release: (sent = true) => this.#release(taken, sent) });
  }

  #release(taken: Taken, sent: boolean): void {
    this.ledger.finish(taken, sent);
    if (sent) this.#pause.answered(this.#clock.now());
    this.#serve();
  }

  #next(now: number): Turn | undefined {
    if (this.ledger.use.total >= this.#limit || !this.#pause.admits(this.ledger.running)) return undefined;
    const classes = priorities.filter((priority) => this.ledger.use.admits(priority, this.#limit));
    const open = classes.flatMap((priority) => {
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
    const { use, limit } = tenant.account;
    if (!use.admits(priority, limit)) return 'not now';
    if (this.ledger.isShort(tenant.account)) {
      this.#options.onShort?.(tenant.account.name);
      return 'not now';
    }
    return this.#sharing.standingOf(priority, this.#inUse(tenant), now);
  }

  #inUse({ use }: Tenant<Waiter>): InUse {
    return { limit: this.#limit, all: this.ledger.use, own: use };
  }

  /** When there may be something to do for those that wait. */
  #nextChange(now: number): number | undefined {
    if (!priorities.some((priority) => this.#tenants.isWaiting(priority))) return undefined;
    const moments = [this.ledger.nextChange(), this.#sharing.nextAt(now)].filter((at) => at !== undefined);
    return this.#pause.until(now) ?? (moments.length === 0 ? undefined : Math.min(...moments));
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
