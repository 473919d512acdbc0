import type { KubeClient } from '../kube/client.ts';
import { isConflict, isNotFound } from '../kube/errors.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import { annotation, annotationOf, appliedParts, type CreateIntent, finalizer, formatIntent } from './annotations.ts';
import { askedAccountOf } from './claims.ts';
import { mergePatch } from './json.ts';
import type { ManagedObject } from './resource.ts';

/** The cache that must know of a write before the next reconcile reads it, and must not take it for news. */
export interface WriteCache {
  write(key: string, perform: () => Promise<ManagedObject>): Promise<ManagedObject>;
}

type MergePatch = Readonly<Record<string, unknown>>;

/**
 * Writes finalizers, annotations and status of custom resources, and removes them; never writes their spec. Every write
 * carries the resourceVersion it was based on, so that nothing is ever written to a namesake created in between.
 */
export class ObjectWriter {
  readonly #client: KubeClient;
  readonly #type: ResourceType;
  readonly #cache: WriteCache;

  constructor(client: KubeClient, type: ResourceType, cache: WriteCache) {
    this.#client = client;
    this.#type = type;
    this.#cache = cache;
  }

  async addFinalizer(object: ManagedObject): Promise<ManagedObject> {
    if (hasFinalizer(object)) return object;
    return this.#patch(object, { metadata: { finalizers: withFinalizer(object) } });
  }

