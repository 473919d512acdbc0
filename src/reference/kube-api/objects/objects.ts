import type { ServerRuntime } from '../../../common/runtime.ts';
import { ApiError, alreadyExists, forbidden, notFound } from '../api-error.ts';
import { equal, omit } from '../json.ts';
import { type ApiObject, timestamp, withMeta } from '../object.ts';
import { trackUpdate } from '../ownership/managed-fields.ts';
import type { Store } from '../store/store.ts';
import { keyOf } from '../store/stored-object.ts';
import { type ResourceType, shownAs } from '../types/resource-type.ts';
import { check, keepServerFields, nextGeneration, normalise, type Subresource, type Validators } from './admission.ts';
import { isHeld, marked } from './deletion.ts';
import { nameFrom } from './generate-name.ts';
import { finalizerWarnings } from './names.ts';
import { checkIdentity, checkPreconditions, type Preconditions } from './preconditions.ts';

/** Names one object; cluster-scoped ones have no namespace. */
export interface Ref {
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface WriteOptions {
  /** Everything is checked and answered, nothing is stored. */
  readonly dryRun: boolean;
  readonly fieldManager: string;
  /** Called with the paths of unknown fields, also when there are none; throws to refuse them. */
  readonly onUnknown: (paths: readonly string[]) => void;
  /** Called with what the client should know of a write that is done all the same. */
  readonly warn: (text: string) => void;
  /** By server-side apply, which sets `managedFields` itself. */
  readonly applied?: boolean;
}

export interface UpdateRequest extends WriteOptions {
  readonly subresource: Subresource;
  /** The object wanted, from the current one; its resourceVersion is a precondition. */
  readonly change: (current: ApiObject) => ApiObject;
}

/** Reads and writes of objects of any type, with the rules that every type shares. */
export class Objects {
  readonly #store: Store;
  readonly #runtime: ServerRuntime;
  readonly #validators: Validators;

  constructor(store: Store, runtime: ServerRuntime, validators: Validators) {
    this.#store = store;
    this.#runtime = runtime;
    this.#validators = validators;
  }

  find(type: ResourceType, ref: Ref): ApiObject | undefined {
    const stored = this.#store.get(type.storage, keyOf(ref.namespace, ref.name));
    return stored && shownAs(type, stored);
  }

  get(type: ResourceType, ref: Ref): ApiObject {
    const found = this.find(type, ref);
    if (found === undefined) throw notFound(type, ref.name);
    return found;
  }

  create(type: ResourceType, body: ApiObject, options: WriteOptions): ApiObject {
    const named = this.#named(body, type);
    const { namespace, name } = named.metadata;
    if (type.isTerminating === true) {
      throw forbidden(type, name ?? '', 'create not allowed while custom resource definition is terminating');
    }
    if (namespace !== undefined) this.#checkNamespace(type, namespace, name ?? '');
    if (named.metadata.resourceVersion) {
      throw new ApiError(500, undefined, 'resourceVersion should not be set on objects to be created');
    }
    const admitted = this.#admit(named, undefined, type, { ...options, subresource: undefined });
    const created = withMeta(admitted, {
      uid: this.#runtime.uuid(),
      creationTimestamp: this.#now(),
      generation: type.tracksGeneration ? 1 : undefined,
      deletionTimestamp: undefined,
    } as object);
    const owned = options.applied
      ? created
      : trackUpdate(undefined, created, type, undefined, options.fieldManager, this.#now());
    check(owned, undefined, type, this.#validators);
    if (this.find(type, { namespace, name: name ?? '' }) !== undefined) throw alreadyExists(type, name ?? '');
    return options.dryRun ? owned : this.#put(type, owned);
  }

  update(type: ResourceType, ref: Ref, request: UpdateRequest): ApiObject {
    const old = this.get(type, ref);
    const wanted = request.change(old);
    checkIdentity(type, wanted, old);
    const admitted = keepServerFields(this.#admit(wanted, old, type, request), old);
    const generation = nextGeneration(admitted, old, type);
    const current = withMeta(admitted, { generation, resourceVersion: old.metadata.resourceVersion } as object);
    const owned = request.applied
      ? withMeta(current, { managedFields: wanted.metadata.managedFields } as object)
      : trackUpdate(old, current, type, request.subresource, request.fieldManager, this.#now());
    check(owned, old, type, this.#validators);
    return this.#save(type, owned, old, request.dryRun);
  }

  delete(
    type: ResourceType,
    ref: Ref,
    preconditions: Preconditions,
    dryRun: boolean,
  ): { gone: boolean; object: ApiObject } {
    const current = this.get(type, ref);
    checkPreconditions(type, current, preconditions);
    const old = type.behaviour.beforeDelete?.(current) ?? current;
    const held = isHeld(type, old);
    if (held && current.metadata.deletionTimestamp !== undefined) return { gone: false, object: current };
    if (!held) return { gone: true, object: dryRun ? old : this.#remove(type, old) };
    const object = marked(type, old, this.#now());
    return { gone: false, object: dryRun ? object : this.#put(type, object) };
  }

  /** Forgets an object that nothing holds any more. */
  #remove(type: ResourceType, object: ApiObject): ApiObject {
    const { namespace, name = '' } = object.metadata;
    this.#store.remove(type.storage, keyOf(namespace, name));
    return object;
  }

  #put(type: ResourceType, object: ApiObject): ApiObject {
    return shownAs(type, this.#store.put(type.storage, this.#stored(type, object)));
  }

  #save(type: ResourceType, object: ApiObject, old: ApiObject, dryRun: boolean): ApiObject {
    if (equal(object, old)) return old;
    if (dryRun) return object;
    // The answer keeps the version before the deletion, as on a real server.
    if (object.metadata.deletionTimestamp !== undefined && !isHeld(type, object)) return this.#remove(type, object);
    return this.#put(type, object);
  }

  #stored(type: ResourceType, object: ApiObject): ApiObject {
    return type.behaviour.toStored?.(object) ?? object;
  }

  #admit(
    candidate: ApiObject,
    old: ApiObject | undefined,
    type: ResourceType,
    { subresource, applied = false, onUnknown, warn }: WriteOptions & { readonly subresource: Subresource },
  ): ApiObject {
    const unknown: string[] = [];
    const admitted = normalise(candidate, old, type, {
      subresource,
      applied,
      onUnknown: (path) => unknown.push(path),
    });
    onUnknown(unknown.sort());
    if (type.custom) for (const text of finalizerWarnings(admitted, old)) warn(text);
    return admitted;
  }

  #named(object: ApiObject, type: ResourceType): ApiObject {
    const { name, generateName } = object.metadata;
    const made =
      name || !generateName ? object : withMeta(object, { name: nameFrom(generateName, this.#runtime.random) });
    return type.namespaced ? made : { ...made, metadata: omit(made.metadata, 'namespace') };
  }

  #checkNamespace(type: ResourceType, namespace: string, name: string): void {
    const found = this.#store.get('/namespaces', keyOf(undefined, namespace));
    if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    throw forbidden(
      type,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }

  #now(): string {
    return timestamp(this.#runtime.clock.now());
  }
}
