/** How many of something happened within a time. */
export class RollingCount {
  readonly #spanMs: number;
  #times: number[] = [];
  #first = 0;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  /** Times never go back. */
  add(now: number): void {
    this.#times.push(now);
  }

  /** In the time that ends now. */
  count(now: number): number {
    while (this.#first < this.#times.length && (this.#times[this.#first] as number) <= now - this.#spanMs)
      this.#first += 1;
    if (this.#first > 1_000 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }

  clear(): void {
    this.#times = [];
    this.#first = 0;
  }
}

/** One of something for each key, made when it is asked for. */
export class ByKey<T> {
  readonly #made = new Map<string, T>();
  readonly #make: (key: string) => T;

  constructor(make: (key: string) => T) {
    this.#make = make;
  }

  of(...key: readonly unknown[]): T {
    const text = key.join(' ');
    const known = this.#made.get(text);
    if (known !== undefined) return known;
    const fresh = this.#make(text);
    this.#made.set(text, fresh);
    return fresh;
  }

  get all(): Iterable<readonly [string, T]> {
    return this.#made;
  }
}
