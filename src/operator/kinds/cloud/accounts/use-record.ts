import { Backoff } from '../../../../common/backoff.ts';
import type { Log } from '../../../../common/log.ts';
import type { Runtime } from '../../../../common/runtime.ts';
import {
  aheadOf,
  allowed,
  freeShareOf,
  type Past,
  pastOf,
  pruned,
  succeeding,
  textOf,
  type UseState,
} from './use-state.ts';

/** The record as it is kept. */
export interface Stored {
  /** What each of those before wrote who may have sent for the same accounts. */
  readonly texts: readonly string[];
  /** Milliseconds since the epoch by the clock of who keeps it, which is nobody's of ours; undefined when not known. */
  readonly writtenAt: number | undefined;
}

/** Where the record is kept. */
export interface UseStore {
  read(signal: AbortSignal): Promise<Stored>;
  /** Answers what stands there then; undefined when somebody else wrote since it was read or written here last. */
  write(text: string, signal: AbortSignal): Promise<Stored | undefined>;
  /** The same for each process, and unknown to who may not read what is kept there; undefined before anything is. */
  readonly secret?: string | undefined;
  /** It cannot be kept there, as without the right to: another try soon is of no use. */
  isRefusal(error: unknown): boolean;
}

/** What an account has used. */
export interface AccountUse {
  readonly account: string;
  readonly limit: number;
  /** Of this process, in the window. */
  readonly own: number;
  /** Those of them that have ended. */
  readonly past: () => readonly Past[];
}

const lastWriteMs = 5_000;
/** Who keeps it dates to the second. */
const datedToMs = 1_000;
/** Not sooner, or who uses now a little more and now a little less would write all the time. */
const relaxMs = 5 * 60_000;

export interface UseRecordOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly store: UseStore;
  readonly log: Log;
  /** Of all accounts now. */
  readonly uses: () => readonly AccountUse[];
  /** Of one that may not be among them, requests a minute. */
  readonly limitOf: (account: string) => number;
  /** What may be used has changed. */
  readonly onChange: () => void;
}

/**
 * What this process may have sent in the last minute, on durable record before it is sent, so that the one after it,
 * which may come within that minute, does not begin with a fresh budget. A sixteenth of each limit, at most 20, is free: one
 * word at the start says so for all accounts. Beyond that twice of what is used is recorded ahead, and withdrawn after
 * minutes in which it was not needed: who uses little writes nothing. Order and ages are of monotonic clocks, and of the clock of
 * whoever keeps the record; where that says nothing, what an earlier process may have sent counts for a minute from now.
 */
export class UseRecord {
  readonly #options: UseRecordOptions;
  readonly #backoff: Backoff;
  readonly #ended = new AbortController();
  readonly #wanted = new Map<string, number>();
  #state: UseState | undefined;
  /** Somebody else wrote since. */
  #isStale = false;
  /** There is nowhere to keep it. */
  #isOff = false;
  #isWriting = false;
  #writing: Promise<void> | undefined;

