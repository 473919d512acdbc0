import type { KubeClient } from '../kube/client.ts';
import {
  type ConfigMap,
  configMapType,
  isEndpointName,
  isWhole,
  type Maker,
  mirrorLabels,
  originOf,
  selectorOf,
} from './config-map.ts';

/**
 * Deletes the ConfigMaps of a mirror that will not run again, because its account goes or its mirror was turned off.
 * Resolves with how many there were; throws what the client throws, and may then be called again.
 */
export async function removeMirrored(
  client: KubeClient,
  namespace: string,
  maker: Maker,
  takeOver = false,
): Promise<number> {
  const labelSelector = selectorOf(mirrorLabels(maker.account));
  const { items } = await client.listAll<ConfigMap>(configMapType, { namespace, labelSelector });
  const own = items.filter((item) => isEndpointName(item.metadata.name) && isMadeBy(maker, item, takeOver));
  for (const { metadata } of own) {
    const preconditions = metadata.uid === undefined ? {} : { uid: metadata.uid };
    await client.delete(configMapType, metadata, { preconditions });
  }
  return own.length;
}

/** By an earlier version, which put no mark on it, or by another installation, whose place is taken. */
function isMadeBy(maker: Maker, configMap: ConfigMap, takeOver: boolean): boolean {
  const origin = originOf(configMap, maker);
  return origin === 'ours' || ((origin === 'unmarked' || takeOver) && isWhole(configMap));
}
