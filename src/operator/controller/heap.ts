/** A binary heap of items: the first by `isBefore` is on top. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
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
      if (!this.#isBefore(item, parent)) break;
      this.#items[at] = parent;
      at = above;
    }
    this.#items[at] = item;
  }

  #sink(item: T): void {
    let at = 0;
    for (let below = this.#firstChild(at); below !== undefined; below = this.#firstChild(at)) {
      const child = this.#items[below] as T;
      if (!this.#isBefore(child, item)) break;
      this.#items[at] = child;
      at = below;
    }
    this.#items[at] = item;
  }

  #firstChild(at: number): number | undefined {
    const left = at * 2 + 1;
    const right = left + 1;
    if (left >= this.#items.length) return undefined;
    if (right >= this.#items.length) return left;
    return this.#isBefore(this.#items[right] as T, this.#items[left] as T) ? right : left;
  }
}
