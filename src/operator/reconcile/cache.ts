import type { Call } from '../../common/priority.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';

/** An item of a list that cannot be read as an object of its kind. */
export interface OddItem {
  /** Undefined where that is what is odd. */
  readonly id: string | undefined;
  /** RFC 3339, by the service's clock; undefined where that is what is odd. */
  readonly createdAt: string | undefined;
  /** What is wrong: `description: expected string`. */
  readonly problem: string;
}

/** Everything that can be read of an account's objects of one kind; of the rest `onOdd` is told. */
export type ListExternal<Observed> = (call: Call, onOdd: (item: OddItem) => void) => AsyncIterable<Observed>;

interface Sweep<Observed> {
  readonly startedAt: number;
  readonly items: ReadonlyMap<string, Observed>;
  readonly odd: readonly OddItem[];
}

interface Seen<Observed> {
  readonly at: number;
  /** undefined: we deleted it. */
  readonly observed: Observed | undefined;
}

/**
 * What is known of one account's objects of one kind: from our own calls, and from sweeps (one paged list that every
 * resource of the kind shares). Knows presence only: that an object is missing from a list is not taken for its
 * absence, because a list may lag behind; absence is confirmed by a get.
 */
export class ExternalCache<Observed> {
  readonly #list: ListExternal<Observed>;
  readonly #idOf: (observed: Observed) => string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Seen<Observed>>();
  readonly #closing = new AbortController();
  #last: Sweep<Observed> | undefined;
  #running: { readonly startedAt: number; readonly done: Promise<void> } | undefined;

  constructor(options: {
    list: ListExternal<Observed>;
    idOf: (observed: Observed) => string;
    now: () => number;
  }) {
    this.#list = options.list;
    this.#idOf = options.idOf;
    this.#now = options.now;
  }

  /** The object as of `since` (milliseconds since the epoch) or later; undefined when nothing that fresh is known. */
  known(id: string, since: number): Observed | undefined {
    const own = this.#seen.get(id);
    const swept = this.#last?.items.get(id);
    const sweptAt = swept === undefined ? Number.NEGATIVE_INFINITY : (this.#last?.startedAt ?? 0);
    if (own !== undefined && own.at >= sweptAt) return own.at >= since ? own.observed : undefined;
    return sweptAt >= since ? swept : undefined;
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
    this.#seen.set(this.#idOf(observed), { at, observed });
  }

  forget(id: string): void {
    this.#seen.set(id, { at: this.#now(), observed: undefined });
  }

  /**
   * Everything in the account by a list that began at `since` or later; lists once for all who ask meanwhile. Aborting
   * the call's signal ends the caller's wait, not the list that others may wait for.
   */
  async sweep(since: number, call: Call): Promise<readonly Observed[]> {
    while (this.#running !== undefined && this.#running.startedAt < since) {
      await unlessAborted(this.#running.done, call.signal).catch(() => {});
      call.signal?.throwIfAborted();
    }
    if (this.#running === undefined && this.#last !== undefined && this.#last.startedAt >= since) {
      return this.current();
    }
    this.#running ??= this.#start(call);
    await unlessAborted(this.#running.done, call.signal);
    return this.current();
  }

  /** Ends a list under way. */
  close(): void {
    this.#closing.abort(new Error('the operator stops'));
  }

  #start({ priority }: Call) {
    const startedAt = this.#now();
    const done = this.#read(startedAt, { priority, signal: this.#closing.signal }).finally(() => {
      this.#running = undefined;
    });
    // Nobody may be waiting any more when it fails.
    done.catch(() => {});
    return { startedAt, done };
  }

  async #read(startedAt: number, call: Call): Promise<void> {
    const items = new Map<string, Observed>();
    const odd: OddItem[] = [];
    for await (const observed of this.#list(call, (item) => odd.push(item))) items.set(this.#idOf(observed), observed);
    this.#last = { startedAt, items, odd };
    for (const [id, seen] of this.#seen) if (seen.at < startedAt) this.#seen.delete(id);
  }
}
