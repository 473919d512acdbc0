import type { Clock } from '../../clock.ts';
import { crdCleanup, crdType } from './builtin/crd-type.ts';
import { crdTypes } from './crd-types.ts';
import { listOf, mapOf, stringsOf } from './json.ts';
import { type ApiObject, finalizersOf, timestamp, withMeta } from './object.ts';
import type { Objects } from './objects.ts';
import type { Registry } from './registry.ts';
import type { ResourceType } from './resource-type.ts';
import type { Change, Store } from './store.ts';
import { keyOf, type StoredObject } from './stored-object.ts';

const namespaces = '/namespaces';

/**
 * What controllers do in a real cluster: empties namespaces and definitions that are being deleted and establishes
 * definitions. Works after the write that caused it, never within.
 */
export class Lifecycle {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #objects: Objects;
  readonly #clock: Clock;

  constructor(store: Store, registry: Registry, objects: Objects, clock: Clock) {
    this.#store = store;
    this.#registry = registry;
    this.#objects = objects;
    this.#clock = clock;
  }

  /** Takes up what an earlier process left, and follows every write from now on; returns the function that ends it. */
  start(): () => void {
    this.#resume();
    return this.#store.subscribe((change) => queueMicrotask(() => this.#react(change)));
  }

  #resume(): void {
    for (const { object } of this.#store.list(crdType.storage)) {
      this.#registry.define(object.metadata.name ?? '', crdTypes(object));
    }
    for (const { object } of this.#store.list(crdType.storage))
      this.#reactToCrd('MODIFIED', object.metadata.name ?? '');
    for (const { object } of this.#store.list(namespaces)) this.#emptyNamespace(object.metadata.name ?? '');
  }

  #react({ type, storage, current }: Change): void {
    const { name = '', namespace, deletionTimestamp } = current.object.metadata;
    if (storage === crdType.storage) this.#reactToCrd(type, name);
    else if (storage === namespaces && deletionTimestamp !== undefined && type !== 'DELETED')
      this.#emptyNamespace(name);
    else if (type === 'DELETED') {
      if (namespace !== undefined) this.#emptyNamespace(namespace);
      this.#resumeCrd(storage);
    }
  }

  #emptyNamespace(name: string): void {
    const namespace = this.#store.get(namespaces, keyOf(undefined, name));
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const types = this.#storedTypes().filter((type) => type.namespaced);
    const left = types.flatMap((type) => this.#deleteAll(type, name));
    if (left.length > 0) return;
    const finalizers = stringsOf(mapOf(namespace.spec).finalizers).filter((finalizer) => finalizer !== 'kubernetes');
    if (finalizers.length > 0 || finalizersOf(namespace).length > 0) return;
    this.#store.remove(namespaces, { ...namespace, spec: {} });
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
    if (type === 'DELETED' || crd === undefined) this.#registry.define(name, []);
    else if (crd.metadata.deletionTimestamp !== undefined) this.#emptyCrd(crd);
    else this.#establish(crd);
  }

  #establish(crd: ApiObject): void {
    this.#registry.define(crd.metadata.name ?? '', crdTypes(crd));
    const status = establishedStatus(crd, timestamp(this.#clock.now()));
    if (JSON.stringify(status) !== JSON.stringify(crd.status)) this.#store.put(crdType.storage, { ...crd, status });
  }

  #emptyCrd(crd: ApiObject): void {
    const types = crdTypes(crd);
    const left = types.flatMap((type) => this.#deleteAll(type, undefined));
    if (left.length > 0) return;
    const finalizers = finalizersOf(crd).filter((finalizer) => finalizer !== crdCleanup);
    if (finalizers.length === 0) this.#store.remove(crdType.storage, withMeta(crd, { finalizers }));
  }

  /** The last object of a definition that is being deleted may have gone. */
  #resumeCrd(storage: string): void {
    const [group, plural] = storage.split('/');
    const crd = this.#store.get(crdType.storage, keyOf(undefined, `${plural}.${group}`));
    if (crd?.metadata.deletionTimestamp !== undefined) this.#emptyCrd(crd);
  }
}

function establishedStatus(crd: ApiObject, now: string) {
  const old = listOf(mapOf(crd.status).conditions).map(mapOf);
  const condition = (type: string, reason: string, message: string) =>
    old.find((known) => known.type === type && known.status === 'True') ?? {
      type,
      status: 'True',
      lastTransitionTime: now,
      reason,
      message,
    };
  const spec = mapOf(crd.spec);
  const stored = listOf(spec.versions)
    .map(mapOf)
    .filter((version) => version.storage === true);
  return {
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    acceptedNames: spec.names,
    storedVersions: [
      ...new Set([...stringsOf(mapOf(crd.status).storedVersions), ...stored.map(({ name }) => String(name))]),
    ],
  };
}
