import { Backoff } from '../../../../common/backoff.ts';
import type { Log } from '../../../../common/log.ts';
import type { Runtime } from '../../../../common/runtime.ts';
import { windowMs } from '../../../cloud/rolling-window.ts';
import { Beside } from './beside.ts';
import { leave } from './leaving.ts';
import { Refused } from './refused.ts';
import { relaxed } from './relaxed.ts';
import {
  aheadOf,
  begun,
  freeShareOf,
  type Inheritance,
  type Past,
  pruned,
  renewalAt,
  succeeding,
  textOf,
  together,
  type UseState,
  withOpen,
  without,
  withoutOpen,
} from './use-state.ts';
import { between, mostText, type Stored, type UseStore } from './use-store.ts';
import { Wanted } from './wanted.ts';

/** What an account has used. */
export interface AccountUse {
  /** As it is on record. */
  readonly name: string;
  readonly limit: number;
  /** Of this process, in the window. */
  readonly own: number;
  /** Those of them that have ended. */
  readonly past: () => readonly Past[];
}

const lastWriteMs = 5_000;
/** Not sooner, or who uses now a little more and now a little less would write all the time. */
const relaxMs = 5 * 60_000;
/** A sixteenth of a minute for a sixteenth of what may be sent in one: however often who may keep no record is started again. */
const unrecordedMs = windowMs / 16;

export interface UseRecordOptions extends Pick<Runtime, 'monotonic' | 'random' | 'uuid'> {
  readonly store: UseStore;
  readonly log: Log;
  /** Of all accounts now. */
  readonly uses: () => readonly AccountUse[];
  /** What may be used has changed. */
  readonly onChange: () => void;
}

/**
 * What this process may have sent in the last minute, on durable record before it is sent, so that the one after it,
 * which may come within that minute, does not begin with a fresh budget. A sixteenth of the limit of each key, at most 20, is
 * free for all its accounts together: one word at the start says so for all keys. Beyond that an account is on record by its name,
 * with twice of what it uses, which is withdrawn after minutes in which it was not needed: who uses little writes nothing, but
 * every six hours that it is there still. Where no more names fit, who is not among them has a part in the free share, or waits.
 * Where it may not be kept, that share is all for a minute, and nothing where somebody before may have sent: who is started again
 * and again would have a fresh budget each time. From then on it is done without, and tried again once a minute.
 *
 * Each process says of what it wrote that it was itself. So what it finds of its own, where an answer was lost or somebody else
 * wrote since, is nothing new, and what another sent counts once. Order and ages are of monotonic clocks, and of the clocks
 * of whoever keeps the record and of who wrote it, whichever says less; where they say nothing, what an earlier process may have
 * sent counts for a minute from now.
 */
export class UseRecord {
  readonly #options: UseRecordOptions;
  readonly #backoff: Backoff;
  readonly #ended = new AbortController();
  /** Of this process, since it keeps this record. */
  readonly #id: string;
  readonly #wanted = new Wanted(() => this.#most);
  #state: UseState | undefined;
  /** What was found and could not be taken over: it may be gone by the next look. */
  #found: Inheritance = { starts: [], named: new Map() };
  readonly #beside = new Beside();
  /** By which those in the state are named. */
  #secret: string | undefined;
  /** How often was taken over what others wrote. */
  #takeovers = 0;
  /** Somebody else wrote since. */
  #isStale = false;
  /** When it was written last, see {@link renewalAt}. */
  #renewal: number | undefined;
  readonly #refused = new Refused();
  #isWriting = false;
  #writing: Promise<void> | undefined;

