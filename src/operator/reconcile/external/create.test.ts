import { beforeEach, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { ApiError } from '../../../common/http/errors.ts';
import type { Call, Reserved } from '../../../common/priority.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import { annotation } from '../annotations.ts';
import { contextOf } from '../context.fixture.ts';
import type { ReconcileContext } from '../context.ts';
import { fingerprint } from '../json.ts';
import { Memory } from '../memory.ts';
import type { Occasion } from '../occasion.ts';
import type { Report } from '../outcome.ts';
import { type ManagedObject, managedSpecSchema } from '../resource.ts';
import type { Annotations, ObjectWriter } from '../writer.ts';
import { Census } from './census.ts';
import type { ExternalContract } from './contract.ts';
import { SafeCreate } from './create.ts';
import { ExternalFlow } from './flow.ts';
import { PendingCreates } from './pending-creates.ts';

interface Thing {
  readonly id: string;
}

type Spec = z.infer<typeof managedSpecSchema>;

const settleMs = 10_000;
let object: ManagedObject;
let creates: number;
let nextError: ApiError | undefined;
let clock: ManualClock;
let memory: Memory;
let flow: ExternalFlow<Spec, Thing, undefined>;
const connection = { key: 'default', client: undefined };

beforeEach(() => {
  [creates, nextError, clock, memory] = [0, undefined, new ManualClock(), new Memory()];
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', generation: 1 };
  object = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', metadata, spec: {} };
  flow = new ExternalFlow(contract, {
    listResources: async () => [object],
    createSettleMs: settleMs,
    census: new Census(),
  });
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
  record: (given, records) => annotate(given, { ...records, [annotation.recordOf]: 'u' }),
  // Of the latest, as after a conflict.
  insist: async (_, changes) => annotate(object, changes(object)),
};

function context(written: Partial<ObjectWriter> = writer): ReconcileContext<undefined> {
  return contextOf(object, { writer: written, connection, memory, now: () => clock.now() });
}

async function reconcile(occasion: Partial<Occasion> = {}): Promise<Report> {
  const plain = context();
  return (await flow.ensure({ ...plain, occasion: { ...plain.occasion, ...occasion } })) as Report;
}

/** One look after a while, and the time until the last one. */
async function settle(): Promise<void> {
  clock.advance(1_000);
  await reconcile();
  clock.advance(settleMs);
}

test('creates of unknown fate are repeated later and later, however quickly each is looked up', async () => {
  nextError = new ApiError('500', { reason: 'Unreachable', definite: false });
  const waits: unknown[] = [];
  for (let times = 0; times < 11; times++) {
    const { retry } = await reconcile();
    waits.push(retry.kind === 'backoff' ? retry.atLeastMs : retry);
    if (times < 10) await settle();
  }
  expect(creates).toBe(11);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));

  nextError = undefined;
  await settle();
  expect(await reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_12' } });
});

test('a create that was refused for certain is withdrawn before a look-up for a twin may count it as over', async () => {
  nextError = new ApiError('400', { reason: 'Rejected', definite: true });
  const pending = new PendingCreates<Thing>({
    list: contract.list.bind(contract, undefined),
    identityOf: ({ id }) => ({ id, createdAt: '' }),
    now: () => 0,
  });
  const seen: boolean[] = [];
  const watching: Partial<ObjectWriter> = {
    ...writer,
    insist: async (given, changes) => {
      seen.push(pending.isCreating(fingerprint({})));
      return annotate(given, changes(given));
    },
  };
  const create = new SafeCreate(context(watching), contract, pending);
  expect(await create.perform(managedSpecSchema.parse({}))).toMatchObject({ reason: 'Rejected' });
  expect(seen).toEqual([true]);
  expect(object.metadata.annotations).toEqual({ [annotation.recordOf]: 'u' });
});

test('after creates of unknown fate a refusal for certain does not bring the next one sooner', async () => {
  nextError = new ApiError('500', { reason: 'Unreachable', definite: false });
  for (let times = 0; times < 5; times++) {
    await reconcile();
    await settle();
  }
  await reconcile();
  await settle();
  nextError = new ApiError('no connection', { reason: 'Unreachable', definite: true });
  expect((await reconcile()).retry).toEqual({ kind: 'backoff', atLeastMs: 32_000 });
});

test('an id that a person names during a look-up is not replaced by what the look-up finds', async () => {
  nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await reconcile();
  const list = async function* () {
    await annotate(object, { [annotation.externalID]: 'thing_named' });
    yield { id: 'thing_lost' };
  };
  flow = new ExternalFlow(
    { ...contract, list },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  clock.advance(settleMs);
  await reconcile();
  expect(object.metadata.annotations).toMatchObject({ [annotation.externalID]: 'thing_named' });
  expect(object.metadata.annotations).not.toHaveProperty([annotation.createIntent]);
});

test('what could not be read is read again, and not taken from a list that was there before', async () => {
  nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await reconcile();
  let isOdd = true;
  const list: typeof contract.list = async function* (_client, _call, onOdd) {
    if (isOdd) onOdd({ id: 'thing_lost', createdAt: undefined, problem: 'active: expected boolean' });
    else yield { id: 'thing_lost' };
  };
  flow = new ExternalFlow(
    { ...contract, list },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  clock.advance(settleMs);
  expect((await reconcile()).message).toMatch(/thing_lost .* cannot be read/);
  // As the reconciler notes it, a moment later.
  clock.advance(10);
  memory.of('u').failedAt = clock.now();
  isOdd = false;
  clock.advance(1_000);
  expect(await reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_lost' } });
});

test('a create is repeated after two lists, and not after one that came late', async () => {
  nextError = new ApiError('500', { reason: 'Unreachable', definite: false });
  await reconcile();
  let lists = 0;
  const list: typeof contract.list = (...given) => {
    lists += 1;
    return contract.list(...given);
  };
  flow = new ExternalFlow(
    { ...contract, list },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  clock.advance(settleMs + 1_000);
  nextError = undefined;
  expect(await reconcile()).toMatchObject({ reason: 'Creating', retry: { kind: 'after', ms: 2_000 } });
  expect([lists, creates]).toEqual([1, 1]);
  clock.advance(2_000);
  expect(await reconcile()).toMatchObject({ reason: 'Available' });
  expect([lists, creates]).toEqual([2, 2]);
});

describe('what may be any of two is looked up again', () => {
  let there: readonly string[];

  beforeEach(async () => {
    nextError = new ApiError('500', { reason: 'Unreachable', definite: false });
    await reconcile();
    there = ['thing_mine', 'thing_theirs'];
    const list: typeof contract.list = async function* () {
      for (const id of there) yield { id };
    };
    flow = new ExternalFlow(
      { ...contract, list },
      { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
    );
    clock.advance(settleMs);
    const { reason, message } = await reconcile();
    expect(reason).toBe('AmbiguousCreate');
    const ready = { type: 'Ready', status: 'False', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
    object = { ...object, status: { conditions: [{ ...ready, status: 'False' }] } };
    there = ['thing_mine'];
    clock.advance(600_000);
    expect(await reconcile()).toMatchObject({ reason: 'AmbiguousCreate' });
  });

  test('when a drift check is due', async () => {
    const due = { lastDue: () => clock.now() - 1_000 };
    expect(await reconcile(due)).toMatchObject({ reason: 'Available', fields: { id: 'thing_mine' } });
  });

  test('when a person asks for it', async () => {
    await annotate(object, { [annotation.reconcileAt]: 'now' });
    expect(await reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_mine' } });
  });

  test('and, once none of them is there, in two lists before another is created', async () => {
    there = [];
    nextError = undefined;
    expect(await reconcile({ lastDue: () => clock.now() - 1_000 })).toMatchObject({ reason: 'Creating' });
    clock.advance(2_000);
    expect(await reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });
});

test('an id that a person names while the create is under way is told of, and what was made stays on record', async () => {
  const create: typeof contract.create = async () => {
    await annotate(object, { [annotation.externalID]: 'thing_named' });
    return { id: 'thing_made' };
  };
  flow = new ExternalFlow(
    { ...contract, create },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  const { reason, message } = await reconcile();
  expect(reason).toBe('Rejected');
  expect(message).toContain('external-id names thing_named, but this resource manages thing thing_made');
  expect(object.metadata.annotations).toMatchObject({
    [annotation.externalID]: 'thing_named',
    [annotation.createdID]: 'thing_made',
  });
});

test('the turn of a create comes before its intent, is given to the create, and is held until that is over', async () => {
  const steps: string[] = [];
  const reserve = async (call: Call): Promise<Reserved> => {
    steps.push(`reserve ${object.metadata.annotations?.[annotation.createIntent] !== undefined}`);
    return { call: { ...call, reservation: steps }, [Symbol.dispose]: () => void steps.push('give back') };
  };
  const observed: Partial<typeof contract> = {
    create: async (_client, _spec, { reservation }) => {
      steps.push(`create ${reservation === steps}`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('created');
      return { id: 'thing_1' };
    },
  };
  await performWith(reserve, { ...contract, ...observed });
  expect(steps).toEqual(['reserve false', 'create true', 'created', 'give back']);
});

test('what is given up while it waits for its turn leaves no intent', async () => {
  const error = new ApiError('not sent', { reason: 'Unreachable', definite: true });
  const reserve = () => Promise.reject(error);
  expect(await performWith(reserve, contract)).toMatchObject({ reason: 'Unreachable' });
  expect([object.metadata.annotations ?? {}, creates]).toEqual([{}, 0]);
});

function performWith(reserve: (call: Call) => Promise<Reserved>, made: typeof contract) {
  const pending = new PendingCreates<Thing>({
    list: contract.list.bind(contract, undefined),
    identityOf: ({ id }) => ({ id, createdAt: '' }),
    now: () => 0,
  });
  const reserving = { ...context(), connection: { ...connection, reserve } };
  return new SafeCreate(reserving, made, pending).perform(managedSpecSchema.parse({}));
}

test('what could not be changed is shown as it is, its id first of all', async () => {
  const refusing = {
    ...contract,
    diff: () => [{ field: 'description' }],
    update: async () => {
      throw new ApiError('no', { reason: 'Unreachable', definite: true });
    },
  };
  flow = new ExternalFlow(refusing, {
    listResources: async () => [object],
    createSettleMs: settleMs,
    census: new Census(),
  });
  expect(await reconcile()).toMatchObject({ reason: 'Unreachable', message: 'no', fields: { id: 'thing_1' } });
});

test('what was missed before is not taken for the answer to a delete', async () => {
  await reconcile();
  const gone = { ...contract, get: async () => undefined, list: async function* () {} };
  const deletes: string[] = [];
  flow = new ExternalFlow(
    {
      ...gone,
      delete: async (_, id) => {
        deletes.push(id);
        return 'deleted';
      },
    },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  clock.advance(1_000);
  expect(await reconcile()).toMatchObject({ reason: 'Creating' });
  expect(memory.of('u').absent).toMatchObject({ id: 'thing_1' });
  clock.advance(600_000);
  object = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(await flow.remove(context({ ...writer, removeFinalizer: async () => {} }))).toEqual({ kind: 'finished' });
  expect(deletes).toEqual(['thing_1']);
});

test('a create that was given up before its mark has replaced nothing', async () => {
  await reconcile();
  flow = new ExternalFlow(
    { ...contract, get: async () => undefined, list: async function* () {} },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  const noTurn = {
    ...connection,
    reserve: () => Promise.reject(new ApiError('no', { reason: 'RateLimited', definite: true })),
  };
  await reconcile();
  clock.advance(settleMs);
  const plain = context();
  expect(await flow.ensure({ ...plain, connection: noTurn })).toMatchObject({ reason: 'RateLimited' });
  expect(memory.of('u').recreated).toBeUndefined();
});

test.each([
  ['a list shows it', undefined],
  ['another key is in force', 1_030_000],
])('a delete that was answered with a 404 is sent again when %s', async (_, since) => {
  await reconcile();
  const answers = ['absent', 'deleted'] as const;
  let deletes = 0;
  let there = since === undefined;
  const list: typeof contract.list = async function* () {
    if (there) yield { id: 'thing_1' };
  };
  flow = new ExternalFlow(
    { ...contract, list, delete: async () => answers[deletes++] ?? 'deleted' },
    { listResources: async () => [object], createSettleMs: settleMs, census: new Census() },
  );
  object = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const remove = () => {
    const asked = context({ ...writer, removeFinalizer: async () => {} });
    return flow.remove({
      ...asked,
      connection: { ...connection, ...(since !== undefined && clock.now() >= since && { since }) },
    });
  };
  expect(await remove()).toMatchObject({ reason: 'Deleting' });
  clock.advance(30_000);
  there = true;
  if (since === undefined) expect(await remove()).toMatchObject({ reason: 'Deleting' });
  expect(await remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(2);
});
