import type { Call } from '../../common/call.ts';
import type { Log, LogFields } from '../../common/log.ts';
import { Restorations } from '../../common/restorations.ts';
import type { Runtime } from '../../common/runtime.ts';
import {
  Controller,
  type ControllerMetrics,
  type ReconcileRequest,
  type ReconcileResult,
} from '../controller/controller.ts';
import type { Change } from '../controller/informer.ts';
import type { InformerGroup } from '../controller/informer-group.ts';
import { type QueueHooks, WorkQueue } from '../controller/queue.ts';
import { versionOf } from '../controller/version.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import type { Connection } from './connections/connection.ts';
import type { Placement, RecordShard } from './connections/placement.ts';
import type { Census } from './external/census.ts';
import type { Flow } from './flow.ts';
import { priorityOf } from './occasion.ts';
import type { Installation } from './ownership/installation.ts';
import { Peers, type PeersOptions } from './ownership/peers.ts';
import { releasedBy } from './ownership/released.ts';
import { Reconciler } from './reconciler.ts';
import type { Referents } from './referents/referents.ts';
import { type InformerOptions, informersOf, wholeOf } from './resource/informers.ts';
import { canonical } from './resource/json.ts';
import { Memory } from './resource/memory.ts';
import type { ManagedObject } from './resource/resource.ts';
import { holdsNothing, ObjectWriter } from './resource/writer.ts';
import { Schedule, type ScheduleOptions } from './schedule.ts';
import type { Recorder } from './status/events.ts';

/** What all kinds share. */
export interface KindOptions<Client> extends Runtime, InformerOptions {
  /** Reads and writes, on who leads only. */
  readonly client: KubeClient;
  /** Throws DependencyError when what a resource uses cannot be used. */
  readonly connectionOf: (object: ManagedObject) => Connection<Client>;
  /** What a resource uses, for its lines in the log. */
  readonly uses?: (object: ManagedObject) => LogFields;
  /** Whether what a resource claims can be its own; default always. */
  readonly mayHold?: (object: ManagedObject) => boolean;
  /** What resources of any kind refer to. */
  readonly referents: Referents;
  readonly events: Recorder;
  readonly log: Log;
  readonly concurrency: number;
  readonly resyncIntervalMs: number;
  /** How long after a create of unknown fate the service may still be carrying it out. */
  readonly createSettleMs: number;
  readonly installation: Installation;
  /** Of all accounts. */
  readonly census: Census;
  readonly accountOf?: PeersOptions['accountOf'];
  readonly placement: Placement;
  /**
   * Gives a resource that belongs elsewhere to who has that shard: in how many ms it is to be looked at again, by whoever
   * has it then; undefined where it belongs here. Default all do.
   */
  readonly relocate?: (
    object: ManagedObject,
    place: RecordShard,
    call: Pick<Call, 'away'>,
  ) => Promise<number | undefined>;
  readonly metrics: {
    reconciles(controller: string, workers: number): ControllerMetrics;
    queue(controller: string, state: () => WorkQueue): QueueHooks;
    drift(kind: string): () => void;
  };
}

/** What the composition root gives to every family. */
export type SharedOptions = Omit<KindOptions<never>, 'connectionOf' | 'accountOf' | 'placement'>;

/** Everything that runs for one kind. */
export interface KindController {
  readonly kind: string;
  readonly type: ResourceType;
  /** Nothing of its resources is ever to be removed outside. */
  readonly leavesNothing: boolean;
  readonly resources: InformerGroup<ManagedObject>;
  readonly controller: Controller;
  /** Reconciles what is of a shard that this process has, until `signal` aborts. Once only. */
  run(signal: AbortSignal): Promise<void>;
  /** This process has the shard from now on. */
  take(shard: number): void;
  /** It has it no more: finishes what is under way there, and forgets what it knows of it. */
  drop(shard: number): Promise<void>;
  /**
   * Asks for a reconcile of those of its resources, as after a change of their credentials; not of those that are over. What
   * is no news to one, by `isNews`, is as urgent as when it was met; default it is.
   */
  enqueue(resources: readonly ManagedObject[], isNews?: (object: ManagedObject) => boolean): void;
}

/** What differs between kinds: their flow, and the moment that a resource's drift checks are counted from. */
interface KindFlow<Client> {
  readonly flow: Flow<Client>;
  readonly epochOf: ScheduleOptions['epochOf'];
}

/** Those that wait for the same connection take memory, a few KB each, however many there are. */
const mostInLane = 64;

/** Who replaces a resource by a manifest without records every minute is answered each time: that costs a write. */
const calmOfRecordsMs = 30_000;

/** What a resource waits for, and whose it is: of its namespace those that use one connection. */
function laneIn(resources: InformerGroup<ManagedObject>, placement: Placement): (key: string) => string {
  return (key) => {
    const object = resources.get(key);
    return object === undefined ? '' : `${object.metadata.namespace} ${placement.shareOf(object).connection}`;
  };
}

