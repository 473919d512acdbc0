import type { Log } from '../../../common/log.ts';
import { Restorations } from '../../../common/restorations.ts';
import type { Runtime } from '../../../common/runtime.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isConflict, isDenied, isForbidden, isNotFound, KubeError } from '../../kube/errors.ts';
import { type KubeObject, namespaceType, type ObjectMeta, type ResourceType, secretType } from '../../kube/types.ts';
import { annotation, holderFinalizer, isHolderFinalizer, recordIn } from '../resource/annotations.ts';
import type { CurrentResource } from '../resource/current-resource.ts';
import { canonical } from '../resource/json.ts';
import type { ManagedObject } from '../resource/resource.ts';

/** A Secret that somebody writes all the time is left to the next reconcile, which comes later each time. */
const mostAttempts = 4;

/** What is known of the Secret that a resource names. */
export interface HeldSecret {
  readonly name: string;
  /** As it was last read; undefined where there is none. */
  readonly metadata: ObjectMeta | undefined;
  /** What is needed of it is in it. */
  readonly isUsable: boolean;
  /** It has this finalizer from now on, whatever was last read. */
  readonly noteHeld: (finalizer: string) => void;
}

export interface HeldSecretsOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  /** For reads and writes, on the leader only. */
  readonly client: KubeClient;
  /** Of those who hold. */
  readonly type: ResourceType;
  readonly log: Log;
}

/**
 * Keeps the Secrets of resources for as long as the resources are there, by a finalizer for each of these: what was made
 * with a key can be deleted with that key only, and a namespace is emptied in any order (ADR 13).
 */
export class HeldSecrets {
  readonly #client: KubeClient;
  readonly #type: ResourceType;
  readonly #log: Log;
  /** Holders whose Secret may not be changed, by their uids, and what was not to be; told once. */
  readonly #refused = new Map<string, Set<FinalizerChange>>();
  /** Those that are about to go. */
  readonly #letGo = new Set<string>();
  /** Of finalizers that somebody took off, by the uid of the holder. */
  readonly #restorations: Restorations;

  constructor({ client, type, log, ...runtime }: HeldSecretsOptions) {
    this.#client = client;
    this.#type = type;
    this.#log = log;
    this.#restorations = new Restorations(runtime);
  }

