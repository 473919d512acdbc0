import type { Turn } from '../context.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import type { ExternalKind } from './contract.ts';
import type { Ledger } from './pending-creates.ts';

export interface IdentifiedOptions {
  /** Every resource of the kind in the cluster, read afresh and whatever shard it belongs to. */
  readonly listResources: () => Promise<readonly ManagedObject[]>;
  readonly nonce: () => string;
  /** How long after a create of unknown fate the service may still be carrying it out. */
  readonly createSettleMs: number;
}

/** A turn of a kind whose external id the service assigns. */
export interface IdentifiedTurn<Spec extends ManagedSpec, Observed, Client> extends Turn<Client>, IdentifiedOptions {
  readonly kind: ExternalKind<Spec, Observed, Client>;
  readonly ledger: Ledger<Observed>;
}
