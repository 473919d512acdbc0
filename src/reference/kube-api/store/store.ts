import { type ApiObject, withMeta } from '../object.ts';
import { type Change, History } from './history.ts';
import { StoredObject } from './stored-object.ts';

export type Listener = (change: Change) => void;

/** Everything that is stored at one moment. */
export interface Snapshot {
  readonly revision: number;
  readonly objects: readonly (readonly [storage: string, object: StoredObject])[];
}

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
  readonly #listeners = new Map<Listener, () => void>();
  readonly #persistence: Persistence | undefined;
  readonly #parsed: StoredObject[] = [];
  readonly #history: History;
  #revision = 1;

  constructor({ historyLimit, persistence }: StoreOptions) {
    this.#persistence = persistence;
    if (persistence !== undefined) this.#load(persistence);
    this.#history = new History(historyLimit, this.#revision);
  }

  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision are forgotten: a watch cannot start before it. */
  get compactedRevision(): number {
    return this.#history.compactedRevision;
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
    return this.#history.since(revision);
  }

  /**
   * Calls `listener` with every later change, in order, at once. Returns the function that ends it; `end` is called
   * when the store has nothing more to tell to those who saw what it told before.
   */
  subscribe(listener: Listener, end: () => void = () => {}): () => void {
    this.#listeners.set(listener, end);
    return () => this.#listeners.delete(listener);
  }

  endWatches(): void {
    for (const end of [...this.#listeners.values()]) end();
  }

  snapshot(): Snapshot {
    const objects = [...this.#objects].flatMap(([storage, stored]) =>
      [...stored.values()].map((object) => [storage, object] as const),
    );
    return { revision: this.#revision, objects };
  }

  /**
   * Goes back to a snapshot, as a cluster does that is restored from a backup: watches end, and later writes are given
   * revisions again that others had before, unless they are `bump` higher. What a file keeps cannot go back.
   */
  restore({ revision, objects }: Snapshot, bump = 0): void {
    if (this.#persistence !== undefined) throw new Error('objects that are kept in a file cannot be restored');
    this.endWatches();
    this.#objects.clear();
    for (const [storage, object] of objects) this.#of(storage).set(object.key, object);
    this.#revision = revision + bump;
    this.forget();
  }

  /** Forgets the changes so far: a watch can start from now on. */
  forget(): void {
    this.#history.forget(this.#revision);
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
    this.#history.add(change);
    for (const listener of this.#listeners.keys()) listener(change);
  }

  #load(persistence: Persistence): void {
    const { revision, objects } = persistence.read();
    this.#revision = revision;
    for (const [storage, object] of objects) this.#of(storage).set(object.key, object);
  }
}

function inOrder(objects: StoredObject[]): readonly StoredObject[] {
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}
