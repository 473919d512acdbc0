/** Mostly one: a list or a set of one would take more than what is in it. */
type OneOrMore<Many> = string | Many;

/** Finds the keys of objects by a value computed from them; an object may have several values or none. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, OneOrMore<Set<string>>>();
  readonly #values = new Map<string, OneOrMore<readonly string[]>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): readonly string[] {
    return listOf(this.#keys.get(value));
  }

  set(key: string, object: T): void {
    const values = this.#valuesOf(object);
    // Mostly nothing of it has changed: one value may be of thousands of objects.
    if (isSame(this.#values.get(key), values)) return;
    this.delete(key);
    const [first] = values;
    if (first === undefined) return;
    this.#values.set(key, values.length === 1 ? first : values);
    for (const value of values) this.#add(value, key);
  }

  delete(key: string): void {
    for (const value of listOf(this.#values.get(key))) this.#remove(value, key);
    this.#values.delete(key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.#keys.set(value, new Set([keys, key]));
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === key) this.#keys.delete(value);
    else if (keys instanceof Set && keys.delete(key) && keys.size === 0) this.#keys.delete(value);
  }
}

function isSame(known: OneOrMore<readonly string[]> | undefined, values: readonly string[]): boolean {
  const had = typeof known === 'string' ? [known] : (known ?? []);
  return had.length === values.length && values.every((value, index) => value === had[index]);
}

function listOf(some: OneOrMore<Iterable<string>> | undefined): readonly string[] {
  if (some === undefined) return [];
  return typeof some === 'string' ? [some] : [...some];
}
