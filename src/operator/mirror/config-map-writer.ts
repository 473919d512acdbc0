import type { Informer } from '../controller/informer.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import { keyOf } from '../kube/types.ts';
import { type ConfigMap, configMapType, hasLabels, isEndpointName, matches } from './config-map.ts';

export type ConfigMapAction = 'none' | 'create' | 'update' | 'delete';

/** The name is taken by a ConfigMap that this mirror did not make. */
export class ForeignConfigMapError extends Error {
  override readonly name = 'ForeignConfigMapError';

  constructor(key: string) {
    super(`ConfigMap ${key} was not made by this mirror and is left alone; rename or delete it to see its endpoint`);
  }
}

/** What makes the actual ConfigMap, which carries the mirror's labels, the desired one. */
export function decide(desired: ConfigMap | undefined, actual: ConfigMap | undefined): ConfigMapAction {
  if (actual === undefined) return desired === undefined ? 'none' : 'create';
  if (actual.metadata.deletionTimestamp !== undefined) return 'none';
  if (desired === undefined) return isEndpointName(actual.metadata.name) ? 'delete' : 'none';
  if (matches(actual, desired)) return 'none';
  // Made immutable by somebody: only a new one can have the right content.
  return actual.immutable === true ? 'delete' : 'update';
}

export interface ConfigMapWriterOptions {
  readonly cache: Pick<Informer<ConfigMap>, 'get' | 'write'>;
  readonly reader: KubeClient;
  readonly client: KubeClient;
  /** Labels that every ConfigMap of this mirror carries, and no other. */
  readonly identity: Readonly<Record<string, string>>;
}

/**
 * Writes ConfigMaps of one mirror. Every write has a precondition: a create fails where something is, an update or
 * delete where somebody else wrote since, so that nothing unseen is ever overwritten.
 */
export class ConfigMapWriter {
  readonly #options: ConfigMapWriterOptions;

  constructor(options: ConfigMapWriterOptions) {
    this.#options = options;
  }

  /**
   * One step from what the cache has to what is desired. Throws ForeignConfigMapError, and the client's errors.
   *
   * @param ownUID of a ConfigMap that left the cache: if it is still there it has lost its labels, and is ours
   */
  async bring(key: string, desired: ConfigMap | undefined, ownUID: string | undefined): Promise<ConfigMapAction> {
    const actual = this.#options.cache.get(key);
    const action = decide(desired, actual);
    if (desired !== undefined && action === 'create') return this.#create(desired, ownUID);
    await this.#perform(action, desired, actual);
    return action;
  }

  async #create(desired: ConfigMap, ownUID: string | undefined): Promise<ConfigMapAction> {
    const { cache, client } = this.#options;
    try {
      await cache.write(keyOf(desired), () => client.create(configMapType, desired));
      return 'create';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#takeOver(desired, ownUID, error);
    }
  }

  /** Something is there that the cache does not have. */
  async #takeOver(desired: ConfigMap, ownUID: string | undefined, refusal: Error): Promise<ConfigMapAction> {
    const found = await this.#options.reader.get<ConfigMap>(configMapType, desired.metadata);
    if (found === undefined) throw refusal;
    const own = hasLabels(found.metadata.labels, this.#options.identity) || found.metadata.uid === ownUID;
    if (!own) throw new ForeignConfigMapError(keyOf(desired));
    const action = decide(desired, found);
    await this.#perform(action, desired, found);
    return action;
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
    }
  }
}

/** The actual object's metadata carries uid and resourceVersion, which are the precondition. */
function restored(actual: ConfigMap, desired: ConfigMap): ConfigMap {
  const labels = { ...actual.metadata.labels, ...desired.metadata.labels };
  return { ...desired, metadata: { ...actual.metadata, labels } };
}
