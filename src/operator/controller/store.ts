import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, keyOf } from '../kube/types.ts';
import { OwnWrites } from './own-writes.ts';
import { StoreIndex } from './store-index.ts';
import { Tombstones } from './tombstones.ts';
import { sameUid, versionOf } from './version.ts';

/** What changed in a store, as its readers are to be notified. */
export type StoreChange<T extends KubeObject> =
  | { readonly type: 'add'; readonly object: T; readonly old?: never }
  | { readonly type: 'update'; readonly object: T; readonly old: T }
  | { readonly type: 'delete'; readonly object: T; readonly old?: never };

type Changes<T extends KubeObject> = readonly StoreChange<T>[];

/**
 * Objects by key, never going back in time: an older version of an object does not replace a newer one. The answers to
 * our own writes (`assume`) are readable at once and are no change; the server's echo of them is none either, but a
 * change by someone else that such a write has overtaken is notified, and so is the end of an object, at once.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, StoreIndex<T>>();
  readonly #own = new OwnWrites<T>();
  readonly #tombstones = new Tombstones();
  #newest = 0n;

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** A list that is up to date is about to be asked for: the newest resourceVersion of any object seen by now, 0 without one. */
  ask(): bigint {
    this.#tombstones.settle();
    return this.#newest;
  }

  addIndex(name: string, valuesOf: (object: T) => readonly string[]): void {
    if (this.#indexes.has(name)) throw new Error(`index "${name}" exists already`);
    const index = new StoreIndex(valuesOf);
    for (const [key, object] of this.#objects) index.set(key, object);
    this.#indexes.set(name, index);
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`there is no index "${name}"`);
    return index.keys(value).flatMap((key) => this.#objects.get(key) ?? []);
  }

  /**
   * Takes the answer to our own write, unless it is not newer than what is stored or the object is known to be gone.
   * The write that removed the last finalizer of a deleted object is answered with the version before it.
   */
  assume(object: T): StoreChange<T> | undefined {
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    if (this.#tombstones.has(object)) return undefined;
    if (stored !== undefined && !sameUid(stored, object)) return undefined;
    if (isGone(object)) return stored && this.#delete(key, object, versionOf(object) + 1n, true);
    if (stored !== undefined && versionOf(object) <= versionOf(stored)) return undefined;
    this.#own.add(key, object, stored);
    this.#put(key, object);
    return changeFrom(stored, object);
  }

  /**
   * What is stored, where an item of a list is just that. Whoever collects a list asks for it item by item: it takes no more memory
   * then, and at its end nothing is left to compare.
   */
  asStored(object: T): T {
    const stored = this.#objects.get(keyOf(object));
    if (stored === undefined || stored === object || versionOf(object) !== versionOf(stored)) return object;
    return isAlike(object, stored) ? stored : object;
  }

  /** An ADDED or MODIFIED event. */
  upsert(object: T): Changes<T> {
    return this.#upsert(object, false);
  }

  /** A DELETED event: the object is gone, or has left the selection. */
  remove(object: T): Changes<T> {
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    if (stored !== undefined && sameUid(stored, object)) return [this.#delete(key, object, versionOf(stored))];
    this.#tombstones.add(object, versionOf(object));
    return [];
  }

  /**
   * A complete list as of `version`: what it lacks has been deleted, unless our own write made it since. `reset` says
   * that the server's history has gone back (a restored backup): then the list wins over everything known.
   */
  replace(items: readonly T[], version: bigint, reset = false): Changes<T> {
    const objects = items.map((item) => this.asStored(item));
    const listed = new Set(objects.map(keyOf));
    const vanished = [...this.#objects].filter(
      ([key, stored]) => !listed.has(key) && (reset || versionOf(stored) <= version),
    );
    const deletes = vanished.map(([key, stored]) => this.#delete(key, stored, version));
    if (reset) this.#forgetHistory();
    return [...deletes, ...objects.flatMap((object) => (reset ? this.#overwrite(object) : this.#upsert(object, true)))];
  }

  /** A complete list as of `version` shows something as it was before what is known of it by then: history was another. */
  isContradicted(objects: readonly T[], version: bigint): boolean {
    return objects.some((object) => {
      const stored = this.#objects.get(keyOf(object));
      const known = stored === undefined ? undefined : versionOf(stored);
      if (known !== undefined && known <= version && versionOf(object) < known) return true;
      return this.#tombstones.contradicts(object, version);
    });
  }

  #upsert(object: T, listed: boolean): Changes<T> {
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    if (this.#tombstones.outdates(object)) return [];
    if (stored === undefined) return [this.#insert(key, object)];
    if (!sameUid(stored, object)) return this.#supersede(key, object, stored);
    return this.#refresh(key, object, stored, listed);
  }

  #insert(key: string, object: T): StoreChange<T> {
    this.#put(key, object);
    return { type: 'add', object };
  }

  /** Another object under the same name; which of the two is the later one, their versions say. */
  #supersede(key: string, object: T, stored: T): Changes<T> {
    if (versionOf(object) < versionOf(stored)) return [];
    return [this.#delete(key, stored, versionOf(stored)), this.#insert(key, object)];
  }

  #refresh(key: string, object: T, stored: T, listed: boolean): Changes<T> {
    const version = versionOf(object);
    // Versions come again after a restore, and a new definition has other defaults.
    if (listed && version === versionOf(stored) && object !== stored) return this.#correct(key, object, stored);
    const notified = this.#own.notified(key, stored);
    if (notified !== undefined && version <= versionOf(notified)) return [];
    const current = version > versionOf(stored) ? object : stored;
    if (current !== stored) this.#put(key, current);
    // A list cannot show whether someone else wrote before our own write, so there it counts as a change.
    const echo = !listed && this.#own.isEcho(key, version) && !hidesChange(notified, object);
    this.#own.notify(key, echo ? object : current, current);
    return echo ? [] : [changeFrom(notified, current)];
  }

  #overwrite(object: T): Changes<T> {
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    if (stored !== undefined && !sameUid(stored, object)) {
      return [this.#delete(key, stored, versionOf(stored)), this.#insert(key, object)];
    }
    return this.#correct(key, object, stored);
  }

  #correct(key: string, object: T, stored: T | undefined): Changes<T> {
    this.#own.delete(key);
    this.#put(key, object);
    return object === stored ? [] : [changeFrom(stored, object)];
  }

  #delete(key: string, last: T, version: bigint, isEarliest = false): StoreChange<T> {
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.delete(key);
    this.#own.delete(key);
    const lastVersion = versionOf(last);
    this.#tombstones.add(last, version > lastVersion ? version : lastVersion, isEarliest);
    return { type: 'delete', object: last };
  }

  #put(key: string, object: T): void {
    const version = versionOf(object);
    if (version > this.#newest) this.#newest = version;
    this.#tombstones.delete(object);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.set(key, object);
  }

  #forgetHistory(): void {
    this.#newest = 0n;
    this.#own.clear();
    this.#tombstones.clear();
  }
}

function changeFrom<T extends KubeObject>(old: T | undefined, object: T): StoreChange<T> {
  return old === undefined ? { type: 'add', object } : { type: 'update', object, old };
}

/** But for what items of a list may lack. */
function isAlike(a: KubeObject, b: KubeObject): boolean {
  const typeless = { apiVersion: undefined, kind: undefined };
  return isDeepStrictEqual({ ...a, ...typeless }, { ...b, ...typeless });
}

function isGone({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
}

/**
 * A patch that had nothing left to change answers with someone else's version, which then looks like our own echo. We
 * write neither spec nor deletion, so a difference there is theirs.
 */
function hidesChange(notified: KubeObject | undefined, object: KubeObject): boolean {
  return (
    notified !== undefined &&
    (notified.metadata.generation !== object.metadata.generation ||
      notified.metadata.deletionTimestamp !== object.metadata.deletionTimestamp)
  );
}
