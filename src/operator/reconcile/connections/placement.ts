import type { Share } from '../../controller/controller.ts';
import type { ManagedObject } from '../resource/resource.ts';

export type { Share } from '../../controller/controller.ts';

/** Of several replicas that share the work, which one a resource is for. */
export interface Placement {
  /** Where it belongs, whoever holds that. */
  shareOf(object: ManagedObject): Share;
  /** Whether this process may work on it now. */
  isMine(object: ManagedObject): boolean;
  /** Whether this process is to look at it, if only to give it to who may work on it; default {@link isMine}. */
  isCharge?(object: ManagedObject): boolean;
}

/** Writes into the status of a resource where it is from now on. */
export type RecordShard = (shard: string) => Promise<unknown>;

/** What no account stands behind, and what uses the operator's own: there is one of each, which one replica has. */
export const firstShard = 0;

/** The shards that this process works on. */
export type HeldShards = Pick<ReadonlySet<number>, 'has'>;
