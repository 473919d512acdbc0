import type { Informer } from '../controller/informer.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import { keyOf, type OwnerReference } from '../kube/types.ts';
import {
  type ConfigMap,
  configMapType,
  hasLabels,
  isEndpointName,
  isWhole,
  type Maker,
  markIn,
  matches,
  mirrorLabels,
  originOf,
} from './config-map.ts';

export type ConfigMapAction = 'none' | 'create' | 'update' | 'delete';

/** The name is taken by a ConfigMap that this mirror did not make. */
export class ForeignConfigMapError extends Error {
  override readonly name = 'ForeignConfigMapError';

  constructor(key: string, isOfAnother: boolean) {
    const remedy = isOfAnother ? 'it is of another installation or account: delete it' : 'rename or delete it';
    super(`ConfigMap ${key} was not made by this mirror and is left alone; ${remedy} to see its endpoint`);
  }
}

/** What makes the actual ConfigMap, which is the mirror's own, the desired one. */
export function decide(desired: ConfigMap | undefined, actual: ConfigMap | undefined): ConfigMapAction {
  if (actual === undefined) return desired === undefined ? 'none' : 'create';
  if (actual.metadata.deletionTimestamp !== undefined) return 'none';
  if (desired === undefined) return isEndpointName(actual.metadata.name) ? 'delete' : 'none';
  if (matches(actual, desired)) return 'none';
  // Made immutable by somebody: only a new one can have the right content.
  return actual.immutable === true ? 'delete' : 'update';
}

/** Once from who goes on until it sees that, and once more. */
const mostTaken = 2;

export interface ConfigMapWriterOptions {
  readonly cache: Pick<Informer<ConfigMap>, 'get' | 'write'>;
  readonly reader: KubeClient;
  readonly client: KubeClient;
  readonly maker: Maker;
  /** What other installations made for this account is taken over. */
  readonly takeOver: boolean;
}

/**
 * Writes ConfigMaps of one mirror. Every write has a precondition: a create fails where something is, an update or
 * delete where somebody else wrote since, so that nothing unseen is ever overwritten.
 */
export class ConfigMapWriter {
  readonly #options: ConfigMapWriterOptions;
  /** By key the uid of what is certainly this mirror's, whatever somebody writes to it. */
  readonly #own = new Map<string, string>();
  /** By key the mark of another that this mirror overwrote, and how many times it did. */
  readonly #overwritten = new Map<string, { readonly mark: string; readonly times: number }>();

  constructor(options: ConfigMapWriterOptions) {
    this.#options = options;
  }

  /**
   * Whether this mirror made it: by its mark, by having seen it before somebody changed it, or as earlier versions did. A mark
   * of another that is back after it was overwritten is that of one who takes over: both would write it in turn, for ever.
   */
  isOwn(actual: ConfigMap): boolean {
    const { uid } = actual.metadata;
    const origin = originOf(actual, this.#options.maker);
    const isKnown = uid !== undefined && this.#own.get(keyOf(actual)) === uid;
    const isTakenOver = origin === 'of another' && this.#overwritten.get(keyOf(actual))?.mark === markIn(actual);
    const isOwn = origin === 'ours' || (isKnown && !isTakenOver) || (origin === 'unmarked' && isWhole(actual));
    if (isOwn && uid !== undefined) this.#own.set(keyOf(actual), uid);
    return isOwn;
  }

  /** It is gone. */
  forget(key: string): void {
    this.#own.delete(key);
    this.#overwritten.delete(key);
  }

  /** What is to be done; `foreign` where another's stands in the way. */
  decide(desired: ConfigMap | undefined, actual: ConfigMap | undefined): ConfigMapAction | 'foreign' {
    if (actual === undefined || this.isOwn(actual)) return decide(desired, actual);
    const isTaken = this.#mayTake(actual) && this.#isOfPredecessor(actual);
    if (desired === undefined) return isTaken && isWhole(actual) ? decide(desired, actual) : 'none';
    return isTaken ? decide(desired, actual) : 'foreign';
  }

  /** Not for ever from one that takes over itself. */
  #mayTake(actual: ConfigMap): boolean {
    const { times = 0 } = this.#overwritten.get(keyOf(actual)) ?? {};
    return this.#options.takeOver && times < mostTaken;
  }

