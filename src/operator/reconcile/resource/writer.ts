import type { KubeClient } from '../../kube/client.ts';
import { isConflict, isDenied, isForbidden, isNotFound } from '../../kube/errors.ts';
import { keyOf, type ResourceType } from '../../kube/types.ts';
import { installationOf, isRemoved, isSameInstallation, ownershipOf } from '../ownership/ownership.ts';
import { BehindError, UnrecordedError } from '../status/outcome.ts';
import {
  annotation,
  annotationOf,
  finalizer,
  hasRecords,
  recordsFor,
  recordsOf,
  withoutRecords,
} from './annotations.ts';
import { withoutForeign } from './bulk.ts';
import { canonical, mergePatch } from './json.ts';
import { isDeleting, isOlder, type ManagedObject } from './resource.ts';

/** The cache that must know of a write before the next reconcile reads it, and must not take it for news. */
export interface WriteCache {
  write(key: string, perform: () => Promise<ManagedObject>): Promise<ManagedObject>;
  /**
   * What somebody else wrote is news, though a write of ours, based on it, may be all that is heard of it; and so is that it is older
   * than what was `known` before it was read, or not there.
   */
  learn(object: ManagedObject | undefined, known: ManagedObject): void;
}

/** Annotations by name; null removes one. */
export type Annotations = Readonly<Record<string, string | null>>;

/**
 * It is there, as it was read, and is not to go; or it is otherwise, or has gone; or it may not be read, as in a namespace that
 * has gone with its RoleBinding.
 */
export type Fate = 'stays' | 'changed' | 'unknown';

type MergePatch = Readonly<Record<string, unknown>>;

/**
 * Writes finalizers, annotations and status of custom resources, and removes them; never writes their spec. Every write
 * carries the resourceVersion it was based on, so that nothing is ever written to a namesake created in between.
 */
export class ObjectWriter {
  readonly #client: KubeClient;
  readonly #type: ResourceType;
  readonly #cache: WriteCache;
  readonly #installation: () => string;

  /** @param installation that manages what it writes to */
  constructor(client: KubeClient, type: ResourceType, cache: WriteCache, installation: () => string) {
    this.#client = client;
    this.#type = type;
    this.#cache = cache;
    this.#installation = installation;
  }

  /** After what the finalizer guards is gone, whatever else was changed meanwhile. */
  async removeFinalizer(object: ManagedObject): Promise<void> {
    await this.#release(object, () => this.#insist(object, unguarded));
  }

  /** Where nothing is done because the resource says so: of one that was changed since it was read this is a conflict. */
  async removeFinalizerAsRead(object: ManagedObject): Promise<void> {
    await this.#release(object, () => this.#patchKnown(object, unguarded(object)));
  }

  /**
   * The resource, as it is now where somebody changed what is no matter here. Throws BehindError where it has gone, or is to be
   * otherwise than was read: whoever goes by a list that is behind is to look again.
   */
  async confirm(object: ManagedObject): Promise<ManagedObject> {
    const latest = await this.#reread(object);
    if (latest !== undefined && latest.metadata.resourceVersion === object.metadata.resourceVersion) return object;
    const known = latest && withoutForeign(latest);
    if (known !== undefined && isAsRead(known, object)) return known;
    throw new BehindError(`${object.kind} ${keyOf(object)} is otherwise by now than it was read`);
  }

  /** What has become of it since it was read. */
  async fateOf(object: ManagedObject): Promise<Fate> {
    try {
      const latest = await this.#reread(object);
      const stays = latest !== undefined && !isDeleting(latest) && isAsRead(withoutForeign(latest), object);
      return stays ? 'stays' : 'changed';
    } catch (error) {
      if (isForbidden(error)) return 'unknown';
      throw error;
    }
  }