  constructor(options: UseRecordOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ minMs: 200, maxMs: 10_000 }, options.random);
  }

  /** Takes over what stands there, says that this process has begun, and keeps the record until it is closed. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      this.#write();
      await this.#writing;
      await this.#options.monotonic.sleep(relaxMs, signal).catch(() => {});
      if (!signal.aborted) await this.#relax();
    }
  }

  get secret(): string | undefined {
    return this.#options.store.secret;
  }

  /** How many requests an account may have in its window: none before the record is known. */
  allowed(account: string, limit: number): number {
    if (this.#isOff) return Number.POSITIVE_INFINITY;
    return this.#state === undefined ? 0 : allowed(this.#state, account, limit);
  }

  /** Of whom something is on record; undefined while that is not known. */
  get names(): readonly string[] | undefined {
    return this.#state && [...this.#state.named.keys()];
  }

  /** What earlier processes may have sent for it; undefined while that is not known. */
  pastOf(account: string): readonly Past[] | undefined {
    return this.#state && pastOf(this.#state, account, this.#options.limitOf(account));
  }

  /** The account needs more than it is allowed. */
  need({ account, limit, own }: AccountUse): void {
    if (this.#state === undefined || this.#ended.signal.aborted) return;
    this.#wanted.set(account, aheadOf(own, limit));
    this.#write();
  }

  /**
   * Leaves behind what was sent, and no more. To be called once, when nothing is sent any more. Answers whether a record is kept:
   * where this one could not be written, the last one says more than what was sent.
   */
  async close(): Promise<boolean> {
    this.#ended.abort(new Error('the operator stops'));
    await this.#writing;
    if (this.#state === undefined || this.#isOff) return false;
    const now = this.#now();
    const named = new Map(this.#state.named);
    for (const { account, limit, own, past } of this.#options.uses()) {
      const ended = past();
      const unended = { count: own - ended.reduce((sum, { count }) => sum + count, 0), endedAt: now };
      named.set(account, { open: 0, past: [...pastOf(this.#state, account, limit), ...ended, unended] });
    }
    const timeout = this.#options.monotonic.timeout(lastWriteMs);
    await this.#store({ ...this.#state, free: false, named }, timeout).catch((error: unknown) => this.#warn(error));
    return true;
  }

  /** One at a time, again until what is wanted is written. */
  #write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    try {
      for (let goesOn = true; goesOn && this.#isBehind(); ) goesOn = await this.#tryWrite();
    } finally {
      // At once after the last look at what is wanted: what is wanted from now on begins another.
      this.#isWriting = false;
    }
  }

  /** Something is to be written. */
  #isBehind(): boolean {
    return !this.#ended.signal.aborted && (this.#state === undefined || this.#isStale || this.#wanted.size > 0);
  }

  /** Answers whether more can be written. */
  async #tryWrite(): Promise<boolean> {
    const { monotonic, store, onChange } = this.#options;
    const { signal } = this.#ended;
    try {
      await this.#writeOnce();
      this.#backoff.forget();
      this.#isOff = false;
    } catch (error) {
      if (signal.aborted) return false;
      const wasOff = this.#isOff;
      this.#isOff = store.isRefusal(error);
      if (!wasOff) this.#warn(error);
      if (!this.#isOff) await monotonic.sleep(this.#backoff.next(), signal).catch(() => {});
    }
    onChange();
    return !this.#isOff;
  }

  async #writeOnce(): Promise<void> {
    const wanted = new Map(this.#wanted);
    if (this.#state === undefined || this.#isStale) await this.#takeOver(wanted);
    else {
      const next = this.#with(this.#state, wanted);
      this.#isStale = (await this.#store(next)) === undefined;
      if (!this.#isStale) this.#state = next;
    }
    if (this.#isStale) return;
    for (const [account, count] of wanted) if (this.#wanted.get(account) === count) this.#wanted.delete(account);
  }

  /** How long ago it was written is known when something is: both are dated by the same clock. Until then it is no time. */
  async #takeOver(wanted: ReadonlyMap<string, number>): Promise<void> {
    const before = await this.#options.store.read(this.#ended.signal);
    const now = this.#now();
    const { limitOf } = this.#options;
    const after = (sinceMs: number) =>
      this.#with(this.#merged(succeeding(before.texts, now, sinceMs, limitOf)), wanted);
    const next = after(0);
    const written = await this.#store(next);
    this.#isStale = written === undefined;
    if (written === undefined) return;
    const [from, to] = [before.writtenAt, written.writtenAt];
    const sinceMs = from === undefined || to === undefined ? 0 : Math.max(0, to - from - datedToMs);
    this.#state = { ...after(sinceMs), free: next.free };
  }

  /** With what is wanted; what an account is charged with is by its name from then on. */
  #with(state: UseState, wanted: ReadonlyMap<string, number>): UseState {
    const { limitOf } = this.#options;
    const named = new Map(state.named);
    for (const [account, open] of wanted) named.set(account, { open, past: pastOf(state, account, limitOf(account)) });
    return pruned({ ...state, named }, this.#now());
  }

  /** Where somebody else wrote: what he may have sent counts, and so does what this process may send. */
  #merged(theirs: UseState): UseState {
    const ours = this.#state;
    if (ours === undefined) return theirs;
    const named = new Map(theirs.named);
    for (const [account, { open }] of ours.named)
      named.set(account, { open, past: theirs.named.get(account)?.past ?? [] });
    return { ...theirs, free: ours.free, named };
  }

  /** What is not needed now is given back: at once, and then on record. */
  async #relax(): Promise<void> {
    if (this.#state === undefined || this.#isWriting) return;
    const now = this.#now();
    const state = pruned(this.#state, now);
    const isFree = state.free || state.starts.length === 0;
    const named = new Map(state.named);
    const uses = this.#options.uses();
    const isUsed = new Set(uses.map(({ account }) => account));
    // Those who are gone use no more than they have.
    for (const [account, { open, past }] of named)
      if (open > 0 && !isUsed.has(account))
        named.set(account, { open: 0, past: [...past, { count: open, endedAt: now }] });
    for (const { account, limit, own } of uses) {
      const entry = named.get(account);
      if (entry === undefined) continue;
      const ahead = Math.max(own, aheadOf(own, limit));
      if (isFree && own <= freeShareOf(limit) && entry.past.length === 0) named.delete(account);
      else if (2 * ahead <= entry.open) named.set(account, { ...entry, open: ahead });
    }
    const less = { ...state, free: isFree, named };
    if (textOf(less, now) === textOf(state, now)) return;
    this.#state = { ...less, free: state.free };
    try {
      if ((await this.#store(less)) === undefined) this.#isStale = true;
      else this.#state = less;
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#warn(error);
    }
    this.#options.onChange();
  }

  #store(state: UseState, signal = this.#ended.signal): Promise<Stored | undefined> {
    return this.#options.store.write(textOf(state, this.#now()), signal);
  }

  #now(): number {
    return this.#options.monotonic.now();
  }

  #warn(error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error);
    const more = this.#isOff ? '; a restart may exceed the budgets of accounts for a minute' : '';
    this.#options.log.warn(`cannot record what is sent${more}`, { error: cause });
  }
}
