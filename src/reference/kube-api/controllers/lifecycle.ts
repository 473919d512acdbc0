import type { Clock, WallClock } from '../../../common/clock.ts';
import type { ServerRuntime } from '../../../common/runtime.ts';
import { crdCleanup, crdType } from '../builtin/crd-type.ts';
import { equal, type JsonMap, mapOf, stringsOf } from '../json.ts';
import { type ApiObject, finalizersOf, timestamp } from '../object.ts';
import type { Objects } from '../objects/objects.ts';
import { alarm } from '../reads/alarm.ts';
import type { Change } from '../store/history.ts';
import type { Store } from '../store/store.ts';
import { keyOf, type StoredObject } from '../store/stored-object.ts';
import { establishedStatus, terminatingStatus } from '../types/crd-status.ts';
import { crdTypes, reformed } from '../types/crd-types.ts';
import type { Registry } from '../types/registry.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { Chores } from './chores.ts';

const namespaces = '/namespaces';
/** A namespace is left alone so long, as on a cluster (5 s): `kubectl delete -k` of one and its content finds it all. */
const graceMs = 2_000;

/**
 * What controllers do in a real cluster: empties namespaces and definitions that are being deleted and establishes
 * definitions. Works after the write that caused it, never within.
 */
export class Lifecycle {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #objects: Objects;
  readonly #clock: WallClock;
  readonly #monotonic: Clock;
  /** Generation of each definition that is served. */
  readonly #served = new Map<string, number | undefined>();
  readonly #chores: Chores;
  /** Namespaces whose grace is not over, and what calls their end off. */
  readonly #spared = new Map<string, () => void>();

  constructor(store: Store, registry: Registry, objects: Objects, { clock, monotonic }: ServerRuntime) {
    this.#store = store;
    this.#registry = registry;
    this.#objects = objects;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#chores = new Chores(monotonic);
  }

  /** Takes up what an earlier process left, and follows every write from now on; returns the function that ends it. */
  start(): () => void {
    this.#resume();
    const stop = this.#store.subscribe((change) => {
      this.#chores.add(() => this.#react(change));
    });
    return () => {
      stop();
      this.#drop();
    };
  }

  /** Does at once what the writes so far call for, and what that calls for. */
  settle(): void {
    this.#chores.do();
  }

  /** Serves the definitions that are stored now, and no others: the store went back to a snapshot. */
  restart(): void {
    this.#drop();
    for (const name of [...this.#served.keys()]) this.#forget(name);
    this.#resume();
  }

  #resume(): void {
    for (const { object } of this.#store.list(crdType.storage)) this.#serve(object);
    for (const { object } of this.#store.list(crdType.storage))
      this.#reactToCrd('MODIFIED', object.metadata.name ?? '');
    for (const { object } of this.#store.list(namespaces)) this.#emptyNamespace(object.metadata.name ?? '');
  }

  #react(change: Change): void {
    const { type, storage, current } = change;
    const { name = '', namespace } = current.object.metadata;
    if (storage === crdType.storage) this.#reactToCrd(type, name);
    else if (storage === namespaces) this.#reactToNamespace(change);
    else if (type === 'DELETED') {
      if (namespace !== undefined) this.#emptyNamespace(namespace);
      this.#resumeCrd(storage);
    }
  }

  #reactToNamespace({ type, current, previous }: Change): void {
    const { name = '' } = current.object.metadata;
    if (type === 'DELETED' || !isDeleting(current)) return;
    if (previous === undefined || isDeleting(previous)) {
      this.#emptyNamespace(name);
      return;
    }
    const end = () => {
      this.#spared.delete(name);
      this.#chores.add(() => this.#emptyNamespace(name));
    };
    this.#spared.set(name, alarm(this.#monotonic, graceMs, end));
  }

  #drop(): void {
    this.#chores.drop();
    for (const callOff of this.#spared.values()) callOff();
    this.#spared.clear();
  }

  #emptyNamespace(name: string): void {
    if (this.#spared.has(name)) return;
    const namespace = this.#store.get(namespaces, keyOf(undefined, name));
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const types = this.#storedTypes().filter((type) => type.namespaced);
    const left = types.flatMap((type) => this.#deleteAll(type, name));
    if (left.length > 0) return;
    const finalizers = stringsOf(mapOf(namespace.spec).finalizers).filter((finalizer) => finalizer !== 'kubernetes');
    if (finalizers.length > 0 || finalizersOf(namespace).length > 0) return;
    this.#store.remove(namespaces, keyOf(undefined, name));
  }

  /** One type for each storage: versions of one CRD share theirs. */
  #storedTypes(): readonly ResourceType[] {
    return [...new Map(this.#registry.types.map((type) => [type.storage, type])).values()];
  }

  /** Deletes what can be deleted; returns what finalizers still hold. */
  #deleteAll(type: ResourceType, namespace: string | undefined): readonly StoredObject[] {
    for (const { object } of this.#store.list(type.storage, namespace)) {
      const { metadata } = object;
      this.#objects.delete(type, { namespace: metadata.namespace, name: metadata.name ?? '' }, {}, false);
    }
    return this.#store.list(type.storage, namespace);
  }

  #reactToCrd(type: Change['type'], name: string): void {
    const crd = this.#store.get(crdType.storage, keyOf(undefined, name));
    if (type === 'DELETED' || crd === undefined) this.#forget(name);
    else if (crd.metadata.deletionTimestamp !== undefined) this.#emptyCrd(crd);
    else this.#establish(crd);
  }

  #serve(crd: ApiObject): void {
    const { name = '', generation } = crd.metadata;
    this.#registry.define(name, crdTypes(crd));
    this.#served.set(name, generation);
  }

  #forget(name: string): void {
    this.#registry.define(name, []);
    this.#served.delete(name);
  }

  #establish(crd: ApiObject): void {
    const { name = '', generation } = crd.metadata;
    const [before, isNew] = [this.#served.get(name), !this.#served.has(name)];
    if (!isNew && before !== generation) this.#reform(crdTypes(crd));
    this.#serve(crd);
    this.#setStatus(crd, establishedStatus(crd, this.#now()));
  }

  /** What is stored is shown by the new schema. */
  #reform(types: readonly ResourceType[]): void {
    for (const storage of new Set(types.map((type) => type.storage)))
      this.#store.reform(storage, (object) => reformed(types, object));
  }

  #emptyCrd(crd: ApiObject): void {
    this.#serve(crd);
    this.#setStatus(crd, terminatingStatus(crd, this.#now()));
    const left = crdTypes(crd).flatMap((type) => this.#deleteAll(type, undefined));
    if (left.length > 0) return;
    const finalizers = finalizersOf(crd).filter((finalizer) => finalizer !== crdCleanup);
    if (finalizers.length === 0) this.#store.remove(crdType.storage, keyOf(undefined, crd.metadata.name ?? ''));
  }

  #setStatus(crd: ApiObject, status: JsonMap): void {
    if (!equal(status, crd.status)) this.#store.put(crdType.storage, { ...crd, status });
  }

  #now(): string {
    return timestamp(this.#clock.now());
  }

  /** The last object of a definition that is being deleted may have gone. */
  #resumeCrd(storage: string): void {
    const [group, plural] = storage.split('/');
    const crd = this.#store.get(crdType.storage, keyOf(undefined, `${plural}.${group}`));
    if (crd?.metadata.deletionTimestamp !== undefined) this.#emptyCrd(crd);
  }
}

const isDeleting = ({ object }: StoredObject) => object.metadata.deletionTimestamp !== undefined;
