import { beforeEach, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { ApiError } from '../../../common/http/errors.ts';
import { silentLog } from '../../../common/log.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import type { ReconcileContext } from '../context.ts';
import { Memory } from '../memory.ts';
import type { Report } from '../outcome.ts';
import { type ManagedObject, managedSpecSchema } from '../resource.ts';
import type { Annotations, ObjectWriter } from '../writer.ts';
import type { ExternalContract } from './contract.ts';
import { ExternalFlow } from './flow.ts';

interface Thing {
  readonly id: string;
}

type Spec = z.infer<typeof managedSpecSchema>;
type ThingContext = ReconcileContext<undefined>;

const settleMs = 10_000;
let object: ManagedObject;
let creates: number;
let nextError: ApiError | undefined;
let clock: ManualClock;
let memory: Memory;
let flow: ExternalFlow<Spec, Thing, undefined>;
const connection = { key: 'default', client: undefined };

beforeEach(() => {
  [creates, clock, memory] = [0, new ManualClock(), new Memory()];
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', generation: 1 };
  object = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', metadata, spec: {} };
  flow = new ExternalFlow(contract, { listResources: async () => [object], createSettleMs: settleMs });
});

const contract: ExternalContract<Spec, Thing, undefined> = {
  displayName: 'thing',
  spec: managedSpecSchema,
  identity: ({ id }) => ({ id, createdAt: new Date(clock.now()).toISOString() }),
  content: () => ({}),
  contentOf: () => ({}),
  diff: () => [],
  status: ({ id }) => ({ id }),
  get: async (_, id) => ({ id }),
  list: async function* () {},
  create: async () => {
    creates += 1;
    if (nextError !== undefined) throw nextError;
    return { id: `thing_${creates}` };
  },
  update: async (_, id) => ({ id }),
  delete: async () => 'deleted',
};

async function annotate(given: ManagedObject, changes: Annotations): Promise<ManagedObject> {
  const annotations = Object.entries({ ...given.metadata.annotations, ...changes }).filter(
    ([, value]) => value !== null,
  );
  object = {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(annotations) as Record<string, string> },
  };
  return object;
}

const writer: Partial<ObjectWriter> = {
  record: annotate,
  insist: async (given, changes) => annotate(given, changes(given)),
  addFinalizer: async (given) => given,
};

async function reconcile(): Promise<Report> {
  const call = { priority: 'change', signal: new AbortController().signal } as const;
  const context: Partial<ThingContext> = {
    ...{ writer: writer as ObjectWriter, memory, clock, call, object, log: silentLog, events: { record: () => {} } },
    ...{ uid: 'u', connection, startedAt: clock.now(), requested: true, drift: false },
    cache: { get: () => object, claimants: () => [] },
  };
  return (await flow.ensure(context as ThingContext)) as Report;
}

test('creates of unknown fate are repeated later and later, however quickly each is looked up', async () => {
  nextError = new ApiError('500', { reason: 'Unreachable', definite: false });
  const waits: unknown[] = [];
  for (let times = 0; times < 11; times++) {
    const { retry } = await reconcile();
    waits.push(retry.kind === 'backoff' ? retry.atLeastMs : retry);
    clock.advance(settleMs);
  }
  expect(creates).toBe(11);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));

  nextError = undefined;
  expect(await reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_12' } });
});
