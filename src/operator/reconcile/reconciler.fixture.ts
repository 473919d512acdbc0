import { silentLog } from '../../common/log.ts';
import { Restorations } from '../../common/restorations.ts';
import type { Flow } from './flow.ts';
import { Reconciler, type ReconcilerOptions } from './reconciler.ts';
import { Memory } from './resource/memory.ts';
import type { ManagedObject } from './resource/resource.ts';
import { Schedule } from './schedule.ts';
import { report } from './status/outcome.ts';

export const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {},
};

/** One resource, of the simplest flow, and what is written of it. */
export class ReconcilerFixture {
  cached: ManagedObject | undefined = object;
  readonly memory = new Memory();
  /** Of its status. */
  writes = 0;
  /** So often it was put on record. */
  held = 0;
  /** For {@link restorations}. */
  now = 0;
  readonly restorations = new Restorations({ monotonic: { now: () => this.now } as never, random: () => 1 });
  /** The last one first. */
  readonly reconcilers: Reconciler<undefined>[] = [];

  /** One reconcile, in which this happens. */
  async reconcile(
    happens: (reconciler: Reconciler<undefined>) => void,
    changes: Partial<ReconcilerOptions<undefined>> = {},
    more: Partial<Flow<undefined>> = {},
    { signal } = new AbortController(),
  ) {
    const { memory, restorations } = this;
    const flow: Flow<undefined> = {
      ensure: async (context) => {
        happens(reconciler);
        context.facts.observed = true;
        return report('Available', 'it is there');
      },
      ...more,
    };
    const options: Partial<ReconcilerOptions<undefined>> = {
      ...{ memory, restorations, log: silentLog, time: { now: () => this.now, wall: () => 0 } },
      cache: { get: () => this.cached, whole: async (known) => known },
      isMine: () => true,
      connectionOf: () => ({ key: 'default', client: undefined }),
      schedule: new Schedule({ now: () => 0, resyncIntervalMs: 60_000, epochOf: () => 0 }),
      events: { record: () => {} },
      writer: {
        writeStatus: async () => ++this.writes,
        record: async (recorded: ManagedObject) => {
          this.held += 1;
          return recorded;
        },
      } as never,
      installation: {
        name: 'one',
        otherOf: () => undefined,
        movedAddress: () => undefined,
        forget: () => {},
        wrote: () => {},
      } as never,
      ...changes,
    };
    const reconciler = new Reconciler(options as ReconcilerOptions<undefined>, flow);
    this.reconcilers.unshift(reconciler);
    return reconciler.reconcile({ key: 'ns/a', id: '1', signal } as never);
  }
}