  constructor(options: UseRecordOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ minMs: 200, maxMs: 10_000 }, options.random);
    this.#id = options.uuid().slice(0, 8);
  }

  /** Takes over what stands there, says that this process has begun, and keeps the record until it is closed. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      this.#write();
      await this.#writing;
      await this.#rest(signal);
      while (this.#isWriting) await this.#writing;
      if (!signal.aborted) await this.#alone(() => this.#relax());
    }
  }

  /** Until what is not needed is to be given back. What is refused is tried again meanwhile. */
  async #rest(signal: AbortSignal): Promise<void> {
    for (let restedMs = windowMs; ; restedMs += windowMs) {
      await this.#options.monotonic.sleep(windowMs, signal).catch(() => {});
      if (signal.aborted || restedMs >= relaxMs) return;
      if (this.#refused.isForGood) this.#write();
    }
  }

  get secret(): string | undefined {
    return this.#options.store.secret;
  }

  /** How many requests an account that is on record may have in its window; undefined of one that is not. */
  openOf(name: string): number | undefined {
    return this.#refused.isForGood ? undefined : this.#state?.named.get(name)?.open;
  }

  /** Of a limit, what others may use that are not on record: nothing before the record is known, or is not to be had. */
  freeOf(limit: number): number {
    if (this.#refused.isForGood) return Number.POSITIVE_INFINITY;
    return (this.#state?.free ?? this.#isUnrecordedFree) ? freeShareOf(limit) : 0;
  }

  /** Without a record: what those before may have sent is not known to be over, and so many may come one after the other. */
  get #isUnrecordedFree(): boolean {
    const { starts, named } = this.#found;
    return starts.length === 0 && named.size === 0 && this.#refused.hasLasted(unrecordedMs, this.#now());
  }

  /** What earlier processes may have sent, and which look at it this is; undefined while that is not known. */
  get inherited(): (Inheritance & { readonly look: number }) | undefined {
    return this.#state && { ...this.#beside.with(this.#state, this.#now()), look: this.#takeovers };
  }

  /** The account needs more than it is allowed. */
  need({ name, limit, own }: AccountUse): void {
    if (this.#state === undefined || this.#ended.signal.aborted) return;
    const ahead = aheadOf(own, limit);
    if (ahead <= (this.#state.named.get(name)?.open ?? 0)) return;
    if (this.#wanted.add(name, ahead, this.#state)) this.#write();
  }

  /**
   * Leaves behind what was sent, and no more. To be called once, when nothing is sent any more. Answers whether a record is kept:
   * where this one could not be written, the last one says more than what was sent.
   */
  async close(): Promise<boolean> {
    this.#ended.abort(new Error('the operator stops'));
    await this.#writing;
    if (this.#state === undefined || this.#refused.isForGood) return false;
    const timeout = this.#options.monotonic.timeout(lastWriteMs);
    const { store, uses } = this.#options;
    const leaving = () => ({ by: this.#id, uses: uses(), now: this.#now(), most: this.#most });
    const left = leave(this.#state, { store, leaving, isStale: this.#isStale, signal: timeout });
    await left.catch((error: unknown) => this.#warn(error));
    return true;
  }

  /** One at a time, again until what is wanted is written. */
  #write(): void {
    if (!this.#isWriting) void this.#alone(() => this.#writeAll());
  }

  async #alone(write: () => Promise<void>): Promise<void> {
    this.#isWriting = true;
    this.#writing = write();
    await this.#writing;
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
    if (this.#ended.signal.aborted) return false;
    const state = this.#state;
    if (state === undefined || this.#isStale || this.#refused.isForGood) return true;
    return this.#wanted.hasRoom(state);
  }

  /** Answers whether more can be written. */
  async #tryWrite(): Promise<boolean> {
    const { monotonic, store, onChange } = this.#options;
    const { signal } = this.#ended;
    let pauseMs = 0;
    try {
      await this.#writeOnce();
      this.#backoff.forget();
      this.#refused.over();
    } catch (error) {
      if (signal.aborted) return false;
      if (this.#refused.failed(store.lastsMs(error), this.#now())) this.#warn(error);
      if (!this.#refused.isForGood) pauseMs = this.#backoff.next();
    }
    onChange();
    if (pauseMs > 0) await monotonic.sleep(pauseMs, signal).catch(() => {});
    return !this.#refused.isForGood;
  }

  async #writeOnce(): Promise<void> {
    if (this.#state === undefined || this.#isStale) return this.#takeOver();
    const admitted = this.#wanted.admitted(this.#state);
    const next = pruned(withOpen(this.#state, admitted), this.#now());
    this.#isStale = (await this.#store(next)) === undefined;
    if (!this.#isStale) this.#written(next, admitted);
  }

  /**
   * How long ago it was written is known when something is: both are dated by the same clocks. Until then it is no time. What this
   * process may send, and what it knew of others, is written again: it may be gone from there.
   */
  async #takeOver(): Promise<void> {
    const { store } = this.#options;
    const before = await store.read(this.#ended.signal);
    const now = this.#now();
    const found = this.#found;
    this.#found = together(without(succeeding(before.texts, now, 0), this.#id), found);
    const after = (sinceMs: number) => {
      const theirs = together(without(succeeding(before.texts, now, sinceMs), this.#id), found);
      const ours = this.#state;
      return ours === undefined ? begun(theirs, now) : pruned({ ...ours, ...together(theirs, ours) }, now);
    };
    const admitted = this.#wanted.admitted(after(0));
    const next = withOpen(after(0), admitted);
    const written = await this.#store(next);
    this.#isStale = written === undefined;
    if (written === undefined) return;
    // Until it was read: what was written since says nothing of that.
    const sinceMs = Math.max(0, between(before.writtenAt, written.writtenAt) - (this.#now() - now));
    this.#beside.look(before.beside ?? [], now, sinceMs);
    const isFirst = this.#state === undefined;
    this.#found = { starts: [], named: new Map() };
    this.#takeovers += 1;
    this.#written({ ...withOpen(after(sinceMs), admitted), free: next.free }, admitted);
    if (!isFirst && store.secret !== this.#secret) this.#rename();
    this.#secret = store.secret;
  }

  #written(state: UseState, admitted: ReadonlyMap<string, number>): void {
    this.#state = state;
    this.#wanted.written(admitted);
  }

  /** The place is another one, and all have other names there: what is on record by the old ones goes on by the new ones. */
  #rename(): void {
    this.#state = this.#state && withoutOpen(this.#state);
    const using = this.#options.uses().filter(({ own }) => own > 0);
    this.#wanted.replace(using.map(({ name, own, limit }) => [name, aheadOf(own, limit)] as const));
  }

  get #most(): number {
    return this.#options.store.most ?? mostText;
  }

  /** What is not needed now is given back: at once, and then on record. */
  async #relax(): Promise<void> {
    try {
      if (this.#state !== undefined && !this.#isStale) await this.#giveBack(this.#state);
    } finally {
      this.#isWriting = false;
    }
    this.#options.onChange();
  }

  async #giveBack(before: UseState): Promise<void> {
    const now = this.#now();
    const state = pruned(before, now);
    const uses = new Map(this.#options.uses().map((use) => [use.name, use]));
    this.#wanted.keepOnly(uses);
    const less = pruned(relaxed(state, uses), now);
    const [textBefore, text] = [state, less].map((each) => textOf({ ...each, by: this.#id }, now));
    if (text === textBefore && !this.#isOld) return;
    this.#state = { ...less, free: state.free };
    this.#options.onChange();
    try {
      if ((await this.#store(less)) === undefined) this.#isStale = true;
      else this.#state = less;
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#warn(error);
    }
  }

  async #store(state: UseState): Promise<Stored | undefined> {
    const now = this.#now();
    const stored = await this.#options.store.write(textOf({ ...state, by: this.#id }, now), this.#ended.signal);
    if (stored !== undefined) this.#renewal = renewalAt(now);
    return stored;
  }

  /** It would soon be taken for that of a process that is gone. What is refused is tried again anyway. */
  get #isOld(): boolean {
    return !this.#refused.isSo && this.#renewal !== renewalAt(this.#now());
  }

  #now(): number {
    return this.#options.monotonic.now();
  }

  get #meanwhile(): string {
    if (this.#refused.isForGood) return '; a restart may exceed the budgets of accounts for a minute';
    const isFirst = this.#state === undefined && this.#refused.isSo;
    return isFirst ? '; a sixteenth of each budget at most is used for a minute' : '';
  }

  #warn(error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error);
    this.#options.log.warn(`cannot record what is sent${this.#meanwhile}`, { error: cause });
  }
}
