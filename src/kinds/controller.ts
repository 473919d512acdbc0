import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { Controller, type ControllerMetrics } from '../controller/controller.ts';
import { Informer } from '../controller/informer.ts';
import { InformerGroup } from '../controller/informer-group.ts';
import { type QueueHooks, WorkQueue } from '../controller/queue.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyOf } from '../kube/types.ts';
import { claimOf } from '../reconcile/claims.ts';
import type { Account, ExternalKind } from '../reconcile/external.ts';
import type { ManagedObject, ManagedSpec } from '../reconcile/fields.ts';
import { Memory } from '../reconcile/memory.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { priorityOf, type Recorder } from '../reconcile/turn.ts';
import { ObjectWriter } from '../reconcile/writer.ts';
import type { Log } from '../telemetry/log.ts';

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
  readonly createSettleMs: number;
  readonly metrics: {
    reconciles(controller: string, workers: number): ControllerMetrics;
    queue(controller: string, state: () => WorkQueue): QueueHooks;
    driftCorrected(kind: string): void;
  };
}

/** Everything that runs for one kind. */
export interface KindController {
  readonly kind: string;
  readonly resources: InformerGroup<ManagedObject>;
  readonly controller: Controller;
  /** Reconciles until `leading` aborts, then finishes what is under way. Once only. */
  run(leading: AbortSignal): Promise<void>;
  /** Asks for a reconcile of every resource, as after a change of credentials. */
  enqueueAll(): void;
}

/** Informers, queue, reconciler and controller of one kind, wired. */
export function kindController<Spec extends ManagedSpec, Observed, Client>(
  kind: ExternalKind<Spec, Observed, Client>,
  options: ControllerOptions<Client>,
): KindController {
  const { client, clock, metrics } = options;
  const name = kind.type.kind.toLowerCase();
  const log = options.log.child({ controller: name });
  const resources = informersOf(kind, options, log);
  const memory = new Memory();
  const queue: WorkQueue = new WorkQueue({ hooks: metrics.queue(name, () => queue) });
  const reconciler = new Reconciler<Spec, Observed, Client>({
    ...options,
    kind,
    cache: {
      get: (key) => resources.get(key),
      claimants: (claim) => resources.byIndex('claim', claim),
    },
    listResources: () => listEverywhere(client, kind, options.namespaces),
    writer: new ObjectWriter(client, kind.type, resources),
    memory,
    nonce: randomUUID,
    epoch: clock.now(),
    onDriftCorrected: () => metrics.driftCorrected(kind.type.kind),
  });
  resources.addIndex('claim', claimOf);
  resources.onChange(({ type, object, old, initial }) => {
    if (type === 'delete') reconciler.forget(object);
    const urgency = initial ? priorityOf(object, memory.of(object.metadata.uid ?? '')) : 'change';
    queue.add(keyOf(object), urgency);
    // What lost a conflict with this one may take over now.
    const released = type === 'delete' ? claimOf(object) : old === undefined ? [] : claimOf(old);
    for (const rival of released.flatMap((claim) => resources.byIndex('claim', claim)))
      queue.add(keyOf(rival), 'change');
  });
  const controller = new Controller({
    name,
    queue,
    concurrency: options.concurrency,
    log,
    metrics: metrics.reconciles(name, options.concurrency),
    reconcile: ({ key, id, signal }) => reconciler.reconcile(key, id, signal),
  });
  const enqueueAll = () => {
    for (const object of resources.list()) queue.add(keyOf(object), 'change');
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
    }
  };
  return { kind: kind.type.kind, resources, controller, run, enqueueAll };
}

function informersOf<Spec extends ManagedSpec, Observed, Client>(
  kind: ExternalKind<Spec, Observed, Client>,
  options: ControllerOptions<Client>,
  log: Log,
): InformerGroup<ManagedObject> {
  const { reader, namespaces, labelSelector, clock } = options;
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  return new InformerGroup(
    scopes.map((namespace) => new Informer({ client: reader, type: kind.type, namespace, labelSelector, clock, log })),
  );
}

/** Whatever shard it belongs to: an object that another shard's resource holds is not free to be adopted. */
async function listEverywhere<Spec extends ManagedSpec, Observed, Client>(
  client: KubeClient,
  kind: ExternalKind<Spec, Observed, Client>,
  namespaces: readonly string[],
): Promise<readonly ManagedObject[]> {
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  const lists = await Promise.all(scopes.map((namespace) => client.listAll<ManagedObject>(kind.type, { namespace })));
  return lists.flatMap((list) => list.items);
}
