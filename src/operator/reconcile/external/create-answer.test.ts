import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation, formatIntent, intentOf } from '../resource/annotations.ts';
import { fingerprint } from '../resource/json.ts';
import { type ManagedObject, managedSpecSchema } from '../resource/resource.ts';
import { SafeCreate } from './create.ts';
import { connection, ThingFixture } from './thing.fixture.ts';

/* What the service answers to a create. */

const unknownFate = new ApiError('500', { reason: 'Unreachable', definite: false });
let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
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
    const objects = thing.accountObjects();
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
  const create = new SafeCreate(thing.context(), contract, thing.accountObjects());
  const report = await create.perform(managedSpecSchema.parse({}));
  expect(report?.reason).toBe(lost === 1 ? 'Unreachable' : undefined);
  expect(intentOf(thing.object)?.answered).toBe(lost === 1 ? other.id : undefined);
});

test('an answer that is otherwise is on record, and nobody else’s, while the service is asked for it', async () => {
  const objects = thing.accountObjects();
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
  const objects = thing.accountObjects();
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
    thing.accountObjects(),
  );
  expect(await create.perform(managedSpecSchema.parse({}))).toBeUndefined();
  expect(thing.object.metadata.annotations).toHaveProperty([annotation.createdID]);
});
