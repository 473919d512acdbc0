/** Something that gathers what it has to send until it is told to send it. */
export interface Outlet {
  flush(): void;
}

/** No more than one batch in this time: each write to a socket costs as much as a hundred events in memory. */
const intervalMs = 8;

/**
 * Lets every watch send what happened in one go: at the end of this turn of the event loop when it was quiet, else a
 * few milliseconds later, so that a storm of writes costs each connection a hundred packets a second and not thousands.
 */
export class Batches {
  readonly #waiting = new Set<Outlet>();
  #joined: { readonly lines: readonly Buffer[]; readonly bytes: Buffer } | undefined;
  #last = 0;
  #pending: (() => void) | undefined;

  add(outlet: Outlet): void {
    this.#waiting.add(outlet);
    this.#pending ??= this.#schedule();
  }

  /** Lines as one buffer; the next outlet that asks for the same lines is given the same one. */
  join(lines: readonly Buffer[]): Buffer {
    const last = this.#joined;
    if (last !== undefined && areSame(lines, last.lines)) return last.bytes;
    const bytes = Buffer.concat(lines);
    this.#joined = { lines, bytes };
    return bytes;
  }

  /** Forgets what waits. */
  close(): void {
    this.#pending?.();
    this.#waiting.clear();
  }

  #schedule(): () => void {
    const wait = this.#last + intervalMs - performance.now();
    if (wait < 1) {
      const immediate = setImmediate(() => this.#flush());
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(() => this.#flush(), wait);
    return () => clearTimeout(timer);
  }

  #flush(): void {
    this.#pending = undefined;
    this.#last = performance.now();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const outlet of waiting) outlet.flush();
    this.#joined = undefined;
  }
}

function areSame(lines: readonly Buffer[], others: readonly Buffer[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}