  /** Whether this very resource is still there. One that may not be read, as in a namespace that goes, is taken for gone. */
  async isThere(object: ManagedObject): Promise<boolean> {
    try {
      const latest = await this.#reread(object);
      return latest !== undefined && latest.metadata.uid === object.metadata.uid;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  /** Puts records into annotations together with the finalizer that guards them; no write when all of it is there. */
  async record(object: ManagedObject, records: Annotations): Promise<ManagedObject> {
    const annotations = this.#signed(object, records);
    if (hasFinalizer(object) && hasAnnotations(object, annotations)) return object;
    const patch = { metadata: { finalizers: withFinalizer(object), annotations } };
    const recorded = await keeping(
      () => this.#patchKnown(object, patch),
      () => annotations,
    );
    if (!hasFinalizer(recorded)) throw ignored(`did not keep the finalizer ${finalizer}`);
    return recorded;
  }

  /** As `record`, for what leaves nothing behind: without the finalizer. */
  sign(object: ManagedObject, records: Annotations): Promise<ManagedObject> {
    return this.annotate(object, this.#signed(object, records));
  }

  /** Annotations alone. */
  async annotate(object: ManagedObject, annotations: Annotations): Promise<ManagedObject> {
    return keeping(
      () => this.#patchKnown(object, { metadata: { annotations } }),
      () => annotations,
    );
  }

  /**
   * As `annotate`, of what must not be lost to somebody else's change of the same object. Where that wiped whose records they are,
   * they are put back as they were read: else nobody would go by what is written.
   */
  async insist(object: ManagedObject, annotations: (latest: ManagedObject) => Annotations): Promise<ManagedObject> {
    const before = hasRecords(object) ? recordsOf(object) : {};
    let written: Annotations = {};
    const patch = (latest: ManagedObject) => {
      const records = annotations(latest);
      written = hasRecords(latest) ? records : this.#signed(latest, { ...recordsFor(latest, before), ...records });
      return { metadata: { annotations: written } };
    };
    return keeping(
      () => this.#insist(object, patch),
      () => written,
    );
  }

  /** Makes the status exactly `next`; no write when it is that already. */
  async writeStatus(object: ManagedObject, next: Readonly<Record<string, unknown>>): Promise<ManagedObject> {
    const missing = (latest: ManagedObject) => mergePatch(latest.status ?? {}, next);
    const status = missing(object);
    if (status === undefined) return object;
    return this.#insist(
      object,
      (latest) => ({ status: latest === object ? status : (missing(latest) ?? {}) }),
      'status',
    );
  }

  /** Says in the status in which shard it is from now on, and nothing else. Throws UnrecordedError where that is not kept. */
  async place(object: ManagedObject, shard: string): Promise<void> {
    try {
      const { status } = await this.#patchKnown(object, { status: { shard } }, 'status');
      if (status?.shard !== shard) throw ignored('did not keep status.shard');
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Deletes the resource as it was read; one that has changed since is a conflict. */
  async delete(object: ManagedObject): Promise<void> {
    const { uid = '', resourceVersion = '' } = object.metadata;
    const preconditions = { uid, resourceVersion };
    const deleted = await this.#knowing(object, () =>
      this.#client.delete(this.#type, object.metadata, { preconditions }),
    );
    if (deleted === undefined) this.#cache.learn(undefined, object);
  }

  /** With whose they are. */
  #signed(object: ManagedObject, records: Annotations): Annotations {
    const { uid = '' } = object.metadata;
    const own = { ...records, [annotation.installation]: this.#installation(), [annotation.recordOf]: uid };
    // What a manifest that was copied brought along would be this resource's own from now on.
    return hasRecords(object) ? own : { ...withoutRecords(object), ...own };
  }

  async #release(object: ManagedObject, perform: () => Promise<ManagedObject>): Promise<void> {
    if (!hasFinalizer(object)) return;
    try {
      if (hasFinalizer(await admitted('its finalizer cannot be taken off', perform)))
        throw ignored(`kept the finalizer ${finalizer}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

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
        const reread = await this.#rereadAfter(error, latest);
        if (reread === undefined || reread.metadata.uid !== object.metadata.uid) throw error;
        if (reread.metadata.resourceVersion === latest.metadata.resourceVersion) throw error;
        // Another installation began to manage it meanwhile, or does: what it wrote is not put back to what it was.
        const manager = installationOf(reread);
        if (manager !== installationOf(latest) || !this.#isOurs(manager)) throw error;
        if (subresource === 'status' && (isOlder(reread, object) || isRecordedAnew(reread, object))) throw error;
        latest = reread;
      }
    }
  }

  /** News in any case: a watch that is frozen would not tell that somebody wiped whose it is. */
  async #reread(known: ManagedObject): Promise<ManagedObject | undefined> {
    const latest = await this.#client.get<ManagedObject>(this.#type, known.metadata);
    this.#cache.learn(latest, known);
    return latest;
  }

  /** Where the failure of a write says that the object is otherwise than was known, or not there. */
  async #rereadAfter(error: unknown, known: ManagedObject): Promise<ManagedObject | undefined> {
    if (!isConflict(error) && !isNotFound(error)) return undefined;
    return this.#reread(known).catch(() => undefined);
  }

  #patchKnown(object: ManagedObject, patch: MergePatch, subresource?: 'status'): Promise<ManagedObject> {
    return this.#knowing(object, () => this.#patch(object, patch, subresource));
  }

  /** Whatever the write fails for in the object is learned of, and not overcome. */
  async #knowing<T>(object: ManagedObject, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      await this.#rereadAfter(error, object);
      throw error;
    }
  }

  #isOurs(manager: string | undefined): boolean {
    return manager === undefined || isSameInstallation(manager, this.#installation());
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

/**
 * Nothing may be done that relies on a record which is not there: who admits writes may refuse it, or take it out. Throws
 * UnrecordedError then.
 */
async function keeping(write: () => Promise<ManagedObject>, written: () => Annotations): Promise<ManagedObject> {
  const latest = await admitted('no record of it can be kept', write);
  const missing = Object.entries(written()).find(([name, value]) => !hasAnnotations(latest, { [name]: value }));
  if (missing !== undefined) throw ignored(`did not keep the annotation ${missing[0]}`);
  return latest;
}

function admitted<T>(failure: string, write: () => Promise<T>): Promise<T> {
  return write().catch((error: unknown) => {
    if (!isDenied(error)) throw error;
    throw new UnrecordedError(`${failure}: ${error.message}`, { cause: error });
  });
}

function ignored(what: string): UnrecordedError {
  return new UnrecordedError(
    `Kubernetes ${what}: let no admission policy, webhook or older definition change what the operator writes`,
  );
}

export function hasFinalizer(object: ManagedObject): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

/** It is to go, and leaves nothing behind: if it is still there, somebody else holds it. */
export function isReleased(object: ManagedObject): boolean {
  return isDeleting(object) && !hasFinalizer(object);
}

/** It is to go, and has nothing left: neither what it made nor, of what others want, a claim. */
export function holdsNothing(object: ManagedObject): boolean {
  return isReleased(object) || isRemoved(object);
}

function hasAnnotations(object: ManagedObject, annotations: Annotations): boolean {
  return Object.entries(annotations).every(([name, value]) => annotationOf(object, name) === (value ?? undefined));
}

function withFinalizer(object: ManagedObject): readonly string[] {
  const finalizers = object.metadata.finalizers ?? [];
  return hasFinalizer(object) ? finalizers : [...finalizers, finalizer];
}

function unguarded({ metadata }: ManagedObject): MergePatch {
  return { metadata: { finalizers: metadata.finalizers?.filter((name) => name !== finalizer) ?? [] } };
}

/**
 * Somebody who works on it too, as the next holder of its shard, put other things on record than were known: a status of what was
 * known would take that away. What was emptied says nothing.
 */
function isRecordedAnew(latest: ManagedObject, known: ManagedObject): boolean {
  const recordedIn = [ownershipOf, recordsOf];
  return recordedIn.some((of) => {
    const now = of(latest);
    return Object.keys(now).length > 0 && canonical(now) !== canonical(of(known));
  });
}

/** The same resource, with the same wishes and records; its status is the operator's, and to look at it anew changes nothing of it. */
function isAsRead(latest: ManagedObject, object: ManagedObject): boolean {
  const known = ({ metadata }: ManagedObject) => {
    const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
    const { [annotation.reconcileAt]: _, ...wishes } = annotations;
    return canonical({ uid, generation, deletionTimestamp, wishes });
  };
  return known(latest) === known(object) && hasFinalizer(latest) === hasFinalizer(object);
}
