import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Call, Reserved } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation, formatIntent, intentOf } from '../annotations.ts';
import type { Connection } from '../connection.ts';
import { fingerprint } from '../json.ts';
import { type ManagedObject, type ManagedSpec, managedSpecSchema } from '../resource.ts';
import type { ObjectWriter } from '../writer.ts';
import { AccountObjects } from './account-objects.ts';
import { Claims } from './claims.ts';
import { SafeCreate } from './create.ts';
import { connection, settleMs, ThingFixture } from './thing.fixture.ts';

const unknownFate = new ApiError('500', { reason: 'Unreachable', definite: false });
let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
});

const accountObjects = () =>
  new AccountObjects<{ readonly id: string }>({
    claims: new Claims(),
    list: thing.contract.list.bind(thing.contract, undefined),
    identityOf: ({ id }) => ({ id, createdAt: '' }),
    now: () => 0,
  });

test('creates of unknown fate are repeated later and later, however quickly each is looked up', async () => {
  thing.nextError = unknownFate;
  const waits: unknown[] = [];
  for (let times = 0; times < 11; times++) {
    const { retry } = await thing.reconcile();
    waits.push(retry.kind === 'backoff' ? retry.atLeastMs : retry);
    if (times < 10) await thing.settle();
  }
  expect(thing.creates).toBe(11);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));

  thing.nextError = undefined;
  await thing.settle();
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_12' } });
});

test('what a create made whose answer named what never was is told of, once another is made', async () => {
  const made = [{ id: 'thing_right' }];
  let answered = { id: 'thing_wrong' };
  thing.serve({
    create: async () => answered,
    get: async (_, id) => made.find((each) => each.id === id),
    list: async function* () {
      yield* made;
    },
  });
  await thing.reconcile();
  answered = { id: 'thing_2' };
  made.push(answered);
  for (let times = 0; times < 4 && thing.object.metadata.annotations?.[annotation.externalID] !== 'thing_2'; times++) {
    thing.clock.advance(settleMs);
    await thing.reconcile({ requested: true });
  }
  thing.clock.advance(settleMs);
  await thing.reconcile({ drift: true });
  expect(thing.told).toEqual([
    'Created created thing thing_wrong',
    'DriftCorrected made thing thing_2 in place of thing_wrong, which was gone',
    'Orphaned thing thing_right is held by no resource: an earlier create of this one may have made it',
  ]);
});

test('a create that was refused for certain is withdrawn before a look-up for a twin may count it as over', async () => {
  thing.nextError = new ApiError('400', { reason: 'Rejected', definite: true });
  const objects = accountObjects();
  const seen: boolean[] = [];
  const insist: ObjectWriter['insist'] = async (given, changes) => {
    seen.push(objects.claims.isCreating('u', fingerprint({})));
    return thing.annotate(given, changes(given));
  };
  thing.writer.insist = insist;
  const create = new SafeCreate(thing.context(), thing.contract, objects);
  expect(await create.perform(managedSpecSchema.parse({}))).toMatchObject({ reason: 'Rejected' });
  expect(seen).toEqual([true]);
  expect(thing.object.metadata.annotations).toEqual({ [annotation.recordOf]: 'u' });
});

test('after creates of unknown fate a refusal for certain does not bring the next one sooner', async () => {
  thing.nextError = unknownFate;
  for (let times = 0; times < 5; times++) {
    await thing.reconcile();
    await thing.settle();
  }
  await thing.reconcile();
  await thing.settle();
  thing.nextError = new ApiError('no connection', { reason: 'Unreachable', definite: true });
  expect((await thing.reconcile()).retry).toEqual({ kind: 'backoff', atLeastMs: 32_000 });
});

test('an id that a person names while the create is under way is told of, and what was made stays on record', async () => {
  thing.serve({
    create: async () => {
      await thing.annotate(thing.object, { [annotation.externalID]: 'thing_named' });
      return { id: 'thing_made' };
    },
  });
  const { reason, message } = await thing.reconcile();
  expect(reason).toBe('Rejected');
  expect(message).toContain('external-id names thing_named, but this resource manages thing thing_made');
  expect(thing.object.metadata.annotations).toMatchObject({
    [annotation.externalID]: 'thing_named',
    [annotation.createdID]: 'thing_made',
  });
});

