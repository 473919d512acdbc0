import { type ApiObject, withMeta } from './object.ts';
import { StoredObject } from './stored-object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write. `current` carries the write's resourceVersion, also when it was deleted. */
export interface Change {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storage: string;
  readonly current: StoredObject;
  readonly previous: StoredObject | undefined;
}

export type Listener = (change: Change) => void;

/** Where changes survive the process. */
export interface Persistence {
  /** What earlier processes left. */
  read(): { readonly revision: number; readonly objects: Iterable<readonly [storage: string, StoredObject]> };
  /** Returns when the change is kept, whatever becomes of the process. */
  write(change: Change): void;
}

export interface StoreOptions {
  /** How many changes are kept at least. */
  readonly historyLimit: number;
  readonly persistence?: Persistence | undefined;
}

/** How many of the objects written last are kept parsed: they are what everyone looks at next. */
const parsedLimit = 4;

/**
 * Every object of every type, in memory, with one revision that grows by one with each write, and a bounded
 * history of writes for watches and consistent lists. Objects are never changed in place.
 */
export class Store {
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #listeners = new Set<Listener>();
  readonly #historyLimit: number;
  readonly #persistence: Persistence | undefined;
  readonly #parsed: StoredObject[] = [];
  #history: Change[] = [];
  #revision = 1;
  #compacted = 1;

  constructor({ historyLimit, persistence }: StoreOptions) {
    this.#historyLimit = historyLimit;
    this.#persistence = persistence;
    if (persistence !== undefined) this.#load(persistence);
  }

  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision are forgotten: a watch cannot start before it. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  get(storage: string, key: string): ApiObject | undefined {
    return this.#objects.get(storage)?.get(key)?.object;
  }

  /** Objects of one namespace, or of all, in the order of their keys. */
  list(storage: string, namespace?: string): readonly StoredObject[] {
    const objects = [...(this.#objects.get(storage)?.values() ?? [])];
    return inOrder(objects.filter((object) => object.isIn(namespace)));
  }

  /** The objects as they were at `revision`, which must not be older than `compactedRevision`. */
  listAt(revision: number, storage: string, namespace?: string): readonly StoredObject[] {
    const objects = new Map(this.list(storage, namespace).map((object) => [object.key, object]));
    for (const { storage: changed, current, previous } of this.since(revision).toReversed()) {
      if (changed !== storage || !current.isIn(namespace)) continue;
      if (previous === undefined) objects.delete(current.key);
      else objects.set(current.key, previous);
    }
    return inOrder([...objects.values()]);
  }

  /** Stores a new or changed object and returns it with its resourceVersion. */
  put(storage: string, object: ApiObject): ApiObject {
    const objects = this.#of(storage);
    const current = this.#stamped(object);
    const previous = objects.get(current.key);
    const change = this.#recorded({ type: previous === undefined ? 'ADDED' : 'MODIFIED', storage, current, previous });
    objects.set(current.key, current);
    this.#publish(change);
    return current.object;
  }

  /** Forgets an object. Watches are told its last stored state, with the deletion's resourceVersion. */
  remove(storage: string, key: string): void {
    const objects = this.#of(storage);
    const previous = objects.get(key);
    if (previous === undefined) return;
    const current = this.#stamped(previous.object);
    const change = this.#recorded({ type: 'DELETED', storage, current, previous });
    objects.delete(key);
    this.#publish(change);
  }

  /** Shows objects in another form from now on, such as with the defaults of a new schema: no write, so no new version. */
  reform(storage: string, form: (object: ApiObject) => ApiObject): void {
    const objects = this.#of(storage);
    for (const [key, previous] of objects) {
      const current = StoredObject.of(form(previous.object)).folded();
      const revision = Number(previous.object.metadata.resourceVersion);
      this.#persistence?.write({ revision, type: 'MODIFIED', storage, current, previous });
      objects.set(key, current);
    }
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

  /** Forgets the changes so far: a watch can start from now on. */
  forget(): void {
    this.#history = [];
    this.#compacted = this.#revision;
  }

  #of(storage: string): Map<string, StoredObject> {
    const known = this.#objects.get(storage);
    if (known !== undefined) return known;
    const made = new Map<string, StoredObject>();
    this.#objects.set(storage, made);
    return made;
  }

  #stamped(object: ApiObject): StoredObject {
    this.#revision += 1;
    const stored = StoredObject.of(withMeta(object, { resourceVersion: String(this.#revision) }));
    this.#parsed.push(stored);
    if (this.#parsed.length > parsedLimit) this.#parsed.shift()?.folded();
    return stored;
  }

  #recorded(change: Omit<Change, 'revision'>): Change {
    const recorded = { ...change, revision: this.#revision };
    this.#persistence?.write(recorded);
    return recorded;
  }

  #publish(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > 1.25 * this.#historyLimit) this.#compact();
    for (const listener of this.#listeners) listener(change);
  }

  #load(persistence: Persistence): void {
    const { revision, objects } = persistence.read();
    this.#revision = revision;
    this.#compacted = revision;
    for (const [storage, object] of objects) this.#of(storage).set(object.key, object);
  }

  #compact(): void {
    this.#history = this.#history.slice(-this.#historyLimit);
    this.#compacted = (this.#history[0]?.revision ?? this.#revision) - 1;
  }
}

function inOrder(objects: StoredObject[]): readonly StoredObject[] {
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}
