import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import { Controller, type ControllerMetrics } from '../controller/controller.ts';
import type { Change } from '../controller/informer.ts';
import { Informer } from '../controller/informer.ts';
import { InformerGroup } from '../controller/informer-group.ts';
import { type QueueHooks, WorkQueue } from '../controller/queue.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import { priorityOf, type Recorder } from './context.ts';
import type { Account, ExternalKind } from './external/contract.ts';
import { IdentifiedFlow } from './external/flow.ts';
import type { Flow } from './flow.ts';
import { Memory } from './memory.ts';
import { PartsFlow } from './parts/flow.ts';
import type { PartsKind } from './parts/part.ts';
import { Reconciler } from './reconciler.ts';
import { References } from './references.ts';
import type { ManagedObject, ManagedSpec } from './resource.ts';
import { ObjectWriter } from './writer.ts';

/** What all kinds share. */
export interface ControllerOptions<Client> {
  /** Reads, on every replica. */
  readonly reader: KubeClient;
  /** Reads and writes, on the leader only. */
  readonly client: KubeClient;
  /** Empty for all. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string | undefined;
  readonly accountOf: (object: ManagedObject) => Account<Client>;
  readonly events: Recorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly concurrency: number;
  readonly resyncIntervalMs: number;
  readonly metrics: {
    reconciles(controller: string, workers: number): ControllerMetrics;
    queue(controller: string, state: () => WorkQueue): QueueHooks;
    drift(kind: string): () => void;
  };
}

/** Everything that runs for one kind. */
export interface KindController {
  readonly kind: string;
  readonly resources: InformerGroup<ManagedObject>;
  readonly controller: Controller;
  /** Reconciles until `leading` aborts, then finishes what is under way. Once only. */
  run(leading: AbortSignal): Promise<void>;
  /** Asks for a reconcile of the resources that `matches` picks, as after a change of their credentials. */
  enqueueWhere(matches: (object: ManagedObject) => boolean): void;
}

/** What differs between families of kinds. */
interface Family<Client> {
  readonly flow: Flow<Client>;
  readonly epochOf: (object: ManagedObject) => number;
}

/** The controller of a kind whose external id the service assigns. */
export function identifiedController<Spec extends ManagedSpec, Observed, Client>(
  kind: ExternalKind<Spec, Observed, Client>,
  options: ControllerOptions<Client> & { readonly createSettleMs: number },
): KindController {
  const { client, namespaces, createSettleMs, clock } = options;
  const listResources = () => listEverywhere(client, kind.type, namespaces);
  const flow = new IdentifiedFlow(kind, { listResources, createSettleMs, nonce: randomUUID });
  const epoch = clock.now();
  return kindController(kind.type, options, () => ({ flow, epochOf: () => epoch }));
}

/** The controller of a kind that is a set of parts of one parent. */
export function partsController<Spec extends ManagedSpec, Client>(
  kind: PartsKind<Spec, Client>,
  options: ControllerOptions<Client>,
): KindController {
  const { reader, clock, log } = options;
  const epoch = clock.now();
  return kindController(kind.type, options, (wake) => ({
    flow: new PartsFlow(kind, new References({ reader, clock, log, wake })),
    // Checks of parts are calls of their own: spread over the interval, so that no two rounds bunch up.
    epochOf: (object) => epoch - spread(object.metadata.uid ?? ''),
  }));
}

/** Informers, queue, reconciler and controller of one kind, wired. `wake` asks for a reconcile of a key. */
export function kindController<Client>(
  type: ResourceType,
  options: ControllerOptions<Client>,
  family: (wake: (key: string) => void) => Family<Client>,
): KindController {
  const { client, metrics } = options;
  const name = type.kind.toLowerCase();
  const log = options.log.child({ controller: name, kind: type.kind });
  const resources = informersOf(type, options, log);
  const memory = new Memory();
  const queue: WorkQueue = new WorkQueue({ hooks: metrics.queue(name, () => queue) });
  const { flow, epochOf } = family((key) => queue.add(key, 'change'));
  const reconciler = new Reconciler<Client>(
    {
      ...options,
      log,
      cache: {
        get: (key) => resources.get(key),
        claimants: (claim) => resources.byIndex('claim', claim),
      },
      writer: new ObjectWriter(client, type, resources),
      memory,
      epochOf,
      onDriftCorrected: metrics.drift(type.kind),
    },
    flow,
  );
  resources.addIndex('claim', (object) => flow.claims(object));
  resources.onChange(({ type: change, object, initial }) => {
    if (change === 'delete') reconciler.forget(object);
    const urgency = initial ? priorityOf(object, memory.of(object.metadata.uid ?? '')) : 'change';
    queue.add(keyOf(object), urgency);
  });
  // What lost a conflict with this one may take over when it lets go, by whoever's hand.
  const released = ({ type: change, object, old }: Pick<Change<ManagedObject>, 'type' | 'object' | 'old'>) =>
    change === 'delete' ? flow.claims(object) : old === undefined ? [] : flow.claims(old);
  resources.onChange(
    (change) => {
      if (change.type !== 'delete') reconciler.note(change.object);
      for (const rival of released(change).flatMap((claim) => resources.byIndex('claim', claim))) {
        if (keyOf(rival) !== keyOf(change.object)) queue.add(keyOf(rival), 'change');
      }
    },
    { ownWrites: true },
  );
  const controller = new Controller({
    name,
    queue,
    concurrency: options.concurrency,
    log,
    metrics: metrics.reconciles(name, options.concurrency),
    reconcile: ({ key, id, signal }) => reconciler.reconcile(key, id, signal),
  });
  const enqueueWhere = (matches: (object: ManagedObject) => boolean) => {
    for (const object of resources.list()) if (matches(object)) queue.add(keyOf(object), 'change');
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
      flow.close();
    }
  };
  return { kind: type.kind, resources, controller, run, enqueueWhere };
}

function informersOf(
  type: ResourceType,
  options: Pick<ControllerOptions<never>, 'reader' | 'namespaces' | 'labelSelector' | 'clock'>,
  log: Log,
): InformerGroup<ManagedObject> {
  const { reader, namespaces, labelSelector, clock } = options;
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  return new InformerGroup(
    scopes.map((namespace) => new Informer({ client: reader, type, namespace, labelSelector, clock, log })),
  );
}

/** Every resource of the kind: of a sharded operator the controller has some, others may refer to any. */
export function everyShard(
  type: ResourceType,
  options: Omit<ControllerOptions<never>, 'accountOf'>,
  controller: KindController,
): InformerGroup<ManagedObject> {
  if (options.labelSelector === undefined) return controller.resources;
  return informersOf(type, { ...options, labelSelector: undefined }, options.log);
}

/** Whatever shard it belongs to: an object that another shard's resource holds is not free to be adopted. */
async function listEverywhere(
  client: KubeClient,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<readonly ManagedObject[]> {
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  const lists = await Promise.all(scopes.map((namespace) => client.listAll<ManagedObject>(type, { namespace })));
  return lists.flatMap((list) => list.items);
}

/** 0 to 2^32, evenly: a part of any interval. */
export function spread(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE();
}
