import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import { annotation } from '../annotations.ts';
import type { OddItem } from '../cache.ts';
import { contextOf } from '../context.fixture.ts';
import { Memory, witnessesApartMs } from '../memory.ts';
import { Peers } from '../peers.ts';
import type { ManagedObject } from '../resource.ts';
import { Census } from './census.ts';
import { Claims } from './claims.ts';
import { PendingCreates } from './pending-creates.ts';
import { Presence } from './presence.ts';

interface Thing {
  readonly id: string;
}

const settleMs = 10_000;
let clock: ManualClock;
let there: readonly Thing[];
/** What lists have beside it. */
let odd: readonly OddItem[];
/** What happens while a list is under way. */
let onList: () => void;
beforeEach(() => {
  [clock, there, odd, onList] = [new ManualClock(), [], [], () => {}];
});

function resource(name: string, more: Partial<ManagedObject>): ManagedObject {
  const metadata = { name, namespace: 'ns', uid: name, ...more.metadata };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: {}, ...more, metadata };
}

/** Its status says what it made, as only the operator writes it. */
const proven = (name: string, how: 'Created' | 'Imported' = 'Created') =>
  resource(name, { status: { ownership: { installation: 'one', account: 'default', how, id: name } } });

/** Its annotations say so, as whoever may write the resource writes them. */
const unproven = (name: string) => {
  const annotations = { [annotation.recordOf]: name, [annotation.createdID]: name, [annotation.account]: 'default' };
  return resource(name, { metadata: { name, annotations } });
};

interface TestConnection {
  readonly key: string;
  readonly client: undefined;
  since?: number;
  hadAnotherKey?: (at: number) => boolean;
  keyMark?: string;
  confirmedAt?: number;
}

