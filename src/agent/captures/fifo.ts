/**
 * A queue that costs nothing but its slots: a Map of as many entries as are held here is copied over and over as
 * entries come and go.
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

  clear(): void {
    this.#slots = [];
    this.#first = 0;
  }

  #compact(): void {
    this.#slots.copyWithin(0, this.#first);
    this.#slots.length -= this.#first;
    this.#first = 0;
  }
}
