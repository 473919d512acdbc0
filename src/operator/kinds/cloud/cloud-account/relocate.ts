import type { ReconcileResult } from '../../../controller/controller.ts';
import type { InformerGroup } from '../../../controller/informer-group.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import { keyOf, type ManagedObject } from '../../../reconcile/resource.ts';
import type { Homes } from '../accounts/homes.ts';
import { definition } from './schema.ts';

export interface RelocateOptions {
  readonly homes: Homes;
  readonly mirrors: Mirrors;
  readonly client: KubeClient;
  /** Nothing that uses the account is under way any more, once it resolves. */
  readonly drain: (account: string) => Promise<void>;
}

/**
 * Gives an account whose key belongs to another shard to who has that: ends what is under way for it, then writes where
 * it is from now on. Undefined for one that is where it belongs, and with this process.
 */
export async function relocate(
  { homes, mirrors, client, drain }: RelocateOptions,
  object: ManagedObject,
  resources: InformerGroup<ManagedObject>,
): Promise<ReconcileResult | undefined> {
  const relocation = homes.relocationOf(object);
  if (relocation === undefined) return undefined;
  if (relocation.inMs > 0) return { kind: 'after', ms: relocation.inMs, priority: 'change' };
  const key = keyOf(object);
  await Promise.all([drain(key), mirrors.stop(key)]);
  const { resourceVersion, uid } = object.metadata;
  const body = { metadata: { resourceVersion, uid }, status: { shard: homes.recordOf(relocation.to) } };
  const patch = () =>
    client.patch<ManagedObject>(definition.type, object.metadata, { type: 'merge', body }, { subresource: 'status' });
  try {
    await resources.write(key, patch);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return homes.ofAccounts.isMine(resources.get(key) ?? object) ? undefined : { kind: 'done' };
}