/** Informers, queue, reconciler and controller of one kind, wired. `enqueue` asks for a reconcile of a key. */
export function kindController<Client>(
  type: ResourceType,
  options: KindOptions<Client>,
  flowOf: (enqueue: (key: string) => void) => KindFlow<Client>,
): KindController {
  const { client, metrics, monotonic, random, uuid } = options;
  const name = type.kind.toLowerCase();
  const log = options.log.child({ controller: name, kind: type.kind });
  const resources = informersOf(type, options, log);
  const memory = new Memory();
  const lanes = { of: laneIn(resources, options.placement), most: Math.max(mostInLane, options.concurrency) };
  const queue: WorkQueue = new WorkQueue({ monotonic, random, hooks: metrics.queue(name, () => queue), lanes });
  const { flow, epochOf } = flowOf((key) => queue.add(key, 'change'));
  const { connectionOf, accountOf, installation, events, resyncIntervalMs, placement, uses } = options;
  const now = () => monotonic.now();
  const index = {
    get: (key: string) => resources.get(key),
    list: () => resources.list(),
    claimants: (claim: string) => resources.byIndex('claim', claim),
  };
  const peers = new Peers({ index, memory, accountOf });
  const writer = new ObjectWriter(client, type, resources, () => installation.name);
  const reconciler = new Reconciler<Client>(
    {
      cache: { get: (key) => resources.get(key), whole: (object) => wholeOf(options.reader, type, object) },
      writer,
      peers,
      time: { now, wall: () => options.clock.now() },
      schedule: new Schedule({ now, resyncIntervalMs, epochOf }),
      restorations: new Restorations({ monotonic, random, calmMs: calmOfRecordsMs }),
      isMine: (object) => placement.isMine(object),
      ...{ connectionOf, memory, installation, events, log, uses, onDriftCorrected: metrics.drift(type.kind) },
    },
    flow,
  );
  const claimsOf = (object: ManagedObject) =>
    options.mayHold?.(object) === false ? [] : (flow.claims?.(object) ?? []);
  resources.addIndex('claim', (object) => (holdsNothing(object) ? [] : claimsOf(object)));
  const urgencyOf = (object: ManagedObject) => priorityOf(object, memory.of(object.metadata.uid ?? ''));
  const { relocate } = options;
  const isOurs = (object: ManagedObject) => placement.isCharge?.(object) ?? placement.isMine(object);
  resources.onChange(({ type: change, object, old, initial }) => {
    if (change === 'delete') reconciler.gone(object);
    const urgency = initial ? urgencyOf(object) : 'change';
    if (change === 'delete' || isSuperseded(old, object)) controller.supersede(keyOf(object), urgency);
    else if (isOurs(object)) queue.add(keyOf(object), urgency);
  });
  const releasing = {
    claimsOf,
    claimants: index.claimants,
    isOneAccount: (one: ManagedObject, other: ManagedObject) => peers.isOneAccount(one, other),
  };
  resources.onChange(
    (change) => {
      if (change.type !== 'delete') reconciler.note(change.object, isOlder(change));
      for (const rival of releasedBy(change, releasing)) {
        if (keyOf(rival) !== keyOf(change.object) && isOurs(rival)) queue.add(keyOf(rival), 'change');
      }
    },
    { ownWrites: true },
  );
  const relocated = async ({ key, away }: ReconcileRequest): Promise<ReconcileResult | undefined> => {
    const object = resources.get(key);
    const inMs = object && (await relocate?.(object, (shard) => writer.place(object, shard), { away }));
    return inMs === undefined ? undefined : { kind: 'after', ms: inMs, priority: 'change' };
  };
  const controller: Controller = new Controller({
    name,
    queue,
    concurrency: options.concurrency,
    ...{ monotonic, random, uuid, log },
    metrics: metrics.reconciles(name, options.concurrency),
    shareOf: (key) => {
      const object = resources.get(key);
      return object && isOurs(object) ? placement.shareOf(object) : undefined;
    },
    reconcile: async (request) => (await relocated(request)) ?? reconciler.reconcile(request),
  });
  const enqueue: KindController['enqueue'] = (these, isNews = () => true) => {
    for (const object of these) {
      if (!isOurs(object) || flow.isOver?.(object) === true) continue;
      queue.add(keyOf(object), isNews(object) ? 'change' : urgencyOf(object));
    }
  };
  const of = (shard: number) => resources.list().filter((object) => placement.shareOf(object).shard === shard);
  const take = (shard: number) => {
    for (const object of of(shard)) {
      reconciler.note(object, true);
      queue.add(keyOf(object), urgencyOf(object));
    }
  };
  const drop = async (shard: number) => {
    await controller.drain((share) => share.shard === shard);
    // Others go on from here: what is remembered of it is true no longer.
    for (const object of of(shard)) reconciler.forget(object);
  };
  const run = async (signal: AbortSignal) => {
    try {
      const synced = await resources.whenSynced(signal).then(
        () => true,
        () => false,
      );
      if (synced) await controller.run(signal, signal);
    } finally {
      queue.close();
      flow.close?.();
    }
  };
  const leavesNothing = flow.remove === undefined;
  return { kind: type.kind, type, leavesNothing, resources, controller, run, take, drop, enqueue };
}

/** Something that a reconcile goes by is not as it was; statuses and labels are not. */
function isSuperseded(old: ManagedObject | undefined, object: ManagedObject): boolean {
  if (old === undefined) return false;
  const read = ({ metadata: { uid, generation, deletionTimestamp, annotations } }: ManagedObject) =>
    canonical([uid, generation, deletionTimestamp, annotations]);
  return read(old) !== read(object);
}

/** Kubernetes went back to a backup: what is on record is of then. */
function isOlder({ object, old }: Change<ManagedObject>): boolean {
  return old !== undefined && versionOf(object) < versionOf(old);
}
