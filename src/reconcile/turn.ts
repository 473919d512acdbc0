import type { Clock } from '../clock.ts';
import type { KubeObject } from '../kube/types.ts';
import type { Log } from '../telemetry/log.ts';
import { annotation, annotationOf } from './annotations.ts';
import type { Account, Call, ExternalKind, Priority } from './external.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from './fields.ts';
import type { Ledger } from './ledger.ts';
import type { Facts, Memory } from './memory.ts';
import type { Reason } from './reasons.ts';
import type { ObjectWriter } from './writer.ts';

/** The cached custom resources of the kind. Never older than this process's own last write. */
export interface ResourceCache {
  get(key: string): ManagedObject | undefined;
  /** Everything that claims the same external object; `claim` as made by claimOf. */
  claimants(claim: string): readonly ManagedObject[];
}

export interface Recorder {
  record(event: {
    regarding: KubeObject;
    type: 'Normal' | 'Warning';
    reason: string;
    action: string;
    note: string;
  }): void;
}

/** What the reconciler of one kind works with. */
export interface Tools<Spec extends ManagedSpec, Observed, Client> {
  readonly kind: ExternalKind<Spec, Observed, Client>;
  readonly cache: ResourceCache;
  /** Every resource of the kind in the cluster, read afresh and whatever shard it belongs to. */
  readonly listResources: () => Promise<readonly ManagedObject[]>;
  /** Throws DependencyError when the account that a resource names cannot be used. */
  readonly accountOf: (object: ManagedObject) => Account<Client>;
  readonly writer: ObjectWriter;
  readonly events: Recorder;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly nonce: () => string;
  readonly log: Log;
  readonly resyncIntervalMs: number;
  /** How long after a create of unknown fate the service may still be carrying it out. */
  readonly createSettleMs: number;
  /** When this process began: drift checks of equal intervals fall on the same moments, so that they share a sweep. */
  readonly epoch: number;
  readonly onDriftCorrected?: () => void;
}

/** One reconcile of one resource: what was true when it began. */
export interface Turn<Spec extends ManagedSpec, Observed, Client> extends Tools<Spec, Observed, Client> {
  readonly object: ManagedObject;
  readonly uid: string;
  readonly account: Account<Client>;
  readonly ledger: Ledger<Observed>;
  readonly call: Call;
  readonly startedAt: number;
  /** A person asked for something that no reconcile has answered yet. */
  readonly asked: boolean;
  /** A difference now is drift, not a change that a person made to the spec. */
  readonly drift: boolean;
}

export function isDeleting(object: ManagedObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function isPaused(object: ManagedObject): boolean {
  return annotationOf(object, annotation.paused) === 'true';
}

/** The value of reconcile-at that was not acted on yet. */
export function unhandledReconcileAt(object: ManagedObject): string | undefined {
  const wanted = annotationOf(object, annotation.reconcileAt);
  return wanted === object.status?.lastHandledReconcileAt ? undefined : wanted;
}

export function isAsked(object: ManagedObject): boolean {
  if (isDeleting(object) || unhandledReconcileAt(object) !== undefined) return true;
  const recorded = annotationOf(object, annotation.externalID);
  if (recorded !== object.status?.id) return true;
  const ready = conditionOf(object, 'Ready');
  return ready?.observedGeneration !== object.metadata.generation || ready?.reason === 'Paused';
}

/** Reasons under which something that a person asked for is still to be done. */
const pending: ReadonlySet<string> = new Set<Reason>([
  'Creating',
  'Updating',
  'DependencyNotReady',
  'RateLimited',
  'Unauthorized',
  'Unreachable',
]);

export function priorityOf(object: ManagedObject, facts: Facts): Priority {
  if (isAsked(object) || pending.has(conditionOf(object, 'Ready')?.reason ?? '')) return 'change';
  return facts.observed === true ? 'resync' : 'first';
}

/** The external object was once as this generation asks: a difference now came from elsewhere. */
export function isDrift(object: ManagedObject, facts: Facts): boolean {
  const { generation } = object.metadata;
  const ready = conditionOf(object, 'Ready');
  const reported = ready?.status === 'True' && ready.observedGeneration === generation;
  return reported || facts.realizedGeneration === generation;
}

export function resyncIntervalOf(object: ManagedObject, fallbackMs: number): number {
  const seconds = object.spec.resyncIntervalSeconds;
  return typeof seconds === 'number' ? Math.max(30, seconds) * 1_000 : fallbackMs;
}

/** The last moment at which resources of this interval were due for a drift check. */
export function lastDue(epoch: number, intervalMs: number, now: number): number {
  return now - ((now - epoch) % intervalMs);
}
