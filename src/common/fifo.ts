/**
 * A queue that costs nothing but its slots: `Array.shift` moves all others, on long arrays, and a Map of as many entries
 * is copied over and over as they come and go. What has left is let go of at once.
 */
export class Fifo<T> {
  #slots: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#slots.length - this.#first;
  }

  get oldest(): T | undefined {
    return this.#slots[this.#first];
  }

  push(value: T): void {
    this.#slots.push(value);
  }

  shift(): T | undefined {
    const value = this.#slots[this.#first];
    if (value === undefined) return undefined;
    this.#slots[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > 1_024 && this.#first * 2 > this.#slots.length) this.#compact();
    return value;
  }

  /** Oldest first. */
  values(): readonly T[] {
    return this.#slots.slice(this.#first) as readonly T[];
  }

  #compact(): void {
    this.#slots.copyWithin(0, this.#first);
    this.#slots.length -= this.#first;
    this.#first = 0;
  }
}
