import { type ApiObject, withMeta } from './object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write. `object` carries the write's resourceVersion, also when it was deleted. */
export interface Change {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storage: string;
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
}

export type Listener = (change: Change) => void;

/** `namespace/name`; cluster-scoped objects have an empty namespace. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/**
 * Every object of every type, in memory, with one revision that grows by one with each write, and a bounded
 * history of writes for watches and consistent lists. Objects are never changed in place.
 */
export class Store {
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #listeners = new Set<Listener>();
  readonly #historyLimit: number;
  #history: Change[] = [];
  #revision = 1;
  #compacted = 1;

  /** Keeps at least `historyLimit` changes. */
  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision are forgotten: a watch cannot start before it. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  get(storage: string, key: string): ApiObject | undefined {
    return this.#objects.get(storage)?.get(key);
  }

  /** Objects of one namespace, or of all, in the order of their keys. */
  list(storage: string, namespace?: string): readonly ApiObject[] {
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    const found = [...(this.#objects.get(storage) ?? [])].filter(([key]) => key.startsWith(prefix));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** The objects as they were at `revision`, which must not be older than `compactedRevision`. */
  listAt(revision: number, storage: string, namespace?: string): readonly ApiObject[] {
    const objects = new Map(this.list(storage, namespace).map((object) => [identify(object), object]));
    for (const change of this.since(revision).toReversed()) {
      if (change.storage !== storage) continue;
      if (namespace !== undefined && change.object.metadata.namespace !== namespace) continue;
      if (change.previous === undefined) objects.delete(identify(change.object));
      else objects.set(identify(change.object), change.previous);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Stores a new or changed object and returns it with its resourceVersion. */
  put(storage: string, object: ApiObject): ApiObject {
    const key = identify(object);
    const objects = this.#objects.get(storage) ?? new Map<string, ApiObject>();
    this.#objects.set(storage, objects);
    const previous = objects.get(key);
    const stored = this.#stamped(object);
    objects.set(key, stored);
    this.#publish({ type: previous === undefined ? 'ADDED' : 'MODIFIED', storage, object: stored, previous });
    return stored;
  }

  /** Forgets an object; the returned last state carries the deletion's resourceVersion. */
  remove(storage: string, object: ApiObject): ApiObject {
    const key = identify(object);
    const previous = this.get(storage, key);
    this.#objects.get(storage)?.delete(key);
    const last = this.#stamped(object);
    this.#publish({ type: 'DELETED', storage, object: last, previous });
    return last;
  }

  /** Changes after `revision`, oldest first. */
  since(revision: number): readonly Change[] {
    const first = this.#history.findIndex((change) => change.revision > revision);
    return first === -1 ? [] : this.#history.slice(first);
  }

  /** Calls `listener` with every later change, in order, at once. Returns the function that ends it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamped(object: ApiObject): ApiObject {
    this.#revision += 1;
    return withMeta(object, { resourceVersion: String(this.#revision) });
  }

  #publish(change: Omit<Change, 'revision'>): void {
    const published = { ...change, revision: this.#revision };
    this.#history.push(published);
    if (this.#history.length > 2 * this.#historyLimit) this.#compact();
    for (const listener of this.#listeners) listener(published);
  }

  #compact(): void {
    this.#history = this.#history.slice(-this.#historyLimit);
    this.#compacted = (this.#history[0]?.revision ?? this.#revision) - 1;
  }
}

function identify({ metadata }: ApiObject): string {
  return keyOf(metadata.namespace, metadata.name ?? '');
}
