import type { Log } from '../../../common/log.ts';
import type { Runtime } from '../../../common/runtime.ts';
import { Informer } from '../../controller/informer.ts';
import { InformerGroup } from '../../controller/informer-group.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { ResourceType } from '../../kube/types.ts';
import { isWhole, withoutBulk, withoutForeign } from './bulk.ts';
import type { ManagedObject } from './resource.ts';

export interface InformerOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  /** Reads, on every replica. */
  readonly reader: KubeClient;
  /** Empty for all. */
  readonly namespaces: readonly string[];
}

/** Follows the resources of a kind, in the namespaces of this operator. */
export function informersOf(type: ResourceType, options: InformerOptions, log: Log): InformerGroup<ManagedObject> {
  const { reader: client, namespaces, monotonic, random } = options;
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  return new InformerGroup(
    scopes.map(
      (namespace) => new Informer({ client, type, namespace, transform: withoutBulk, monotonic, random, log }),
    ),
  );
}

/**
 * Every resource of the kind that there is, by a fresh list: an object that a resource holds which is
 * not in the cache yet, or one of another installation's namespaces, is not free to be adopted. Where only some namespaces may be read, of those; one that may not, as
 * after it was deleted, holds up no other.
 */
export async function listEverywhere(
  client: KubeClient,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<readonly ManagedObject[]> {
  try {
    return (await client.listAll<ManagedObject>(type, { keep: withoutBulk })).items;
  } catch (error) {
    if (namespaces.length === 0 || !isForbidden(error)) throw error;
    const lists = await Promise.allSettled(
      namespaces.map((namespace) => client.listAll<ManagedObject>(type, { namespace, keep: withoutBulk })),
    );
    const failed = lists.filter((list) => list.status === 'rejected');
    const serious = failed.find(({ reason }) => failed.length === lists.length || !isForbidden(reason));
    if (serious !== undefined) throw serious.reason;
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value.items : []));
  }
}

/** A large resource is read anew; a namesake that took its place is another one. */
export async function wholeOf(
  reader: KubeClient,
  type: ResourceType,
  object: ManagedObject,
): Promise<ManagedObject | undefined> {
  if (isWhole(object)) return object;
  const read = await reader.get<ManagedObject>(type, object.metadata);
  return read?.metadata.uid === object.metadata.uid ? read && withoutForeign(read) : undefined;
}
