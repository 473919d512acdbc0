import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import type { Call, Priority, Reserved } from '../../common/priority.ts';
import type { KubeObject } from '../kube/types.ts';
import { annotation, annotationOf } from './annotations.ts';
import type { Facts, Memory } from './memory.ts';
import type { Neighbours } from './neighbours.ts';
import type { Reason } from './reasons.ts';
import { conditionOf, type ManagedObject } from './resource.ts';
import type { ObjectWriter } from './writer.ts';

/** The cached custom resources of the kind. Never older than this process's own last write. */
export interface ResourceCache {
  /** Without what is large in it. */
  get(key: string): ManagedObject | undefined;
  /** The same resource with all that it holds; undefined when it has gone meanwhile. */
  whole(object: ManagedObject): Promise<ManagedObject | undefined>;
  /** Everything that claims the same external object; `claim` as made by claimOf. */
  claimants(claim: string): readonly ManagedObject[];
  list(): readonly ManagedObject[];
}

/** An account of the cloud, or an agent: a client, and everything that is shared by those who use it. */
export interface Connection<Client> {
  /** Unique in this operator; that of the default account is `default`. */
  readonly key: string;
  readonly client: Client;
  /** The address of the service. */
  readonly url?: string;
  /** Aborts when it closes; absent where it never does. */
  readonly closed?: AbortSignal;
  /** What the service's clock shows now, in milliseconds since the epoch, by its answers; undefined before the first. */
  serviceTime?(): number | undefined;
  /** When its key was put in force, on the monotonic clock: what was seen before may be another account's. */
  readonly since?: number | undefined;
  /** When a person confirmed that what vanished from the account is gone, on the monotonic clock. */
  confirmedAt?: number | undefined;
  /** Waits for the turn of a call ahead of it; absent where calls take none. */
  reserve?(call: Call): Promise<Reserved>;
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
export interface ReconcilerOptions<Client> {
  readonly cache: ResourceCache;
  /** Throws DependencyError when what a resource uses cannot be used. */
  readonly connectionOf: (object: ManagedObject) => Connection<Client>;
  readonly writer: ObjectWriter;
  readonly events: Recorder;
  readonly memory: Memory;
  /** Of the wall: for what is written. */
  readonly clock: Clock;
  /** For order and durations: it is never set. */
  readonly monotonic: Clock;
  readonly log: Log;
  readonly resyncIntervalMs: number;
  /** How long the service may take to carry out what it did not answer. */
  readonly createSettleMs: number;
  /**
   * The moment that a resource's drift checks are counted from. The same for all where one sweep serves all; spread
   * over the interval where each resource takes calls of its own.
   */
  readonly epochOf: (object: ManagedObject) => number;
  readonly onDriftCorrected?: () => void;
  /** What this installation of the operator is known by. */
  readonly installation: () => string;
  /** Takes over what other installations, or other addresses, have on record. */
  readonly takeOver: boolean;
  /** Which other installations are at work. */
  readonly neighbours: Neighbours;
  /** What the account of a resource really is: the same for one key at one address, whatever its names. */
  readonly accountOf: (object: ManagedObject) => string;
}

/** One reconcile of one resource: what was true when it began. */
export interface ReconcileContext<Client> extends ReconcilerOptions<Client> {
  readonly object: ManagedObject;
  readonly uid: string;
  readonly connection: Connection<Client>;
  readonly call: Call;
  readonly startedAt: number;
  /** A person asked for something that no reconcile has answered yet. */
  readonly requested: boolean;
  /** A difference now is drift, not a change that a person made to the spec. */
  readonly drift: boolean;
}

export function isDeleting(object: ManagedObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Whatever it says but no: what somebody meant to pause is rather left alone. */
export function isPaused(object: ManagedObject): boolean {
  return !/^(false|no|off|0)?$/i.test(annotationOf(object, annotation.paused) ?? '');
}

/** The value of reconcile-at that was not acted on yet. */
export function unhandledReconcileAt(object: ManagedObject): string | undefined {
  const wanted = annotationOf(object, annotation.reconcileAt);
  return wanted === object.status?.lastHandledReconcileAt ? undefined : wanted;
}

export function isRequested(object: ManagedObject): boolean {
  if (isDeleting(object) || unhandledReconcileAt(object) !== undefined) return true;
  if (annotationOf(object, annotation.externalID) !== lookedFor(object)) return true;
  const ready = conditionOf(object, 'Ready');
  return ready?.observedGeneration !== object.metadata.generation || ready?.reason === 'Paused';
}

/** The external id that the last reconcile looked for. */
function lookedFor({ status }: ManagedObject): string | undefined {
  return status?.lastHandledExternalID ?? (status?.id as string | undefined);
}

/** Reasons under which something that a person requested for is still to be done. */
const pending: ReadonlySet<string> = new Set<Reason>([
  'Creating',
  'Updating',
  'DependencyNotReady',
  'RateLimited',
  'Unauthorized',
  'Unreachable',
]);

/** Those under which drift checks fail too, all at once. */
const outages: ReadonlySet<string> = new Set<Reason>(['RateLimited', 'Unreachable']);

export function priorityOf(object: ManagedObject, facts: Facts): Priority {
  const reason = conditionOf(object, 'Ready')?.reason ?? '';
  const done = outages.has(reason) && facts.realizedGeneration === object.metadata.generation;
  if (isRequested(object) || (pending.has(reason) && !done)) return 'change';
  return facts.observed === true ? 'resync' : 'first';
}

/** The external object was once as this generation asks: a difference now came from elsewhere. */
export function isDrift(object: ManagedObject, facts: Facts): boolean {
  const { generation } = object.metadata;
  const ready = conditionOf(object, 'Ready');
  const reported = ready?.status === 'True' && ready.observedGeneration === generation;
  return reported || facts.realizedGeneration === generation;
}

/** What was observed from this moment on answers the context: what a person requested for is to be looked at afresh. */
export function freshSince<Client>(context: ReconcileContext<Client>): number {
  if (context.requested) return context.startedAt;
  return Math.max(
    lastDue(context, context.object),
    context.memory.of(context.uid).failedAt ?? Number.NEGATIVE_INFINITY,
  );
}

/** As `freshSince`, where a failure says nothing of what was seen before. */
export function dueSince<Client>({ connection, object, ...options }: ReconcileContext<Client>): number {
  return Math.max(lastDue(options, object), connection.since ?? Number.NEGATIVE_INFINITY);
}

type ScheduleOptions = Pick<ReconcilerOptions<never>, 'epochOf' | 'monotonic' | 'resyncIntervalMs'>;

/** The last moment at which the resource was due for a drift check. */
export function lastDue(options: ScheduleOptions, object: ManagedObject): number {
  const now = options.monotonic.now();
  const interval = resyncIntervalOf(object, options.resyncIntervalMs);
  const elapsed = (now - options.epochOf(object)) % interval;
  return now - (elapsed < 0 ? elapsed + interval : elapsed);
}

export function msUntilDue(options: ScheduleOptions, object: ManagedObject): number {
  return lastDue(options, object) + resyncIntervalOf(object, options.resyncIntervalMs) - options.monotonic.now();
}

function resyncIntervalOf(object: ManagedObject, fallbackMs: number): number {
  const seconds = object.spec.resyncIntervalSeconds;
  return typeof seconds === 'number' ? Math.max(30, seconds) * 1_000 : fallbackMs;
}
