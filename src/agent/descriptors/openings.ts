import type { Holder } from './holders.ts';

/** Somebody who wants to open a connection to a local server. */
export interface Opening {
  /** Opens it; nothing, where nobody wants it any more. */
  readonly open: () => Holder | undefined;
  /** Nobody wants it any more. */
  readonly isOver: () => boolean;
  /** There was no descriptor for it in time. */
  readonly giveUp: () => void;
}

/** Those who wait, the first first. */
export class Openings {
  readonly #waiting = new Map<Opening, NodeJS.Timeout>();
  readonly #patienceMs: number;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(opening: Opening): void {
    const late = () => {
      this.#waiting.delete(opening);
      opening.giveUp();
    };
    this.#waiting.set(opening, setTimeout(late, this.#patienceMs).unref());
  }

  shift(): Opening | undefined {
    const [next] = this.#waiting.keys();
    if (next !== undefined) this.#remove(next);
    return next;
  }

  /** Leaves out those who have gone. */
  prune(): void {
    for (const opening of this.#waiting.keys()) if (opening.isOver()) this.#remove(opening);
  }

  #remove(opening: Opening): void {
    clearTimeout(this.#waiting.get(opening));
    this.#waiting.delete(opening);
  }
}
