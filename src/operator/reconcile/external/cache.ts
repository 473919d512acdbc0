import { type Call, waitAway } from '../../../common/call.ts';
import type { OddItem } from '../../../common/odd-item.ts';
import { unlessAborted } from '../../../common/unless-aborted.ts';
import type { Identity } from './contract.ts';

interface Sweep<Observed> {
  readonly startedAt: number;
  readonly items: ReadonlyMap<string, Observed>;
  readonly odd: readonly OddItem[];
}

/** A list that was broken off at what is too old to matter. */
interface Look<Observed> {
  readonly startedAt: number;
  /** By the service's clock. */
  readonly backTo: number;
  readonly items: Promise<readonly Observed[]>;
  /** What could not be read, once the list has ended. */
  readonly odd: readonly OddItem[];
}

/** What a look found, and when it began. */
export interface Recent<Observed> {
  readonly startedAt: number;
  /** Without what has been deleted by now. */
  readonly items: () => readonly Observed[];
  readonly odd: readonly OddItem[];
}

interface Seen<Observed> {
  readonly at: number;
  /** undefined: we deleted it. */
  readonly observed: Observed | undefined;
}

/** When it was known to be there for the last time, and when the list began that was the first without it. */
export interface Loss {
  readonly thereAt: number;
  readonly missedAt: number;
}

export interface ExternalCacheOptions<Observed> {
  /** Newest first; with `isWanted` as far as that holds. What cannot be read is left out, and `onOdd` is told of it. */
  readonly list: (
    call: Call,
    onOdd: (item: OddItem) => void,
    isWanted?: (observed: Observed) => boolean,
  ) => Promise<readonly Observed[]>;
  readonly identityOf: (observed: Observed) => Identity;
  /** On the monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** What a sweep waits for before it begins; default nothing. */
  readonly rest?: ((call: Call) => Promise<void> | undefined) | undefined;
}

/** So many of what others made and deleted there are remembered as well. */
const mostLost = 1_000;

/**
 * What is known of one account's objects of one kind: from our own calls, and from sweeps (one paged list that every
 * resource of the kind shares). Knows presence only: that an object is missing from a list is not taken for its
 * absence, because a list may lag behind; absence is confirmed by a get.
 */
export class ExternalCache<Observed> {
  readonly #list: ExternalCacheOptions<Observed>['list'];
  readonly #identityOf: (observed: Observed) => Identity;
  readonly #now: () => number;
  readonly #rest: (call: Call) => Promise<void> | undefined;
  readonly #seen = new Map<string, Seen<Observed>>();
  readonly #closing = new AbortController();
  /** By id; the latest last. */
  readonly #lost = new Map<string, Loss>();
  #last: Sweep<Observed> | undefined;
  #running: { readonly startedAt: number; readonly done: Promise<void> } | undefined;
  #look: Look<Observed> | undefined;
  /** Until the look under way has ended, well or not. */
  #looking: Promise<void> | undefined;
  /** How far back those want to look who wait for it. */
  #nextBackTo = Number.POSITIVE_INFINITY;

  constructor(options: ExternalCacheOptions<Observed>) {
    this.#list = options.list;
    this.#identityOf = options.identityOf;
    this.#now = options.now;
    this.#rest = options.rest ?? (() => undefined);
  }

