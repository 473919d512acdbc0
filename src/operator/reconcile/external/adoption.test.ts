import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import { CurrentResource } from '../resource/current-resource.ts';
import type { ManagedObject } from '../resource/resource.ts';
import type { ObjectWriter } from '../resource/writer.ts';
import { settleMs, ThingFixture } from './thing.fixture.ts';

/** Its create was sent, and its fate is not known: of what is found some is not its own. */
let thing: ThingFixture;

beforeEach(async () => {
  thing = new ThingFixture();
  thing.nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await thing.reconcile();
});

test('what a create made is looked for, too, where a person names what is another’s meanwhile', async () => {
  const status = { ownership: { account: 'default', how: 'Created', id: 'thing_theirs' } };
  const owner = { ...thing.object, metadata: { name: 'b', namespace: 'other', uid: 'v' }, status } as ManagedObject;
  const index = { get: () => owner, list: () => [thing.object, owner], claimants: () => [thing.object, owner] };
  const peers = new Peers({ index, memory: thing.memory, accountOf: () => ({ identity: 'default' }) });
  thing.serve({
    list: async function* () {
      yield { id: 'thing_lost' };
    },
  });
  await thing.annotate(thing.object, { [annotation.externalID]: 'thing_theirs' });
  thing.clock.advance(settleMs);
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Rejected' });
  expect(thing.object.metadata.annotations).toMatchObject({ [annotation.createdID]: 'thing_lost' });
});

test.each([
  ['another one only observes', { managementPolicy: 'Observe' }, {}, true],
  ['another one names in another account', { accountRef: { name: 'none' } }, {}, true],
  ['another one forges in another account', { accountRef: { name: 'none' } }, {}, true],
  ['another one forges in an account that is not read yet', { accountRef: { name: 'none' } }, {}, false],
  ['another one names in the same account', {}, {}, false],
  [
    'another one is proven to have, whatever its account',
    { accountRef: { name: 'none' } },
    { id: 'thing_lost' },
    false,
  ],
])('what a create made is adopted, or not, where %s', async (what, more, owned, isAdopted) => {
  const said = { [annotation.createdID]: 'thing_lost', [annotation.recordOf]: 'v' };
  const annotations = { [annotation.externalID]: 'thing_lost', ...(what.includes('forges') && said) };
  const metadata = { name: 'b', namespace: 'ns', uid: 'v', annotations };
  const status = { ownership: { account: 'default', how: 'Created' as const, ...owned } };
  const other: ManagedObject = { ...thing.object, metadata, spec: { ...thing.object.spec, ...more }, status };
  const index = { get: () => other, list: () => [thing.object, other], claimants: () => [] };
  const isUnread = what.includes('not read');
  const accountOf = ({ spec }: ManagedObject) =>
    spec.accountRef === undefined ? { identity: 'default' } : { identity: 'none', isUnread };
  const peers = new Peers({ index, memory: thing.memory, accountOf });
  const list = async function* () {
    yield { id: 'thing_lost' };
  };
  thing.serve({ list }, [other]);
  thing.clock.advance(settleMs);
  await thing.reconcile({}, { peers });
  expect(thing.object.metadata.annotations?.[annotation.createdID] === 'thing_lost').toBe(isAdopted);
});

test('what was only observed is told of when the resource goes on to manage it, once', async () => {
  const annotations = { [annotation.externalID]: 'thing_1' };
  thing.object = { ...thing.object, metadata: { ...thing.object.metadata, annotations } };
  const after = async (managementPolicy: 'Observe' | 'Manage') => {
    thing.object = { ...thing.object, spec: { managementPolicy } };
    const { fields, ownership = {} } = await thing.reconcile();
    thing.object = { ...thing.object, status: { ...fields, ownership } as NonNullable<ManagedObject['status']> };
    return thing.told.filter((line) => line.startsWith('Adopted'));
  };
  const adopted = [`Adopted adopted thing thing_1, named by ${annotation.externalID}`];
  expect(await after('Observe')).toEqual([]);
  expect(await after('Manage')).toEqual(adopted);
  expect(await after('Manage')).toEqual(adopted);
  // A definition of an earlier version keeps no record of what is owned.
  thing.object = { ...thing.object, status: { id: 'thing_1' } };
  expect(await after('Manage')).toEqual(adopted);
});

test('a resource that is to go does not wait for ever to learn whose what it may have made is', async () => {
  const annotations = { [annotation.externalID]: 'thing_lost' };
  const other: ManagedObject = {
    ...thing.object,
    metadata: { name: 'b', namespace: 'other', uid: 'v', annotations },
    spec: { ...thing.object.spec, accountRef: { name: 'none' } },
  };
  const index = { get: () => other, list: () => [thing.object, other], claimants: () => [] };
  const accountOf = ({ spec }: ManagedObject) =>
    spec.accountRef === undefined ? { identity: 'default' } : { identity: 'none', isUnread: true };
  const peers = new Peers({ index, memory: thing.memory, accountOf });
  const list = async function* () {
    yield { id: 'thing_lost' };
  };
  thing.serve({ list }, [other]);
  expect(await thing.remove({ peers })).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(settleMs + 3 * 60_000);
  expect(await thing.remove({ peers })).toEqual({ kind: 'finished' });
});

