import { createHash } from 'node:crypto';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Controller, type ControllerMetrics } from '../controller/controller.ts';
import type { Change } from '../controller/informer.ts';
import { Informer } from '../controller/informer.ts';
import { InformerGroup } from '../controller/informer-group.ts';
import { type QueueHooks, WorkQueue } from '../controller/queue.ts';
import type { KubeClient } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import { isWhole, withoutBulk, withoutForeign } from './bulk.ts';
import { type Connection, priorityOf, type ReconcilerOptions, type Recorder } from './context.ts';
import type { Census } from './external/census.ts';
import type { Flow } from './flow.ts';
import { canonical } from './json.ts';
import { Memory } from './memory.ts';
import type { Neighbours } from './neighbours.ts';
import { DependencyError } from './outcome.ts';
import { accountKeyOf } from './ownership.ts';
import { Reconciler } from './reconciler.ts';
import type { Referents } from './referents/referents.ts';
import type { ManagedObject } from './resource.ts';
import { ObjectWriter } from './writer.ts';

/** What all kinds share. */
export interface KindOptions<Client> extends Runtime {
  /** Reads, on every replica. */
  readonly reader: KubeClient;
  /** Reads and writes, on the leader only. */
  readonly client: KubeClient;
  /** Empty for all. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string | undefined;
  /** Throws DependencyError when what a resource uses cannot be used. */
  readonly connectionOf: (object: ManagedObject) => Connection<Client>;
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
  readonly neighbours: Neighbours;
  /** Of all accounts. */
  readonly census: Census;
  /** What the account of a resource really is: the same for one key at one address, whatever its names. */
  readonly accountOf: (object: ManagedObject) => string;
  /** What this installation of the operator is known by; not asked for before this process leads. */
  readonly installation: () => string;
  /** Whether what other installations hold is taken over. */
  readonly takeOver: boolean;
  readonly metrics: {
    reconciles(controller: string, workers: number): ControllerMetrics;
    queue(controller: string, state: () => WorkQueue): QueueHooks;
    drift(kind: string): () => void;
  };
}

/** What the composition root gives to every family. */
export type SharedOptions = Omit<KindOptions<never>, 'connectionOf' | 'accountOf'>;

/** Everything that runs for one kind. */
export interface KindController {
  readonly kind: string;
  readonly type: ResourceType;
  /** Nothing of its resources is ever to be removed outside. */
  readonly leavesNothing: boolean;
  readonly resources: InformerGroup<ManagedObject>;
  readonly controller: Controller;
  /** Reconciles until `leading` aborts, then finishes what is under way. Once only. */
  run(leading: AbortSignal): Promise<void>;
  /** Asks for a reconcile of the resources that `matches` picks, as after a change of their credentials; not of those that are over. */
  enqueueWhere(matches: (object: ManagedObject) => boolean): void;
}

/** What differs between kinds: their flow, and the moment that a resource's drift checks are counted from. */
interface KindFlow<Client> {
  readonly flow: Flow<Client>;
  readonly epochOf: ReconcilerOptions<Client>['epochOf'];
}

/** Those that wait for the same connection take memory, a few KB each, however many there are. */
const mostInLane = 64;

