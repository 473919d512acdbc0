import type { ManagedObject } from '../resource/resource.ts';
import type { Census } from './census.ts';

/** What the flow of a kind is given, and all that is made for one reconcile. */
export interface ExternalFlowOptions {
  /** Every resource of the kind in the cluster, read afresh. */
  readonly listResources: () => Promise<readonly ManagedObject[]>;
  /** How long after a create of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
  /** Of all kinds. */
  readonly census: Census;
}