  /** The object as of `since` (on the monotonic clock) or later; undefined when nothing that fresh is known. */
  known(id: string, since: number): Observed | undefined {
    const own = this.#seen.get(id);
    const swept = this.#last?.items.get(id);
    const sweptAt = swept === undefined ? Number.NEGATIVE_INFINITY : (this.#last?.startedAt ?? 0);
    if (own !== undefined && own.at >= sweptAt) return own.at >= since ? own.observed : undefined;
    return sweptAt >= since ? swept : undefined;
  }

  /** What is known of it last is from a list, not from a call for it alone. */
  isListed(id: string): boolean {
    const { startedAt, items } = this.#last ?? { startedAt: 0, items: new Map<string, Observed>() };
    return items.has(id) && startedAt > (this.#seen.get(id)?.at ?? Number.NEGATIVE_INFINITY);
  }

  /** When the last list began that came to its end; on the monotonic clock. */
  get sweptAt(): number | undefined {
    return this.#last?.startedAt;
  }

  /** Of what was there until a list did not show it; undefined also of what never was. */
  lossOf(id: string): Loss | undefined {
    return this.#lost.get(id);
  }

  /** Everything that is known to be there. */
  current(): readonly Observed[] {
    const items = new Map(this.#last?.items);
    for (const [id, { observed }] of this.#seen) {
      if (observed === undefined) items.delete(id);
      else items.set(id, observed);
    }
    return [...items.values()];
  }

  /** What the last sweep that ended could not read: it may be there, whatever it is. */
  odd(): readonly OddItem[] {
    return this.#last?.odd ?? [];
  }

  /** An answer to a call of our own; `at` is when a read was sent, or when a write was answered. */
  record(observed: Observed, at: number): void {
    const { id } = this.#identityOf(observed);
    // A read that was answered late shows what was there before a write that was answered meanwhile.
    if ((this.#seen.get(id)?.at ?? at) > at) return;
    this.#seen.set(id, { at, observed });
  }

  forget(id: string): void {
    this.#seen.set(id, { at: this.#now(), observed: undefined });
  }

  /**
   * Everything in the account by a list that began at `since` or later; lists once for all who ask meanwhile. Aborting
   * the call's signal ends the caller's wait, not the list that others may wait for.
   */
  async sweep(since: number, call: Call): Promise<readonly Observed[]> {
    for (let before = this.#before(since, call); before !== undefined; before = this.#before(since, call)) {
      await this.#wait(before, call).catch(() => {});
      call.signal?.throwIfAborted();
    }
    if (this.#running === undefined && this.#last !== undefined && this.#last.startedAt >= since) {
      return this.current();
    }
    this.#running ??= this.#start(call);
    await this.#wait(this.#running.done, call);
    return this.current();
  }

  /** What is to end before a list can serve whoever asks for one that began at `since`. */
  #before(since: number, call: Call): Promise<void> | undefined {
    if (this.#running !== undefined) return this.#running.startedAt < since ? this.#running.done : undefined;
    return this.#last !== undefined && this.#last.startedAt >= since ? undefined : this.#rest(call);
  }

  /**
   * What was made at `backTo` (by the service's clock, in milliseconds since the epoch) or later, by a list that began at
   * `since` or later and read no further back. All whom the one under way does not serve share the next: one for each would
   * queue for the account's budget, and hold up what comes after.
   */
  async recent(since: number, backTo: number, call: Call): Promise<Recent<Observed>> {
    const isRecent = isSince(backTo, this.#identityOf);
    const swept = () => (this.#last !== undefined && this.#last.startedAt >= since ? this.#last : undefined);
    const suffices = (look: Look<Observed> | undefined) =>
      look !== undefined && look.startedAt >= since && look.backTo <= backTo;
    while (this.#looking !== undefined && swept() === undefined && !suffices(this.#look)) {
      this.#nextBackTo = Math.min(this.#nextBackTo, backTo);
      await this.#wait(this.#looking, call);
    }
    const { startedAt: sweptAt } = swept() ?? {};
    if (sweptAt !== undefined) {
      return { startedAt: sweptAt, items: () => this.current().filter(isRecent), odd: this.odd() };
    }
    const look = this.#look !== undefined && suffices(this.#look) ? this.#look : this.#startLook(backTo, call);
    const { startedAt, items, odd } = look;
    const found = await waitAway(call, () => unlessAborted(items, call.signal));
    return { startedAt, items: () => this.#byNow(startedAt, found).filter(isRecent), odd };
  }

  /** What a list found, and what has been told since it began. */
  #byNow(startedAt: number, found: readonly Observed[]): readonly Observed[] {
    if (this.#last !== undefined && this.#last.startedAt >= startedAt) return this.current();
    const known = new Map(found.map((observed) => [this.#identityOf(observed).id, observed]));
    for (const [id, { at, observed }] of this.#seen) {
      if (at < startedAt) continue;
      if (observed === undefined) known.delete(id);
      else known.set(id, observed);
    }
    return [...known.values()];
  }

  #wait(done: Promise<void>, call: Call): Promise<void> {
    return waitAway(call, () => unlessAborted(done, call.signal));
  }

  /** Ends a list under way. */
  close(): void {
    this.#closing.abort(new Error('the operator stops'));
  }

  #startLook(ownBackTo: number, { priority, namespace }: Call): Look<Observed> {
    const call = { priority, namespace, signal: this.#closing.signal };
    const backTo = Math.min(ownBackTo, this.#nextBackTo);
    this.#nextBackTo = Number.POSITIVE_INFINITY;
    const odd: OddItem[] = [];
    const startedAt = this.#now();
    const items = this.#list(call, (item) => odd.push(item), isSince(backTo, this.#identityOf));
    const look = { startedAt, backTo, items, odd };
    this.#look = look;
    const end = () => {
      this.#looking = undefined;
    };
    // Nobody may be waiting any more when it fails, and what failed is not to be shared.
    this.#looking = items.then(end, () => {
      end();
      this.#look = undefined;
    });
    return look;
  }

  /** It outlives whoever asked for it first, and holds nothing of his. */
  #start({ priority, namespace }: Call) {
    const startedAt = this.#now();
    const done = this.#read(startedAt, { priority, namespace, signal: this.#closing.signal }).finally(() => {
      this.#running = undefined;
    });
    // Nobody may be waiting any more when it fails.
    done.catch(() => {});
    return { startedAt, done };
  }

  async #read(startedAt: number, call: Call): Promise<void> {
    const items = new Map<string, Observed>();
    const odd: OddItem[] = [];
    const found = await this.#list(call, (item) => odd.push(item));
    for (const observed of found) items.set(this.#identityOf(observed).id, observed);
    const before = this.#there();
    this.#last = { startedAt, items, odd };
    for (const [id, seen] of this.#seen) if (seen.at < startedAt) this.#seen.delete(id);
    this.#noteLost(before, startedAt);
  }

  /** By id, and when that was known. */
  #there(): ReadonlyMap<string, number> {
    const { startedAt = 0, items = new Map<string, Observed>(), odd = [] } = this.#last ?? {};
    const all = new Map([...items.keys(), ...odd.flatMap(({ id }) => id ?? [])].map((id) => [id, startedAt]));
    for (const [id, { at, observed }] of this.#seen) {
      if (observed === undefined) all.delete(id);
      else all.set(id, at);
    }
    return all;
  }

  #noteLost(before: ReadonlyMap<string, number>, missedAt: number): void {
    const there = this.#there();
    for (const id of there.keys()) this.#lost.delete(id);
    for (const [id, thereAt] of before) if (!there.has(id)) this.#lost.set(id, { thereAt, missedAt });
    for (const id of [...this.#lost.keys()].slice(0, Math.max(0, this.#lost.size - mostLost))) this.#lost.delete(id);
  }
}

/** What has no date that can be read may be as young as any. */
function isSince<Observed>(backTo: number, identityOf: (observed: Observed) => Identity) {
  return (observed: Observed) => !(Date.parse(identityOf(observed).createdAt) < backTo);
}
