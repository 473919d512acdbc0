import { keyIn } from './use-name.ts';
import type { UseState } from './use-state.ts';

/** A tenant may have any number of accounts with one key. */
const mostOfOneKey = 100;
/** As text: of an entry beside its name, and of each process in it. */
const perEntry = 40;
const perPast = 32;
const perStart = 24;
const besides = 200;

/** Who else fits on record: the place that keeps it has its bounds, and nobody is to fill it for the others. */
export class Room {
  readonly #ofKey = new Map<string, number>();
  #left: number;

  /** @param most characters */
  constructor({ named, starts }: UseState, most: number) {
    this.#left = most - besides - perStart * starts.length;
    for (const [name, { past }] of named) this.#count(name, past.length);
  }

  has(name: string): boolean {
    return this.#left >= name.length + perEntry && (this.#ofKey.get(keyIn(name)) ?? 0) < mostOfOneKey;
  }

  /** Answers whether there was room for it. */
  take(name: string): boolean {
    if (!this.has(name)) return false;
    this.#count(name, 0);
    return true;
  }

  #count(name: string, pasts: number): void {
    this.#left -= name.length + perEntry + perPast * pasts;
    this.#ofKey.set(keyIn(name), (this.#ofKey.get(keyIn(name)) ?? 0) + 1);
  }
}