  async removeFinalizer(object: ManagedObject): Promise<void> {
    if (!hasFinalizer(object)) return;
    try {
      await this.#insist(object, (latest) => ({ metadata: { finalizers: withoutFinalizer(latest) } }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Step 1 of a create: from here on, until `recordCreated`, the result of the create is unknown to Kubernetes. */
  async beginCreate(object: ManagedObject, intent: CreateIntent): Promise<ManagedObject> {
    const annotations = {
      [annotation.createIntent]: formatIntent(intent),
      [annotation.account]: askedAccountOf(object),
      [annotation.externalID]: null,
      [annotation.createdID]: null,
    };
    return this.#patch(object, { metadata: { finalizers: withFinalizer(object), annotations } });
  }

  /** The create certainly did not happen. */
  async cancelCreate(object: ManagedObject): Promise<ManagedObject> {
    const annotations = { [annotation.createIntent]: null, [annotation.account]: null };
    return this.#insist(object, () => ({ metadata: { annotations } }));
  }

  /** Step 3 of a create: the id, durably. */
  async recordCreated(object: ManagedObject, id: string): Promise<ManagedObject> {
    const annotations = {
      [annotation.createIntent]: null,
      [annotation.externalID]: id,
      [annotation.createdID]: id,
    };
    return this.#insist(object, () => ({ metadata: { annotations } }));
  }

  /** Puts back an id that only the status remembers. */
  async restoreID(object: ManagedObject, id: string): Promise<ManagedObject> {
    const annotations = {
      [annotation.externalID]: id,
      [annotation.createdID]: id,
      [annotation.account]: askedAccountOf(object),
    };
    return this.#patch(object, { metadata: { annotations } });
  }

  /** Puts finalizer and records back. */
  async restoreRecords(object: ManagedObject, annotations: Readonly<Record<string, string>>): Promise<ManagedObject> {
    return this.#patch(object, { metadata: { finalizers: withFinalizer(object), annotations } });
  }

  /** The parts that the resource has applied, or is about to. */
  async recordApplied(object: ManagedObject, parts: ReadonlySet<string>): Promise<ManagedObject> {
    const same = appliedParts(object).symmetricDifference(parts).size === 0;
    return same && hasFinalizer(object)
      ? object
      : this.#patch(object, appliedPatch(object, parts, askedAccountOf(object)));
  }

  /** These parts are not the resource's: they are gone, or were never applied. */
  async strikeApplied(object: ManagedObject, parts: ReadonlySet<string>): Promise<ManagedObject> {
    return this.#insist(object, (latest) => appliedPatch(latest, appliedParts(latest).difference(parts)));
  }

  /** From here on the result of the replay is unknown to Kubernetes, until the status has it. */
  async beginReplay(object: ManagedObject, intent: string): Promise<ManagedObject> {
    return this.#patch(object, { metadata: { annotations: { [annotation.replayIntent]: intent } } });
  }

  /** The replay certainly did not happen. */
  async cancelReplay(object: ManagedObject): Promise<ManagedObject> {
    return this.#insist(object, () => ({ metadata: { annotations: { [annotation.replayIntent]: null } } }));
  }

  /** Deletes the resource as it was read; one that has changed since is a conflict. */
  async remove({ metadata }: ManagedObject): Promise<void> {
    const { uid = '', resourceVersion = '' } = metadata;
    await this.#client.delete(this.#type, metadata, { preconditions: { uid, resourceVersion } });
  }

  /** What the resource is about to start. */
  async beginStart(object: ManagedObject, started: string): Promise<ManagedObject> {
    if (annotationOf(object, annotation.startedTunnel) === started && hasFinalizer(object)) return object;
    return this.#patch(object, startedPatch(object, started));
  }

  /** What it has started; undefined when there is nothing of it any more. */
  async recordStarted(object: ManagedObject, started: string | undefined): Promise<ManagedObject> {
    return this.#insist(object, (latest) => startedPatch(latest, started));
  }

  /** Makes the status exactly `next`; no write when it is that already. */
  async writeStatus(object: ManagedObject, next: Readonly<Record<string, unknown>>): Promise<ManagedObject> {
    const status = mergePatch(object.status ?? {}, next);
    return status === undefined ? object : this.#insist(object, () => ({ status }), 'status');
  }

  /** Repeats a write that must not be lost to somebody else's change of the same object. */
  async #insist(
    object: ManagedObject,
    patch: (latest: ManagedObject) => MergePatch,
    subresource?: 'status',
  ): Promise<ManagedObject> {
    let latest = object;
    for (;;) {
      try {
        return await this.#patch(latest, patch(latest), subresource);
      } catch (error) {
        if (!isConflict(error)) throw error;
        const reread = await this.#client.get<ManagedObject>(this.#type, object.metadata);
        if (reread === undefined || reread.metadata.uid !== object.metadata.uid) throw error;
        if (reread.metadata.resourceVersion === latest.metadata.resourceVersion) throw error;
        latest = reread;
      }
    }
  }

  async #patch(object: ManagedObject, patch: MergePatch, subresource?: 'status'): Promise<ManagedObject> {
    const { resourceVersion } = object.metadata;
    const body = { ...patch, metadata: { ...(patch.metadata as object | undefined), resourceVersion } };
    const options = subresource === undefined ? {} : { subresource };
    return this.#cache.write(keyOf(object), () =>
      this.#client.patch<ManagedObject>(this.#type, object.metadata, { type: 'merge', body }, options),
    );
  }
}

export function hasFinalizer(object: ManagedObject): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

/** Without an account, the one that is on record stays. */
function appliedPatch(object: ManagedObject, parts: ReadonlySet<string>, account?: string): MergePatch {
  const recorded = [...parts].sort().join(',');
  const annotations = {
    [annotation.appliedParts]: recorded === '' ? null : recorded,
    [annotation.account]: recorded === '' ? null : account,
  };
  return { metadata: { finalizers: withFinalizer(object), annotations } };
}

function startedPatch(object: ManagedObject, started: string | undefined): MergePatch {
  const annotations = { [annotation.startedTunnel]: started ?? null };
  return { metadata: { finalizers: withFinalizer(object), annotations } };
}

function withFinalizer(object: ManagedObject): readonly string[] {
  const finalizers = object.metadata.finalizers ?? [];
  return hasFinalizer(object) ? finalizers : [...finalizers, finalizer];
}

function withoutFinalizer(object: ManagedObject): readonly string[] {
  return object.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
}
