/** What holds a descriptor until it closes: a socket, or a server that listens. */
export interface Holder {
  readonly destroyed?: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** Those of one sort that are open. */
export class Holders {
  readonly #open = new Set<Holder>();
  readonly #onClosed: () => void;

  constructor(onClosed: () => void) {
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#open.size;
  }

  add(holder: Holder): void {
    this.#open.add(holder);
    holder.once('close', () => {
      this.#open.delete(holder);
      this.#onClosed();
    });
  }

  /** Leaves out what has closed and not said so yet: its descriptor is free at once. */
  prune(): void {
    for (const holder of this.#open) if (holder.destroyed) this.#open.delete(holder);
  }
}
