import type { z } from 'zod';
import type { ApiError } from '../../../common/http/errors.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import type { Connection } from '../connections/connection.ts';
import { contextOf } from '../context.fixture.ts';
import type { ReconcileContext } from '../context.ts';
import { leftByPolicy } from '../flow.ts';
import type { Occasion } from '../occasion.ts';
import { annotation } from '../resource/annotations.ts';
import { Memory } from '../resource/memory.ts';
import { type ManagedObject, managedSpecSchema } from '../resource/resource.ts';
import type { Annotations, ObjectWriter } from '../resource/writer.ts';
import type { Outcome, Report } from '../status/outcome.ts';
import { AccountObjects } from './account-objects.ts';
import { Census } from './census.ts';
import { Claims } from './claims.ts';
import type { ExternalContract } from './contract.ts';
import { ExternalFlow } from './flow.ts';

interface Thing {
  readonly id: string;
  readonly text?: string;
}

type ThingContract = ExternalContract<z.infer<typeof managedSpecSchema>, Thing, undefined>;
type ThingContext = ReconcileContext<undefined>;

export const settleMs = 10_000;
export const connection = { key: 'default', client: undefined };

/** One resource of the simplest kind, and the service as its contract shows it. */
export class ThingFixture {
  readonly clock = new ManualClock();
  readonly memory = new Memory();
  object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: {} },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  };
  /** What the other kinds of the account have missed. */
  readonly census = new Census();
  /** What was told of it: `Created created thing thing_1`. */
  readonly told: string[] = [];
  /** So many were asked for. */
  creates = 0;
  /** Of the creates from now on. */
  nextError: ApiError | undefined;
  readonly contract: ThingContract = {
    displayName: 'thing',
    spec: managedSpecSchema,
    identity: ({ id }) => ({ id, createdAt: new Date(this.clock.now()).toISOString() }),
    content: () => ({}),
    contentOf: () => ({}),
    diff: () => [],
    status: ({ id }) => ({ id }),
    get: async (_, id) => ({ id }),
    list: async function* () {},
    create: async () => {
      this.creates += 1;
      if (this.nextError !== undefined) throw this.nextError;
      return { id: `thing_${this.creates}` };
    },
    update: async (_, id) => ({ id }),
    delete: async () => 'deleted',
  };
  readonly writer: Partial<ObjectWriter> = {
    record: (given, records) => this.annotate(given, { ...records, [annotation.recordOf]: 'u' }),
    annotate: (given, changes) => this.annotate(given, changes),
    // Of the latest, as after a conflict.
    insist: async (_, changes) => this.annotate(this.object, changes(this.object)),
    writeStatus: async (_, status) => {
      this.object = { ...this.object, status };
      return this.object;
    },
  };
  #flow!: ExternalFlow<z.infer<typeof managedSpecSchema>, Thing, undefined>;

  constructor() {
    this.serve({});
  }

  /**
   * From now on the service is otherwise in this; the flow remembers nothing.
   * @param others that there are
   */
  serve(changes: Partial<ThingContract>, others: readonly ManagedObject[] = []): void {
    const listResources = async () => [this.object, ...others];
    const options = { listResources, createSettleMs: settleMs, census: this.census };
    this.#flow = new ExternalFlow({ ...this.contract, ...changes }, options);
  }

  /** Of an account that has nothing yet. */
  accountObjects(): AccountObjects<Thing> {
    return new AccountObjects({
      claims: new Claims(),
      list: this.contract.list.bind(this.contract, undefined),
      identityOf: ({ id }) => ({ id, createdAt: '' }),
      now: () => 0,
    });
  }

  async annotate(given: ManagedObject, changes: Annotations): Promise<ManagedObject> {
    const all = Object.entries({ ...given.metadata.annotations, ...changes });
    const annotations = Object.fromEntries(all.filter((each): each is [string, string] => each[1] !== null));
    this.object = { ...this.object, metadata: { ...this.object.metadata, annotations } };
    return this.object;
  }

  context(changes: Partial<ThingContext> = {}): ThingContext {
    const { writer, memory, clock } = this;
    const record = ({ reason, note }: { readonly reason: string; readonly note: string }) => {
      this.told.push(`${reason} ${note}`);
    };
    return { ...contextOf(this.object, { writer, connection, memory, now: () => clock.now(), record }), ...changes };
  }

  async reconcile(occasion: Partial<Occasion> = {}, changes: Partial<ThingContext> = {}): Promise<Report> {
    const plain = this.context(changes);
    return (await this.#flow.ensure({ ...plain, occasion: { ...plain.occasion, ...occasion } })) as Report;
  }

  /** Shows what was reported in the status, as the reconciler does. */
  show({ reason, message }: Report): void {
    const ready = {
      type: 'Ready',
      status: 'False' as const,
      reason,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    this.object = { ...this.object, status: { conditions: [ready] } };
  }

  /** Of another resource, which nobody writes to, through an account of its own. */
  reconcileOther(object: ManagedObject, other: Connection<undefined>): Promise<Outcome> {
    const writer: Partial<ObjectWriter> = { record: async () => object, insist: async () => object };
    return this.#flow.ensure(contextOf(object, { ...this, writer, connection: other, now: () => this.clock.now() }));
  }

  /** What is told of it when it is let go. */
  get kept(): string | undefined {
    return leftByPolicy(this.#flow, this.object);
  }

  gone(object: ManagedObject): void {
    this.#flow.gone(object);
    this.#flow.forget(object);
  }

  forget(object: ManagedObject): void {
    this.#flow.forget(object);
  }

  remove(changes: Partial<ThingContext> = {}) {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    this.object = { ...this.object, metadata: { ...this.object.metadata, deletionTimestamp } };
    return this.#flow.remove(this.context(changes));
  }

  /** One look after a while, and the time until the last one. */
  async settle(): Promise<void> {
    this.clock.advance(1_000);
    await this.reconcile();
    this.clock.advance(settleMs);
  }
}
