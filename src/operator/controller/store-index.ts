const none: ReadonlySet<string> = new Set();

/** Finds the keys of objects by a value computed from them; an object may have several values or none. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, readonly string[]>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): readonly string[] {
    return [...(this.#keys.get(value) ?? none)];
  }

  set(key: string, object: T): void {
    const values = this.#valuesOf(object);
    this.delete(key);
    if (values.length === 0) return;
    this.#values.set(key, values);
    for (const value of values) this.#keysOf(value).add(key);
  }

  delete(key: string): void {
    for (const value of this.#values.get(key) ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#values.delete(key);
  }

  #keysOf(value: string): Set<string> {
    const keys = this.#keys.get(value) ?? new Set();
    this.#keys.set(value, keys);
    return keys;
  }
}