/** Of the first one's object. */
function presenceOf(
  all: readonly [ManagedObject, ...ManagedObject[]],
  {
    census = new Census(),
    connection = { key: 'default', client: undefined },
    memory = new Memory(),
  }: { readonly census?: Census; readonly connection?: TestConnection; readonly memory?: Memory } = {},
) {
  const [first] = all;
  const now = () => clock.now();
  const index = { get: () => first, list: () => all, claimants: () => [] };
  const asked = contextOf(first, { writer: {}, connection, memory, now });
  const occasion = { ...asked.occasion, requested: false, lastDue: () => Number.NEGATIVE_INFINITY };
  const context = { ...asked, occasion, peers: new Peers({ index, memory }) };
  const identity = ({ id }: Thing) => ({ id, createdAt: '2030-01-01T00:00:00Z' });
  const pending = new PendingCreates<Thing>({
    claims: new Claims(),
    list: async function* (_: unknown, onOdd: (item: OddItem) => void) {
      onList();
      for (const item of odd) onOdd(item);
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
    census,
    createSettleMs: settleMs,
  });
  return { presence, connection, occasion, memory };
}

/** What is said of the first one's object, which two lists and a get do not show. */
async function saidOf(...all: readonly [ManagedObject, ...ManagedObject[]]): Promise<string | undefined> {
  const memory = new Memory();
  for (const { metadata } of all) memory.of(metadata.uid ?? '').isElsewhere = metadata.name.startsWith('elsewhere');
  const { presence } = presenceOf(all, { memory });
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

test('nor does it of another kind, where something is proven of any', async () => {
  const census = new Census();
  there = [];
  const forged = presenceOf([unproven('x'), unproven('y')], { census });
  await forged.presence.observe('x');
  await forged.presence.confirmGone('x');
  await clock.advance(settleMs);
  expect((await forged.presence.confirmGone('x'))?.message).toMatch(/vanished at once/);
  there = [{ id: 'b' }];
  const { presence } = presenceOf([proven('a'), proven('b')], { census, connection: forged.connection });
  await presence.observe('a');
  await presence.confirmGone('a');
  await clock.advance(settleMs);
  expect(await presence.confirmGone('a')).toBeUndefined();
});

test('nor what is deleted already, and somebody else still holds', async () => {
  there = [{ id: 'b' }];
  const released = (name: string) => {
    const made = proven(name);
    return {
      ...made,
      metadata: { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['other'] },
    };
  };
  expect(await saidOf(proven('a'), proven('b'), released('c'), released('d'))).toBeUndefined();
});

test('nor what was made at another address, and is not looked for at this one', async () => {
  there = [{ id: 'b' }];
  expect(await saidOf(proven('a'), proven('b'), proven('elsewhere-1'), proven('elsewhere-2'))).toBeUndefined();
});

test.each([
  ['an import', 'Imported', 'long before', settleMs + 1, undefined],
  ['an import', 'Imported', 'just before', settleMs - 1, /^2 of 2 objects/],
  ['what it made', 'Created', 'long before', settleMs + 1, /^2 of 2 objects/],
  ['what it made and only observes', 'Observed', 'long before', settleMs + 1, undefined],
] as const)('whether %s (%s) that was missed %s others vanishes with them', async (_, how, _when, apartMs, said) => {
  const observed = { ...proven('b'), spec: { managementPolicy: 'Observe' } };
  const { presence, memory } = presenceOf([proven('a'), how === 'Observed' ? observed : proven('b', how)]);
  memory.of('b').absent = { id: 'b', at: clock.now(), lookedAt: clock.now(), confirmed: false };
  there = [{ id: 'a' }];
  await clock.advance(apartMs);
  await presence.observe('a');
  there = [];
  await clock.advance(settleMs);
  await presence.confirmGone('a');
  await clock.advance(settleMs);
  const outcome = (await presence.confirmGone('a'))?.message;
  if (said === undefined) expect(outcome).toBeUndefined();
  else expect(outcome).toMatch(said);
});

test('but for where nothing is proven, as after the restore of a backup without statuses', async () => {
  expect(await saidOf(unproven('a'), unproven('b'))).toMatch(/^2 of 2 objects .* vanished at once/);
});

test('what was listed or missed before a key was put in force says nothing of what that one opens', async () => {
  there = [];
  const { presence, connection } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await clock.advance(settleMs);
  // With the wrong key; now comes the right one.
  [there, connection.since] = [[{ id: 'a' }, { id: 'b' }], clock.now()];
  connection.confirmedAt = clock.now();
  expect(await presence.observe('a')).toEqual({ id: 'a' });
  // And another wrong one.
  await clock.advance(1_000);
  [there, connection.since] = [[], clock.now()];
  await clock.advance(1);
  expect(await presence.observe('a')).toBeUndefined();
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await clock.advance(settleMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/^2 of 2 objects .* vanished at once/);
});

describe('a lone one that is not found with what is in force since', () => {
  let lone: ReturnType<typeof presenceOf>;

  beforeEach(async () => {
    there = [{ id: 'a' }];
    lone = presenceOf([proven('a')]);
    expect(await lone.presence.observe('a')).toBeDefined();
    await clock.advance(settleMs);
    [there, lone.connection.since] = [[], clock.now()];
    await clock.advance(1);
  });

  async function looks() {
    await lone.presence.observe('a');
    await lone.presence.confirmGone('a');
    await clock.advance(2 * settleMs);
    return (await lone.presence.confirmGone('a'))?.message;
  }

  test('another key is not gone, unless a person says so', async () => {
    lone.connection.hadAnotherKey = () => true;
    expect(await looks()).toMatch(/^thing a was there with the API key before this one.* is it the right key\?/);
    lone.connection.confirmedAt = clock.now();
    expect(await looks()).toBeUndefined();
  });

  test('another key is gone where that opens what was there before', async () => {
    there = [{ id: 'a' }, { id: 'b' }];
    lone = presenceOf([proven('a'), proven('b')]);
    await lone.presence.observe('a');
    await clock.advance(settleMs);
    [there, lone.connection.since] = [[{ id: 'b' }], clock.now()];
    lone.connection.hadAnotherKey = () => true;
    await clock.advance(1);
    expect(await looks()).toBeUndefined();
  });

  test('the same key, as after another replica, is gone', async () => {
    expect(await looks()).toBeUndefined();
  });
});

describe('a lone one that an earlier process had, and this one never saw', () => {
  test.each([
    ['with another key is not gone', 'a1b2-00000002', /^thing a was there with the API key before this one/],
    ['with this key is gone', 'a1b2-00000001', undefined],
    ['is gone where nothing tells keys apart', undefined, undefined],
  ])('%s', async (_, keyMark, said) => {
    const annotations = { [annotation.recordOf]: 'a', [annotation.keyMark]: 'a1b2-00000001' };
    const made = { ...proven('a'), metadata: { ...proven('a').metadata, annotations } };
    const connection = { key: 'default', client: undefined, ...(keyMark && { keyMark }) };
    const { presence } = presenceOf([made], { connection });
    there = [];
    await presence.observe('a');
    await presence.confirmGone('a');
    await clock.advance(settleMs);
    const outcome = (await presence.confirmGone('a'))?.message;
    if (said === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatch(said);
  });
});

test('nor does a list during which another key came, of which nothing is known yet', async () => {
  const { presence, connection } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  await presence.confirmGone('a');
  await clock.advance(settleMs);
  onList = () => {
    connection.since = clock.now();
  };
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
});

test('what was seen by an answer that came after another key was not seen with that one', async () => {
  there = [{ id: 'a' }, { id: 'b' }];
  const { presence, connection, occasion } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  await clock.advance(settleMs);
  Object.assign(occasion, { lastDue: () => clock.now() });
  onList = () => {
    clock.freeze(1);
    connection.since = clock.now();
    clock.freeze(1);
  };
  await presence.observe('a');
  onList = () => {};
  there = [{ id: 'b' }];
  expect(await presence.observe('a')).toBeUndefined();
  await presence.confirmGone('a');
  await clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
});

test.each([
  ['another trouble', 'connect ECONNREFUSED', /vanished at once/],
  ['that', '2 of 2 objects vanished at once: %', undefined],
])('what vanished at once is gone by the word of a person who was told of %s: %s', async (_, told, said) => {
  const [a, b] = [proven('a'), proven('b')];
  const { presence } = presenceOf([a, b]);
  await presence.observe('a');
  await presence.confirmGone('a');
  await clock.advance(settleMs);
  const asked = (await presence.confirmGone('a'))?.message ?? '';
  const message = told.replace('%', asked);
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' } as const;
  const metadata = { ...a.metadata, annotations: { [annotation.reconcileAt]: 'now' } };
  const again = presenceOf([{ ...a, metadata, status: { ...a.status, conditions: [ready] } }, b]).presence;
  await again.observe('a');
  await again.confirmGone('a');
  await clock.advance(settleMs);
  if (said === undefined) expect(await again.confirmGone('a')).toBeUndefined();
  else expect((await again.confirmGone('a'))?.message).toMatch(said);
});

test('what an answer said is not there is not there by an older list, nor by any list alone', async () => {
  there = [{ id: 'a' }, { id: 'b' }];
  const { presence, occasion } = presenceOf([proven('a'), proven('b')]);
  expect(await presence.observe('a')).toBeDefined();
  await clock.advance(settleMs);
  there = [{ id: 'b' }];
  Object.assign(occasion, { requested: true, startedAt: clock.now() });
  expect(await presence.observe('a')).toBeUndefined();
  await clock.advance(witnessesApartMs);
  Object.assign(occasion, { requested: false });
  expect(await presence.observe('a')).toBeUndefined();
  expect(await presence.confirmGone('a')).toBeUndefined();
});

test('what a list shows and cannot be read is not gone', async () => {
  there = [{ id: 'b' }];
  odd = [{ id: 'a', createdAt: undefined, problem: 'created_at: expected string' }];
  expect(await saidOf(proven('a'), proven('b'))).toMatch(/in a list and is not found alone/);
});

test('nor what may be an item of a list without an id', async () => {
  there = [{ id: 'b' }];
  odd = [{ id: undefined, createdAt: undefined, problem: 'id: expected string' }];
  expect(await saidOf(proven('a'), proven('b'))).toMatch(/no id and may be it/);
});

test('a list that may not show yet what is so young is no witness that it is gone', async () => {
  there = [{ id: 'a' }, { id: 'b' }];
  const { presence, occasion } = presenceOf([proven('a'), proven('b')]);
  expect(await presence.observe('a')).toBeDefined();
  await clock.advance(1_000);
  there = [{ id: 'b' }];
  Object.assign(occasion, { requested: true, startedAt: clock.now() });
  expect(await presence.observe('a')).toBeUndefined();
  await clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await clock.advance(settleMs - witnessesApartMs - 1_000);
  expect(await presence.confirmGone('a')).toBeUndefined();
});

test('a kind that is whole again is not missed by others', async () => {
  const census = new Census();
  there = [];
  const both = presenceOf([proven('a'), proven('b')], { census });
  await both.presence.observe('a');
  await both.presence.confirmGone('a');
  await clock.advance(settleMs);
  expect((await both.presence.confirmGone('a'))?.message).toMatch(/vanished at once/);
  there = [{ id: 'a' }, { id: 'b' }];
  await clock.advance(1_000);
  Object.assign(both.occasion, { lastDue: () => clock.now() });
  expect(await both.presence.observe('a')).toEqual({ id: 'a' });
  await clock.advance(600_000);
  there = [];
  const lone = presenceOf([proven('c')], { census, connection: both.connection });
  await lone.presence.observe('c');
  await lone.presence.confirmGone('c');
  await clock.advance(settleMs);
  expect(await lone.presence.confirmGone('c')).toBeUndefined();
});