  /** Another installation made it for the same account: two accounts would take it from each other for ever. */
  #isOfPredecessor(actual: ConfigMap): boolean {
    const { maker } = this.#options;
    const isOfAccount = hasLabels(actual.metadata.labels, mirrorLabels(maker.account));
    return isOfAccount && originOf(actual, maker) === 'of another';
  }

  /** One step from what the cache has to what is desired. Throws ForeignConfigMapError, and the client's errors. */
  async bring(key: string, desired: ConfigMap | undefined): Promise<ConfigMapAction> {
    const actual = this.#options.cache.get(key);
    if (desired !== undefined && actual === undefined) return this.#create(desired);
    return this.#change(desired, actual);
  }

  async #create(desired: ConfigMap): Promise<ConfigMapAction> {
    const { cache, client, reader } = this.#options;
    try {
      const created = await cache.write(keyOf(desired), () => client.create(configMapType, desired));
      this.isOwn(created);
      return 'create';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // Something is there that the cache does not have.
      const found = await reader.get<ConfigMap>(configMapType, desired.metadata);
      if (found === undefined) throw error;
      return this.#bringUnwatched(desired, found);
    }
  }

  /** Without the mirror's labels nobody tells of its end: what comes after that is to be done from here. */
  async #bringUnwatched(desired: ConfigMap, found: ConfigMap): Promise<ConfigMapAction> {
    if (found.metadata.deletionTimestamp !== undefined) {
      const what = `ConfigMap ${keyOf(desired)}`;
      throw new Error(`${what} is being deleted, and a finalizer holds it: take that off to see its endpoint`);
    }
    const action = await this.#change(desired, found);
    return action === 'delete' ? this.#create(desired) : action;
  }

  async #change(desired: ConfigMap | undefined, actual: ConfigMap | undefined): Promise<ConfigMapAction> {
    const action = this.decide(desired, actual);
    if (action !== 'foreign') {
      await this.#perform(action, desired, actual);
      return action;
    }
    const isOfAnother = actual !== undefined && originOf(actual, this.#options.maker) === 'of another';
    throw new ForeignConfigMapError(keyOf(desired as ConfigMap), isOfAnother);
  }

  async #perform(
    action: ConfigMapAction,
    desired: ConfigMap | undefined,
    actual: ConfigMap | undefined,
  ): Promise<void> {
    if (actual === undefined) return;
    const { cache, client } = this.#options;
    const { uid, resourceVersion } = actual.metadata;
    if (action === 'delete' && uid !== undefined && resourceVersion !== undefined) {
      await client.delete(configMapType, actual.metadata, { preconditions: { uid, resourceVersion } });
    }
    if (action === 'update' && desired !== undefined) {
      await cache.write(keyOf(actual), () => client.update(configMapType, restored(actual, desired)));
      const mark = markIn(actual);
      if (mark !== undefined && originOf(actual, this.#options.maker) === 'of another') {
        const { times = 0 } = this.#overwritten.get(keyOf(actual)) ?? {};
        this.#overwritten.set(keyOf(actual), { mark, times: times + 1 });
      }
    }
  }
}

/** The actual object's metadata carries uid and resourceVersion, which are the precondition. */
function restored(actual: ConfigMap, desired: ConfigMap): ConfigMap {
  const labels = { ...actual.metadata.labels, ...desired.metadata.labels };
  const annotations = { ...actual.metadata.annotations, ...desired.metadata.annotations };
  const ownerReferences = ownersOf(actual, desired);
  return { ...desired, metadata: { ...actual.metadata, labels, annotations, ownerReferences } };
}

/** What is desired, in place of earlier ones of its name, and those of others. */
function ownersOf(actual: ConfigMap, desired: ConfigMap): readonly OwnerReference[] {
  const wanted = desired.metadata.ownerReferences ?? [];
  const isReplaced = ({ kind, name }: OwnerReference) =>
    wanted.some((owner) => owner.kind === kind && owner.name === name);
  return [...(actual.metadata.ownerReferences?.filter((owner) => !isReplaced(owner)) ?? []), ...wanted];
}
