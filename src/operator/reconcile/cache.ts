import { type Call, waitAway } from '../../common/priority.ts';

interface Sweep<Observed> {
  readonly startedAt: number;
  readonly items: ReadonlyMap<string, Observed>;
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
  readonly #list: (call: Call) => AsyncIterable<Observed>;
  readonly #idOf: (observed: Observed) => string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Seen<Observed>>();
  readonly #closing = new AbortController();
  #last: Sweep<Observed> | undefined;
  #running: { readonly startedAt: number; readonly done: Promise<void> } | undefined;

  constructor(options: {
    list: (call: Call) => AsyncIterable<Observed>;
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
      await this.#wait(this.#running.done, call).catch(() => {});
      call.signal?.throwIfAborted();
    }
    if (this.#running === undefined && this.#last !== undefined && this.#last.startedAt >= since) {
      return this.current();
    }
    this.#running ??= this.#start(call);
    await this.#wait(this.#running.done, call);
    return this.current();
  }

  #wait(done: Promise<void>, call: Call): Promise<void> {
    return waitAway(call, () => unlessAborted(done, call.signal));
  }

  /** Ends a list under way. */
  close(): void {
    this.#closing.abort(new Error('the operator stops'));
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
    for await (const observed of this.#list(call)) items.set(this.#idOf(observed), observed);
    this.#last = { startedAt, items };
    for (const [id, seen] of this.#seen) if (seen.at < startedAt) this.#seen.delete(id);
  }
}

/** Settles as `promise` does, or rejects with the signal's reason when it aborts first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
