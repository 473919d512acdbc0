import { beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import { annotation } from '../annotations.ts';
import { contextOf } from '../context.fixture.ts';
import { Memory, witnessesApartMs } from '../memory.ts';
import { Peers } from '../peers.ts';
import type { ManagedObject } from '../resource.ts';
import { Census } from './census.ts';
import { PendingCreates } from './pending-creates.ts';
import { Presence } from './presence.ts';

interface Thing {
  readonly id: string;
}

const settleMs = 10_000;
let clock: ManualClock;
let there: readonly Thing[];
beforeEach(() => {
  [clock, there] = [new ManualClock(), []];
});

function resource(name: string, more: Partial<ManagedObject>): ManagedObject {
  const metadata = { name, namespace: 'ns', uid: name, ...more.metadata };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: {}, ...more, metadata };
}

/** Its status says what it made, as only the operator writes it. */
const proven = (name: string) =>
  resource(name, { status: { ownership: { installation: 'one', account: 'default', how: 'Created', id: name } } });

/** Its annotations say so, as whoever may write the resource writes them. */
const unproven = (name: string) => {
  const annotations = { [annotation.recordOf]: name, [annotation.createdID]: name, [annotation.account]: 'default' };
  return resource(name, { metadata: { name, annotations } });
};

/** Of the first one's object. */
function presenceOf(...all: readonly [ManagedObject, ...ManagedObject[]]) {
  const [first] = all;
  const memory = new Memory();
  const now = () => clock.now();
  const index = { get: () => first, list: () => all, claimants: () => [] };
  const connection: { key: string; client: undefined; since?: number } = { key: 'default', client: undefined };
  const asked = contextOf(first, { writer: {}, connection, memory, now });
  const occasion = { ...asked.occasion, requested: false, lastDue: () => Number.NEGATIVE_INFINITY };
  const context = { ...asked, occasion, peers: new Peers({ index, memory }) };
  const identity = ({ id }: Thing) => ({ id, createdAt: '2030-01-01T00:00:00Z' });
  const pending = new PendingCreates<Thing>({
    list: async function* () {
      yield* there;
    } as never,
    identityOf: identity,
    now,
  });
  const contract = {
    displayName: 'thing',
    identity,
    get: async (_: undefined, id: string) => there.find((each) => each.id === id),
  };
  const presence = new Presence<Thing, undefined>(context, contract, pending, {
    census: new Census(),
    createSettleMs: settleMs,
  });
  return { presence, connection };
}

/** What is said of the first one's object, which two lists and a get do not show. */
async function saidOf(...all: readonly [ManagedObject, ...ManagedObject[]]): Promise<string | undefined> {
  const { presence } = presenceOf(...all);
  const { name } = all[0].metadata;
  await presence.observe(name);
  await presence.confirmGone(name);
  clock.advance(settleMs);
  return (await presence.confirmGone(name))?.message;
}

test('a lone one that two witnesses miss is gone', async () => {
  there = [{ id: 'b' }];
  expect(await saidOf(proven('a'), proven('b'))).toBeUndefined();
});

test('of several that vanish at once nothing is concluded', async () => {
  there = [{ id: 'c' }];
  expect(await saidOf(proven('a'), proven('b'), proven('c'))).toMatch(/^2 of 3 objects .* vanished at once/);
});

test('what somebody merely says that he made neither vanishes nor is there', async () => {
  there = [{ id: 'b' }];
  expect(await saidOf(proven('a'), proven('b'), unproven('x'), unproven('y'))).toBeUndefined();
});

test('but for where nothing is proven, as after the restore of a backup without statuses', async () => {
  expect(await saidOf(unproven('a'), unproven('b'))).toMatch(/^2 of 2 objects .* vanished at once/);
});

test('what was listed before a key was put in force was not seen with it: who misses it then looks again later', async () => {
  const waits = async (rotated: boolean) => {
    there = [{ id: 'a' }, { id: 'b' }];
    const { presence, connection } = presenceOf(proven('a'), proven('b'));
    await presence.observe('a');
    await clock.advance(1_000);
    if (rotated) connection.since = clock.now();
    await clock.advance(1);
    await presence.observe('a');
    there = [{ id: 'b' }];
    await presence.confirmGone('a');
    await clock.advance(witnessesApartMs);
    return (await presence.confirmGone('a'))?.message;
  };
  expect(await waits(true)).toMatch(/making sure that it is gone/);
  expect(await waits(false)).toBeUndefined();
});
