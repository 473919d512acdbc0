/** A binary min-heap of items by `rank`. */
export class Heap<T> {
  readonly #rank: (item: T) => number;
  readonly #items: T[] = [];

  constructor(rank: (item: T) => number) {
    this.#rank = rank;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1, item);
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return top;
  }

  #rise(from: number, item: T): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above] as T;
      if (this.#rank(parent) <= this.#rank(item)) break;
      this.#items[at] = parent;
      at = above;
    }
    this.#items[at] = item;
  }

  #sink(item: T): void {
    let at = 0;
    for (let below = this.#lesserChild(at); below !== undefined; below = this.#lesserChild(at)) {
      const child = this.#items[below] as T;
      if (this.#rank(item) <= this.#rank(child)) break;
      this.#items[at] = child;
      at = below;
    }
    this.#items[at] = item;
  }

  #lesserChild(at: number): number | undefined {
    const left = at * 2 + 1;
    const right = left + 1;
    if (left >= this.#items.length) return undefined;
    if (right >= this.#items.length) return left;
    return this.#rank(this.#items[right] as T) < this.#rank(this.#items[left] as T) ? right : left;
  }
}