/** What a resource waits for, and whose it is: of its namespace those that use one connection. */
function laneIn<Client>(
  resources: InformerGroup<ManagedObject>,
  { connectionOf }: Pick<KindOptions<Client>, 'connectionOf'>,
): (key: string) => string {
  return (key) => {
    const object = resources.get(key);
    if (object === undefined) return '';
    try {
      return `${object.metadata.namespace} ${connectionOf(object).key}`;
    } catch (error) {
      // It may be usable by the time that the resource waits for it.
      if (error instanceof DependencyError) return `${object.metadata.namespace} ${accountKeyOf(object)}`;
      throw error;
    }
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
  const lanes = { of: laneIn(resources, options), most: Math.max(mostInLane, options.concurrency) };
  const queue: WorkQueue = new WorkQueue({ monotonic, random, hooks: metrics.queue(name, () => queue), lanes });
  const { flow, epochOf } = flowOf((key) => queue.add(key, 'change'));
  const reconciler = new Reconciler<Client>(
    {
      ...options,
      log,
      cache: {
        get: (key) => resources.get(key),
        whole: (object) => wholeOf(options.reader, type, object),
        claimants: (claim) => resources.byIndex('claim', claim),
        list: () => resources.list(),
      },
      writer: new ObjectWriter(client, type, resources, options.installation),
      memory,
      epochOf,
      onDriftCorrected: metrics.drift(type.kind),
    },
    flow,
  );
  const claimsOf = (object: ManagedObject) =>
    options.mayHold?.(object) === false ? [] : (flow.claims?.(object) ?? []);
  resources.addIndex('claim', claimsOf);
  resources.onChange(({ type: change, object, old, initial }) => {
    if (change === 'delete') reconciler.forget(object);
    const urgency = initial ? priorityOf(object, memory.of(object.metadata.uid ?? '')) : 'change';
    if (change === 'delete' || isSuperseded(old, object)) controller.supersede(keyOf(object), urgency);
    else queue.add(keyOf(object), urgency);
  });
  // What lost a conflict with this one may take over when it lets go, by whoever's hand.
  const released = ({ type: change, object, old }: Pick<Change<ManagedObject>, 'type' | 'object' | 'old'>) =>
    change === 'delete' ? claimsOf(object) : old === undefined ? [] : claimsOf(old);
  resources.onChange(
    (change) => {
      if (change.type !== 'delete') reconciler.note(change.object);
      for (const rival of released(change).flatMap((claim) => resources.byIndex('claim', claim))) {
        if (keyOf(rival) !== keyOf(change.object)) queue.add(keyOf(rival), 'change');
      }
    },
    { ownWrites: true },
  );
  const controller: Controller = new Controller({
    name,
    queue,
    concurrency: options.concurrency,
    ...{ monotonic, random, uuid, log },
    metrics: metrics.reconciles(name, options.concurrency),
    reconcile: (request) => reconciler.reconcile(request),
  });
  const enqueueWhere = (matches: (object: ManagedObject) => boolean) => {
    for (const object of resources.list())
      if (matches(object) && flow.isOver?.(object) !== true) queue.add(keyOf(object), 'change');
  };
  const run = async (leading: AbortSignal) => {
    try {
      const synced = await resources.whenSynced(leading).then(
        () => true,
        () => false,
      );
      if (synced) await controller.run(leading, leading);
    } finally {
      queue.close();
      flow.close?.();
    }
  };
  const leavesNothing = flow.remove === undefined;
  return { kind: type.kind, type, leavesNothing, resources, controller, run, enqueueWhere };
}

/** A large resource is read anew; a namesake that took its place is another one. */
async function wholeOf(
  reader: KubeClient,
  type: ResourceType,
  object: ManagedObject,
): Promise<ManagedObject | undefined> {
  if (isWhole(object)) return object;
  const read = await reader.get<ManagedObject>(type, object.metadata);
  return read?.metadata.uid === object.metadata.uid ? read && withoutForeign(read) : undefined;
}

/** Something that a reconcile goes by is not as it was; statuses and labels are not. */
function isSuperseded(old: ManagedObject | undefined, object: ManagedObject): boolean {
  if (old === undefined) return false;
  const read = ({ metadata: { uid, generation, deletionTimestamp, annotations } }: ManagedObject) =>
    canonical([uid, generation, deletionTimestamp, annotations]);
  return read(old) !== read(object);
}

function informersOf(
  type: ResourceType,
  options: Pick<KindOptions<never>, 'reader' | 'namespaces' | 'labelSelector' | 'clock' | 'random'>,
  log: Log,
): InformerGroup<ManagedObject> {
  const { reader: client, namespaces, labelSelector, clock, random } = options;
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  return new InformerGroup(
    scopes.map(
      (namespace) =>
        new Informer({ client, type, namespace, labelSelector, transform: withoutBulk, clock, random, log }),
    ),
  );
}

/** Every resource of the kind: of a sharded operator the controller has some, others may refer to any. */
export function everyShard(controller: KindController, options: SharedOptions): InformerGroup<ManagedObject> {
  if (options.labelSelector === undefined) return controller.resources;
  return informersOf(controller.type, { ...options, labelSelector: undefined }, options.log);
}

/**
 * Every resource of the kind that there is, by a fresh list: an object that another shard's resource holds, or that of
 * another installation, is not free to be adopted. Where only some namespaces may be read, of those; one that may not, as
 * after it was deleted, holds up no other.
 */
export async function listEverywhere(
  client: KubeClient,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<readonly ManagedObject[]> {
  try {
    return (await client.listAll<ManagedObject>(type, { keep: withoutBulk })).items;
  } catch (error) {
    if (namespaces.length === 0 || !isForbidden(error)) throw error;
    const lists = await Promise.allSettled(
      namespaces.map((namespace) => client.listAll<ManagedObject>(type, { namespace, keep: withoutBulk })),
    );
    const failed = lists.filter((list) => list.status === 'rejected');
    const serious = failed.find(({ reason }) => failed.length === lists.length || !isForbidden(reason));
    if (serious !== undefined) throw serious.reason;
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value.items : []));
  }
}

/** 0 to 2^32, evenly: a part of any interval. */
export function spread(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE();
}