test('the id of what it made before, which a restored backup brings back meanwhile, is nobody’s wish', async () => {
  thing.serve({
    create: async () => {
      await thing.annotate(thing.object, { [annotation.externalID]: 'thing_old', [annotation.createdID]: 'thing_old' });
      return { id: 'thing_made' };
    },
  });
  await thing.reconcile();
  expect(thing.object.metadata.annotations).toMatchObject({
    [annotation.externalID]: 'thing_made',
    [annotation.createdID]: 'thing_made',
  });
});

test('what was made is known to be of the key that it was sent with, whatever came before the answer', async () => {
  const sentAt = thing.clock.now();
  const create: typeof thing.contract.create = async () => {
    thing.clock.freeze(1_000);
    return { id: 'thing_1' };
  };
  await new SafeCreate(thing.context(), { ...thing.contract, create }, accountObjects()).perform(
    managedSpecSchema.parse({}),
  );
  const { made, seen } = thing.memory.of('u');
  expect([made?.at, seen?.at, seen?.firstAt]).toEqual([sentAt, sentAt, sentAt + 1_000]);
});

test('the turn of a create comes before its intent, is given to the create, and is held until that is over', async () => {
  const steps: string[] = [];
  const reserve = async (call: Call): Promise<Reserved> => {
    steps.push(`reserve ${thing.object.metadata.annotations?.[annotation.createIntent] !== undefined}`);
    return { call: { ...call, reservation: steps }, [Symbol.dispose]: () => void steps.push('give back') };
  };
  await performWith(reserve, {
    create: async (_client, _spec, { reservation }) => {
      steps.push(`create ${reservation === steps}`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('created');
      return { id: 'thing_1' };
    },
  });
  expect(steps).toEqual(['reserve false', 'create true', 'created', 'give back']);
});

test('what is given up while it waits for its turn leaves no intent', async () => {
  const error = new ApiError('not sent', { reason: 'Unreachable', definite: true });
  expect(await performWith(() => Promise.reject(error), {})).toMatchObject({ reason: 'Unreachable' });
  expect([thing.object.metadata.annotations ?? {}, thing.creates]).toEqual([{}, 0]);
});

test.each(['while a create waits for its turn', 'while it is marked', 'while a pause keeps it once more'])(
  'another key that comes %s makes nothing, and leaves no intent',
  async (when) => {
    const mine: Connection<undefined> & { since: number } = { ...connection, since: 0 };
    const { record } = thing.writer;
    thing.writer.record = async (...given) => {
      if (when.endsWith('marked')) mine.since = 1;
      return (record as ObjectWriter['record'])(...given);
    };
    mine.reserve = async (call) => {
      if (when.endsWith('turn')) mine.since = 1;
      return { call, [Symbol.dispose]: () => {} };
    };
    const contract = {
      ...thing.contract,
      create: async (client: undefined, spec: ManagedSpec, call: Call) => {
        if (when.endsWith('once more')) mine.since = 1;
        try {
          call.permit?.();
        } catch (cause) {
          throw new ApiError('not sent', { reason: 'Unreachable', definite: true, cause });
        }
        return thing.contract.create(client, spec, call);
      },
    };
    const create = new SafeCreate(thing.context({ connection: mine }), contract, accountObjects());
    expect(await create.perform(managedSpecSchema.parse({}))).toMatchObject({
      reason: 'Creating',
      retry: { kind: 'after', ms: 0 },
    });
    expect(thing.creates).toBe(0);
    expect(thing.object.metadata.annotations ?? {}).not.toHaveProperty([annotation.createIntent]);
  },
);

function performWith(reserve: (call: Call) => Promise<Reserved>, changes: Partial<ThingFixture['contract']>) {
  const context = thing.context({ connection: { ...connection, reserve } });
  const create = new SafeCreate(context, { ...thing.contract, ...changes }, accountObjects());
  return create.perform(managedSpecSchema.parse({}));
}

test('a create that was given up before its mark has replaced nothing', async () => {
  await thing.reconcile();
  thing.serve({ get: async () => undefined });
  const reserve = () => Promise.reject(new ApiError('no', { reason: 'RateLimited', definite: true }));
  await thing.reconcile();
  thing.clock.advance(settleMs);
  const report = await thing.reconcile({}, { connection: { ...connection, reserve } });
  expect(report).toMatchObject({ reason: 'RateLimited' });
  expect(thing.memory.of('u').recreated).toBeUndefined();
});

const other = { id: 'thing_0' };

test.each([
  ['what is another resource’s', 0, { isHeld: true }],
  ['what this one had before', 0, { wasHad: true }],
  ['what was there before, and is otherwise', 61_000, {}],
  ['what another one asked for, and is otherwise', 0, { isAwaited: true }],
])(
  'an answer that shows %s is another’s, and says nothing of what became of the create',
  async (_, ageMs, { isHeld = false, wasHad = false, isAwaited = false }: Partial<Record<string, boolean>>) => {
    thing.clock.advance(100_000);
    const objects = accountObjects();
    if (isHeld) objects.claims.claim('another', other.id);
    if (wasHad) thing.memory.of('u').former = [other.id];
    const createdAt = new Date(thing.clock.now() - ageMs).toISOString();
    const contract = {
      ...thing.contract,
      identity: ({ id }: { readonly id: string }) => ({ id, createdAt }),
      contentOf: () => 'theirs',
      create: async () => other,
    };
    const context = thing.context();
    const intent = formatIntent({ at: createdAt, clock: 'own', content: fingerprint(isAwaited ? 'theirs' : 'else') });
    const theirs = {
      ...thing.object,
      metadata: {
        ...thing.object.metadata,
        uid: 'v',
        annotations: { [annotation.createIntent]: intent, [annotation.recordOf]: 'v' },
      },
    };
    const peers = { claimants: () => [], list: () => [thing.object, theirs] } as unknown as typeof context.peers;
    const create = new SafeCreate({ ...context, peers }, contract, objects);
    const report = await create.perform(managedSpecSchema.parse({}));
    expect(report).toMatchObject({ reason: 'Unreachable', message: expect.stringContaining('shows another thing') });
    expect(report?.message).not.toContain(other.id);
    expect(thing.object.metadata.annotations).toHaveProperty([annotation.createIntent]);
    expect(thing.object.metadata.annotations).not.toHaveProperty([annotation.createdID]);
    // What nobody else has may be the one all the same.
    expect(intentOf(thing.object)?.answered).toBe(isHeld || wasHad ? undefined : other.id);
  },
);

test.each([
  ['as asked, older than the mark and there no more', 61_000, {}, async () => undefined, 1],
  ['as asked and not shown alone yet', 0, {}, async () => undefined, 0],
  ['as asked, older than the mark and there', 61_000, {}, async () => other, 0],
  ['as asked, older than the mark and not to be asked for', 61_000, {}, () => Promise.reject(unknownFate), 0],
  ['otherwise and there no more', 0, 'theirs', async () => undefined, 1],
  ['otherwise and there', 0, 'theirs', async () => other, 0],
])('an answer that shows what is %s', async (_, ageMs, content, get, lost) => {
  thing.clock.advance(100_000);
  const createdAt = new Date(thing.clock.now() - ageMs).toISOString();
  const identity = ({ id }: { readonly id: string }) => ({ id, createdAt });
  const contract = { ...thing.contract, identity, contentOf: () => content, create: async () => other, get };
  const create = new SafeCreate(thing.context(), contract, accountObjects());
  const report = await create.perform(managedSpecSchema.parse({}));
  expect(report?.reason).toBe(lost === 1 ? 'Unreachable' : undefined);
  expect(intentOf(thing.object)?.answered).toBe(lost === 1 ? other.id : undefined);
});

test('an answer that is otherwise is on record, and nobody else’s, while the service is asked for it', async () => {
  const objects = accountObjects();
  const seen: unknown[] = [];
  const get: typeof thing.contract.get = async () => {
    seen.push(intentOf(thing.object)?.answered, objects.claims.holderOf(other.id));
    return other;
  };
  const contract = { ...thing.contract, contentOf: () => 'theirs', create: async () => other, get };
  await new SafeCreate(thing.context(), contract, objects).perform(managedSpecSchema.parse({}));
  expect(seen).toEqual([other.id, 'u']);
  expect(thing.object.metadata.annotations).toMatchObject({ [annotation.createdID]: other.id });
});

test('an answer that is otherwise and cannot go on record is known to this process', async () => {
  const objects = accountObjects();
  thing.writer.insist = () => Promise.reject(new Error('connect ECONNREFUSED'));
  const contract = { ...thing.contract, contentOf: () => 'theirs', create: async () => other };
  const create = new SafeCreate(thing.context(), contract, objects);
  await expect(create.perform(managedSpecSchema.parse({}))).rejects.toThrow('ECONNREFUSED');
  expect(objects.claims.claimOf('u')).toBe(other.id);
});

describe('what an answer showed that may be another’s', () => {
  /** Made so long after the create, by its stamp. */
  const look = async (afterMs: number, others: readonly ManagedObject[] = []) => {
    thing.clock.advance(100_000);
    const at = new Date(thing.clock.now()).toISOString();
    const intent = formatIntent({ at, clock: 'own', content: fingerprint({}), answered: other.id });
    await thing.annotate(thing.object, { [annotation.createIntent]: intent, [annotation.recordOf]: 'u' });
    const createdAt = new Date(thing.clock.now() + afterMs).toISOString();
    thing.serve(
      {
        identity: ({ id }) => ({ id, createdAt }),
        contentOf: () => 'a form of its own',
        list: async function* () {
          yield other;
        },
      },
      others,
    );
    expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
    await thing.settle();
    return thing.reconcile();
  };

  test('is taken where it was made since, and nobody has it by then', async () => {
    expect(await look(0)).toMatchObject({ reason: 'Available', fields: { id: other.id } });
    expect(thing.creates).toBe(0);
  });

  test('is a person’s to decide of where it is older, and nothing is made besides', async () => {
    const said = await look(-90_000);
    expect(said).toMatchObject({ reason: 'AmbiguousCreate', message: expect.stringContaining(other.id) });
    thing.show(said);
    await thing.annotate(thing.object, { [annotation.externalID]: other.id });
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: other.id } });
    expect(thing.creates).toBe(0);
  });

  test('is nothing to one where another one has it by then', async () => {
    const annotations = { [annotation.externalID]: other.id, [annotation.recordOf]: 'v' };
    const metadata = { ...thing.object.metadata, uid: 'v', name: 'b', annotations };
    await look(0, [{ ...thing.object, metadata, status: { id: other.id, ownership: { id: other.id } } }]);
    thing.clock.advance(10_000);
    await thing.reconcile();
    expect(thing.creates).toBe(1);
  });
});

test('an answer whose stamp is behind the service’s clock as far as the two may differ is the create’s, though otherwise', async () => {
  thing.clock.advance(100_000);
  const createdAt = new Date(thing.clock.now() - 3_000).toISOString();
  const contract = {
    ...thing.contract,
    identity: ({ id }: { readonly id: string }) => ({ id, createdAt }),
    diff: () => [{ field: 'name' }],
  };
  const serviceTime = () => thing.clock.now();
  const create = new SafeCreate(
    thing.context({ connection: { ...connection, serviceTime } }),
    contract,
    accountObjects(),
  );
  expect(await create.perform(managedSpecSchema.parse({}))).toBeUndefined();
  expect(thing.object.metadata.annotations).toHaveProperty([annotation.createdID]);
});
