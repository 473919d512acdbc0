import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import type { Call } from '../../common/priority.ts';
import type { KubeObject } from '../kube/types.ts';
import type { Connection } from './connection.ts';
import type { Memory } from './memory.ts';
import type { Neighbours } from './neighbours.ts';
import type { ManagedObject } from './resource.ts';
import { lastDue } from './schedule.ts';
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
