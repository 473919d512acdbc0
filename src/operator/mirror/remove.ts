import type { KubeClient } from '../kube/client.ts';
import { type ConfigMap, configMapType, isEndpointName, mirrorLabels, selectorOf } from './config-map.ts';

/**
 * Deletes the ConfigMaps of a mirror that will not run again, because its account goes or its mirror was turned off.
 * Resolves with how many there were; throws what the client throws, and may then be called again.
 */
export async function removeMirrored(client: KubeClient, namespace: string, account: string): Promise<number> {
  const labelSelector = selectorOf(mirrorLabels(account));
  const { items } = await client.listAll<ConfigMap>(configMapType, { namespace, labelSelector });
  const own = items.filter(({ metadata }) => isEndpointName(metadata.name));
  for (const { metadata } of own) {
    const preconditions = metadata.uid === undefined ? {} : { uid: metadata.uid };
    await client.delete(configMapType, metadata, { preconditions });
  }
  return own.length;
}
