/** Events of keys that we are writing to, kept back until the answer to the write is known. */
export class DeferredEvents {
  readonly #deferred = new Map<string, { writes: number; readonly events: (() => void)[] }>();

  /** Keeps back what comes for the key; the result lets it go, once the last of several such holds has ended; again, it does nothing. */
  hold(key: string): () => void {
    const entry = this.#deferred.get(key) ?? { writes: 0, events: [] };
    this.#deferred.set(key, entry);
    entry.writes++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      entry.writes--;
      if (entry.writes > 0) return;
      if (this.#deferred.get(key) === entry) this.#deferred.delete(key);
      for (const event of entry.events.splice(0)) event();
    };
  }

  /** Now, or when the key is let go. */
  deliver(key: string, event: () => void): void {
    const entry = this.#deferred.get(key);
    if (entry === undefined) event();
    else entry.events.push(event);
  }

  /** Delivers everything kept back so far. */
  flush(): void {
    for (const entry of this.#deferred.values()) for (const event of entry.events.splice(0)) event();
  }
}
