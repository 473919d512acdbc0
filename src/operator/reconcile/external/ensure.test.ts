import { beforeEach, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { silentLog } from '../../../common/log.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import { annotation, formatIntent } from '../annotations.ts';
import { Memory } from '../memory.ts';
import type { Report } from '../outcome.ts';
import { type ManagedObject, managedSpecSchema } from '../resource.ts';
import type { ObjectWriter } from '../writer.ts';
import type { IdentifiedTurn } from './context.ts';
import type { CallFailure, ExternalKind } from './contract.ts';
import { ensure } from './ensure.ts';
import { Ledger } from './pending-creates.ts';

interface Thing {
  readonly id: string;
}

type Spec = z.infer<typeof managedSpecSchema>;
type ThingTurn = IdentifiedTurn<Spec, Thing, undefined>;

const settleMs = 10_000;
let object: ManagedObject;
let creates: number;
let nextError: CallFailure | undefined;
let clock: ManualClock;
let memory: Memory;

beforeEach(() => {
  [creates, clock, memory] = [0, new ManualClock(), new Memory()];
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', generation: 1 };
  object = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', metadata, spec: {} };
});

const kind: ExternalKind<Spec, Thing, undefined> = {
  type: { group: 'edge-operator.dev', version: 'v1alpha1', plural: 'things', kind: 'Thing', namespaced: true },
  noun: 'thing',
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

function annotated(changes: Readonly<Record<string, string | undefined>>): ManagedObject {
  const annotations = { ...object.metadata.annotations, ...changes } as Record<string, string>;
  object = { ...object, metadata: { ...object.metadata, annotations } };
  return object;
}

const writer = {
  beginCreate: async (_, intent) => annotated({ [annotation.createIntent]: formatIntent(intent) }),
  cancelCreate: async () => annotated({ [annotation.createIntent]: undefined }),
  recordCreated: async (_, id) =>
    annotated({ [annotation.createIntent]: undefined, [annotation.externalID]: id, [annotation.createdID]: id }),
  addFinalizer: async (given) => given,
} satisfies Partial<ObjectWriter> as Partial<ObjectWriter> as ObjectWriter;

async function reconcile(): Promise<Report> {
  const ledger = new Ledger<Thing>({
    list: () => kind.list(undefined, call),
    idOf: ({ id }) => id,
    now: () => clock.now(),
  });
  const call = { priority: 'change', signal: new AbortController().signal } as const;
  const turn: Partial<ThingTurn> = {
    ...{ kind, ledger, writer, memory, clock, call, object, log: silentLog, events: { record: () => {} } },
    ...{ uid: 'u', account: { key: 'default', client: undefined }, startedAt: clock.now(), asked: true, drift: false },
    ...{ nonce: () => 'n', createSettleMs: settleMs, listResources: async () => [object] },
  };
  return (await ensure(turn as ThingTurn, managedSpecSchema.parse(object.spec))) as Report;
}

test('creates of unknown fate are repeated later and later, however quickly each is looked up', async () => {
  nextError = Object.assign(new Error('500'), { reason: 'Unreachable', definite: false } as const);
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
  expect(memory.of('u').lostCreates).toBeUndefined();
});
