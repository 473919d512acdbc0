import { hash } from 'node:crypto';

/** A source of chance that depends on nothing but its name: adding another one never changes what this one gives. */
export class Chance {
  readonly #name: string;
  #state: [number, number, number, number];

  /** @param name such as the seed and what it is for */
  constructor(...name: readonly (string | number)[]) {
    this.#name = name.join('/');
    const digest = hash('sha256', this.#name, 'buffer');
    this.#state = [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as [number, number, number, number];
  }

  /** Another source, the same each time it is asked for. */
  of(...name: readonly (string | number)[]): Chance {
    return new Chance(this.#name, ...name);
  }

  /** In [0, 1): sfc32. */
  next(): number {
    let [a, b, c, d] = this.#state;
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    this.#state = [a, b, c, d];
    return (sum >>> 0) / 2 ** 32;
  }

  /** In [from, to], whole. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** In [from, to). */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** Some of them, in their order. */
  some<T>(items: readonly T[], probability = 0.5): readonly T[] {
    return items.filter(() => this.chance(probability));
  }

  shuffled<T>(items: readonly T[]): readonly T[] {
    const left = [...items];
    for (let at = left.length - 1; at > 0; at -= 1) {
      const other = this.int(0, at);
      [left[at], left[other]] = [left[other] as T, left[at] as T];
    }
    return left;
  }

  /** In the form of a version 4 UUID. */
  uuid(): string {
    const [a, b, c, d] = [this.#word(), this.#word(), this.#word(), this.#word()];
    const variant = '89ab'[Number.parseInt(c.slice(0, 1), 16) % 4];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }

  /** Eight hexadecimal digits. */
  #word(): string {
    return Math.floor(this.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  }
}