const hasLeft = { ownership: { account: 'default', how: 'Created', id: 'thing_left' } } as const;

test.each<[string, string, NonNullable<ManagedObject['status']>, boolean]>([
  ['that has gone', 'is proven to have left is not', hasLeft, false],
  ['that has gone', 'says it has left is', {}, true],
  ['that another replica goes on with', 'had, and that is nobody’s by then, is', hasLeft, true],
])('what a resource %s %s adopted', async (how, _, status, isAdopted) => {
  thing.serve({
    list: async function* () {
      yield { id: 'thing_left' };
    },
  });
  const annotations = { [annotation.createdID]: 'thing_left', [annotation.recordOf]: 'v' };
  const left = { ...thing.object, metadata: { name: 'left', namespace: 'ns', uid: 'v', annotations }, status };
  if (how === 'that has gone') thing.gone(left);
  else thing.forget(left);
  thing.clock.advance(settleMs);
  await thing.reconcile();
  expect(thing.object.metadata.annotations?.[annotation.createdID] === 'thing_left').toBe(isAdopted);
});

test('what a resource left that a restored cluster has back, with its create alone, is adopted by it', async () => {
  thing.serve({
    list: async function* () {
      yield { id: 'thing_left' };
    },
  });
  thing.gone({ ...thing.object, status: hasLeft });
  thing.clock.advance(settleMs);
  await thing.reconcile();
  expect(thing.object.metadata.annotations).toMatchObject({ [annotation.createdID]: 'thing_left' });
});

test('what this process has deleted is not adopted from a list that lags', async () => {
  const { object } = thing;
  const status: ManagedObject['status'] = { ownership: { account: 'default', how: 'Created', id: 'thing_theirs' } };
  const twin = { ...object, metadata: { name: 'twin', namespace: 'ns', uid: 'v' }, status };
  thing.serve({
    list: async function* () {
      yield { id: 'thing_theirs' };
    },
  });
  const resource = new CurrentResource(twin, thing.writer as ObjectWriter);
  expect(await thing.remove({ resource, facts: thing.memory.of('v') })).toEqual({ kind: 'finished' });
  thing.object = object;
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
  expect(thing.object.metadata.annotations).not.toHaveProperty([annotation.createdID]);
});

test('what another one is just creating with the same key is not taken, whatever the name of its account', async () => {
  const other = { ...thing.object, metadata: { ...thing.object.metadata, name: 'b', uid: 'v' } };
  const answer = Promise.withResolvers<{ readonly id: string }>();
  thing.serve(
    {
      create: () => answer.promise,
      list: async function* () {
        yield { id: 'thing_theirs' };
      },
    },
    [other],
  );
  const theirs = { ...other, metadata: { ...other.metadata, annotations: {} } };
  const created = thing.reconcileOther(theirs, { key: 'ns/b', client: undefined });
  const index = { get: () => undefined, list: () => [thing.object, other], claimants: () => [] };
  const peers = new Peers({ index, memory: thing.memory, accountOf: () => ({ identity: 'one' }) });
  expect(await thing.reconcile({}, { peers })).toMatchObject({ reason: 'Creating' });
  answer.reject(new ApiError('reset', { reason: 'Unreachable', definite: false }));
  await created;
});

test('twins of one key are shared out, whatever the names of their accounts', async () => {
  const twin = { ...thing.object, metadata: { ...thing.object.metadata, name: 'b', uid: 'v' } };
  const annotations = {
    ...twin.metadata.annotations,
    [annotation.recordOf]: 'v',
    [annotation.account]: 'CloudAccount/b',
  };
  const other = { ...twin, spec: { accountRef: { name: 'b' } }, metadata: { ...twin.metadata, annotations } };
  thing.serve(
    {
      list: async function* () {
        yield { id: 'thing_1' };
        yield { id: 'thing_2' };
      },
    },
    [other],
  );
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_1' } });
});

test('what another installation may have made is waited for, and then a person is asked', async () => {
  await thing.annotate(thing.object, { [annotation.installation]: 'one-11111111' });
  const { metadata } = thing.object;
  const marks = { ...metadata.annotations, [annotation.installation]: 'two-22222222', [annotation.recordOf]: '0' };
  const other = { ...thing.object, metadata: { ...metadata, name: 'b', uid: '0', annotations: marks } };
  thing.serve(
    {
      list: async function* () {
        yield { id: 'thing_lost' };
      },
    },
    [other],
  );
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
  thing.clock.advance(settleMs);
  expect(await thing.reconcile()).toMatchObject({ reason: 'AmbiguousCreate' });
  expect(thing.creates).toBe(1);
});
