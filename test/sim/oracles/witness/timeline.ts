/** What something was, and from when on; the oldest is forgotten when there are many. */
export class Timeline<T> {
  readonly #entries: { readonly at: number; readonly value: T }[] = [];
  readonly #limit: number;

  constructor(limit = 200) {
    this.#limit = limit;
  }

  get last(): T | undefined {
    return this.#entries.at(-1)?.value;
  }

  get lastAt(): number | undefined {
    return this.#entries.at(-1)?.at;
  }

  get all(): readonly T[] {
    return this.#entries.map(({ value }) => value);
  }

  add(at: number, value: T): void {
    this.#entries.push({ at, value });
    if (this.#entries.length > this.#limit) this.#entries.splice(0, this.#limit >> 2);
  }

  at(now: number): T | undefined {
    return this.#entries.findLast((entry) => entry.at <= now)?.value;
  }

  /** All that it was at some moment of that time, both ends included. */
  during(from: number, to: number): readonly T[] {
    const first = this.#entries.findLastIndex((entry) => entry.at <= from);
    return this.#entries
      .slice(Math.max(0, first))
      .filter((entry) => entry.at <= to)
      .map(({ value }) => value);
  }
}