  /**
   * It needs this Secret from now on, and no other. To be called before anything is made with what is in it. Who takes the finalizer
   * off again and again is not answered as fast: then answers in how many milliseconds to hold it again.
   */
  async hold(resource: CurrentResource, secret: HeldSecret): Promise<number | undefined> {
    const holder = resource.object;
    const before = recordIn(holder, annotation.heldSecret);
    if (before !== undefined && before !== secret.name) {
      // The one with which things were made, until there is another: whoever made a mistake can set it back.
      if (!secret.isUsable) return undefined;
      await this.#release(holder, before);
    }
    // Recorded first: what is held must be known to whoever releases it.
    await resource.record({ [annotation.heldSecret]: secret.name });
    const { metadata } = secret;
    if (metadata === undefined) return undefined;
    const isHeld = metadata.finalizers?.includes(holderFinalizer(holder)) === true;
    if (metadata.deletionTimestamp === undefined) {
      if (isHeld || !secret.isUsable) return undefined;
      const waitMs = before === secret.name ? this.#restorations.wait(resource.uid) : 0;
      if (waitMs > 0) return waitMs;
      // For what has gone it would be held for ever.
      await resource.confirm();
      const isKept = await this.#change(holder, secret.name, holding);
      if (isKept) secret.noteHeld(holderFinalizer(holder));
      this.#restorations.restored(resource.uid);
    } else if (isHeld && !(await this.#isEnding(holder))) await this.#release(holder, secret.name, metadata.uid);
    return undefined;
  }

  /** It is about to go. */
  async letGo(holder: ManagedObject): Promise<void> {
    const { uid = '' } = holder.metadata;
    const held = recordIn(holder, annotation.heldSecret);
    if (held !== undefined) await this.#release(holder, held);
    this.#refused.delete(uid);
    this.#letGo.add(uid);
  }

  /** It is not seen any more: it may be gone, and not by `letGo`. */
  forget(holder: ManagedObject): void {
    this.#restorations.forget(holder.metadata.uid ?? '');
    if (this.#letGo.delete(holder.metadata.uid ?? '')) return;
    this.#letGoWhenGone(holder).catch((error: unknown) => {
      // A standby may not write, and need not.
      if (!(error instanceof KubeError)) return;
      const { namespace, name } = holder.metadata;
      this.#log.warn('cannot let go of the Secret of a resource that is gone', {
        ...{ namespace, account: name },
        error: error.message,
      });
    });
  }

  async #letGoWhenGone(holder: ManagedObject): Promise<void> {
    const held = recordIn(holder, annotation.heldSecret);
    if (held === undefined) return;
    const found = await this.#client.get(this.#type, holder.metadata);
    if (found?.metadata.uid !== holder.metadata.uid) await this.#release(holder, held);
  }

  /** @param uid of the only one of that name that is meant */
  async #release(holder: ManagedObject, name: string, uid?: string): Promise<void> {
    await this.#change(holder, name, lettingGo, uid);
  }

  /** Whether the holder will be deleted too. Where that may not be read a Secret is rather kept. */
  async #isEnding({ metadata: { namespace = '' } }: ManagedObject): Promise<boolean> {
    try {
      return (await this.#client.get(namespaceType, { name: namespace }))?.metadata.deletionTimestamp !== undefined;
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  }

  /** Answers whether it is as it is to be. */
  async #change(holder: ManagedObject, name: string, change: FinalizerChange, uid?: string): Promise<boolean> {
    try {
      const isKept = await this.#attempt(holder, { name, uid }, change, mostAttempts);
      if (!isKept) this.#tellRefused(holder, name, change, 'Kubernetes did not keep the change');
      return isKept;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isDenied(error)) throw error;
      this.#tellRefused(holder, name, change, error.message);
      return false;
    }
  }

  /** Once more where the Secret has changed meanwhile; answers whether it is as it is to be. */
  async #attempt(
    holder: ManagedObject,
    meant: { readonly name: string; readonly uid: string | undefined },
    change: FinalizerChange,
    attempts: number,
  ): Promise<boolean> {
    const { namespace } = holder.metadata;
    const { name } = meant;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const [secret] = (await this.#client.list<KubeObject>(secretType, { ...selection, metadataOnly: true })).items;
    if (secret === undefined) return true;
    const { finalizers: present = [], resourceVersion, uid } = secret.metadata;
    if (meant.uid !== undefined && meant.uid !== uid) return true;
    const own = holderFinalizer(holder);
    const strays = await this.#strays(
      holder,
      present.filter((each) => isHolderFinalizer(each) && each !== own),
    );
    const finalizers = change.of(present, own).filter((each) => !strays.has(each));
    if (canonical(finalizers) === canonical(present)) return true;
    const body = { metadata: { finalizers, resourceVersion, uid } };
    try {
      const { metadata } = await this.#client.patch<KubeObject>(
        secretType,
        { namespace, name },
        { type: 'merge', body },
      );
      // Where none is left there is no field.
      return (metadata.finalizers ?? []).includes(own) === finalizers.includes(own);
    } catch (error) {
      if (!isConflict(error) || attempts === 1) throw error;
      return this.#attempt(holder, meant, change, attempts - 1);
    }
  }

  /**
   * Of holders that are not there, as in a Secret that was restored, or copied from another namespace: nobody else lets go of it.
   * Whoever holds it was there before its finalizer was, and is in a list of what is newest that is asked for after that was read.
   */
  async #strays({ metadata: { namespace } }: ManagedObject, holders: readonly string[]): Promise<ReadonlySet<string>> {
    if (holders.length === 0) return new Set();
    const keep = ({ metadata: { uid } }: KubeObject) => ({ metadata: { uid } }) as KubeObject;
    try {
      const { items } = await this.#client.listAll<KubeObject>(this.#type, { namespace, keep });
      return new Set(holders).difference(new Set(items.map(holderFinalizer)));
    } catch (error) {
      if (isForbidden(error)) return new Set();
      throw error;
    }
  }

  #tellRefused(resource: ManagedObject, secret: string, change: FinalizerChange, error: string) {
    const { namespace, name: holder, uid = '' } = resource.metadata;
    const told = this.#refused.get(uid) ?? new Set();
    if (told.has(change)) return;
    this.#refused.set(uid, told.add(change));
    const finalizer = holderFinalizer(resource);
    this.#log.warn(change.refused, { namespace, holder, secret, finalizer, error });
  }
}

interface FinalizerChange {
  of(present: readonly string[], own: string): readonly string[];
  /** What follows where it is not allowed. */
  readonly refused: string;
}

const holding: FinalizerChange = {
  of: (present, own) => (present.includes(own) ? present : [...present, own]),
  refused: 'may not hold a Secret: deleted before what was made with it, it cannot be made up for',
};
const lettingGo: FinalizerChange = {
  of: (present, own) => present.filter((each) => each !== own),
  refused:
    'may not let go of a Secret: it and its namespace stay until the finalizer, if it is there, is taken off by hand',
};
