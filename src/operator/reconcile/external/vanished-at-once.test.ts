import { beforeEach, describe, expect, test } from '@jest/globals';
import { annotation, finalizer } from '../resource/annotations.ts';
import { Census } from './census.ts';
import { begun, presenceOf, proven, saidBy, saidOf, scene, setScene, settleMs, unproven } from './presence.fixture.ts';

beforeEach(setScene);

test('of several that vanish at once nothing is concluded', async () => {
  scene.there = [{ id: 'c' }];
  expect(await saidOf(proven('a'), proven('b'), proven('c'))).toMatch(/^2 of 3 objects .* vanished at once/);
});

test('what somebody merely says that he made neither vanishes nor is there', async () => {
  scene.there = [{ id: 'b' }];
  expect(await saidOf(proven('a'), proven('b'), unproven('x'), unproven('y'))).toBeUndefined();
});

test('nor does it of another kind, where something is proven of any', async () => {
  const census = new Census();
  scene.there = [];
  const forged = presenceOf([unproven('x'), unproven('y')], { census });
  await forged.presence.observe('x');
  await forged.presence.confirmGone('x');
  await scene.clock.advance(settleMs);
  expect((await forged.presence.confirmGone('x'))?.message).toMatch(/vanished at once/);
  scene.there = [{ id: 'b' }];
  const { presence } = presenceOf([proven('a'), proven('b')], { census, connection: forged.connection });
  await presence.observe('a');
  await presence.confirmGone('a');
  await scene.clock.advance(settleMs);
  expect(await presence.confirmGone('a')).toBeUndefined();
});

test('nor what is deleted already, and somebody else still holds', async () => {
  scene.there = [{ id: 'b' }];
  const released = (name: string) => {
    const made = proven(name);
    return {
      ...made,
      metadata: { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['other'] },
    };
  };
  expect(await saidOf(proven('a'), proven('b'), released('c'), released('d'))).toBeUndefined();
});

test('nor what an earlier process removed, and could not let go', async () => {
  scene.there = [{ id: 'b' }];
  const removed = (name: string) => {
    const { metadata, status, ...made } = proven(name);
    return {
      ...made,
      metadata: { ...metadata, deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: [finalizer] },
      status: { ownership: { ...status?.ownership, removedFor: name } },
    };
  };
  expect(await saidOf(proven('a'), proven('b'), removed('c'), removed('d'))).toBeUndefined();
});

test('nor what was made at another address, and is not looked for at this one', async () => {
  scene.there = [{ id: 'b' }];
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
  memory.of('b').absent = { id: 'b', at: scene.clock.now(), lookedAt: scene.clock.now() };
  scene.there = [{ id: 'a' }];
  await scene.clock.advance(apartMs);
  await presence.observe('a');
  scene.there = [];
  await scene.clock.advance(settleMs);
  await presence.confirmGone('a');
  await scene.clock.advance(settleMs);
  const outcome = (await presence.confirmGone('a'))?.message;
  if (said === undefined) expect(outcome).toBeUndefined();
  else expect(outcome).toMatch(said);
});

test('but for where nothing is proven, as after the restore of a backup without statuses', async () => {
  expect(await saidOf(unproven('a'), unproven('b'))).toMatch(/^2 of 2 objects .* vanished at once/);
});

test.each([
  ['another trouble', 'connect ECONNREFUSED', /vanished at once/],
  ['that', '2 of 2 objects vanished at once: %', undefined],
])('what vanished at once is gone by the word of a person who was told of %s: %s', async (_, told, said) => {
  const [a, b] = [proven('a'), proven('b')];
  const { presence } = presenceOf([a, b]);
  await presence.observe('a');
  await presence.confirmGone('a');
  await scene.clock.advance(settleMs);
  const asked = (await presence.confirmGone('a'))?.message ?? '';
  const message = told.replace('%', asked);
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' } as const;
  const metadata = { ...a.metadata, annotations: { [annotation.reconcileAt]: 'now' } };
  const again = presenceOf([{ ...a, metadata, status: { ...a.status, conditions: [ready] } }, b]).presence;
  await again.observe('a');
  await again.confirmGone('a');
  await scene.clock.advance(settleMs);
  if (said === undefined) expect(await again.confirmGone('a')).toBeUndefined();
  else expect((await again.confirmGone('a'))?.message).toMatch(said);
});

test('what an earlier process asked of them stays asked, from the first look on', async () => {
  const [a, b] = [proven('a'), proven('b')];
  const message = (await saidOf(a, b)) ?? '';
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' } as const;
  const { presence } = presenceOf([{ ...a, status: { ...a.status, conditions: [ready] } }, b]);
  await presence.observe('a');
  expect(await presence.confirmGone('a')).toMatchObject({ reason: 'Unreachable', message });
});

test('what was denied with the others is no witness any more when these are back', async () => {
  const census = new Census();
  const lone = presenceOf([proven('a')], { census });
  const others = presenceOf([proven('b'), proven('c')], { census, connection: lone.connection });
  for (const { presence } of [others, lone]) await presence.observe(presence === lone.presence ? 'a' : 'b');
  for (const id of ['b', 'a']) {
    const { presence } = id === 'a' ? lone : others;
    await presence.confirmGone(id);
    await scene.clock.advance(settleMs);
    expect((await presence.confirmGone(id))?.message).toMatch(/vanished at once/);
  }
  await scene.clock.advance(60_000);
  scene.there = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  Object.assign(others.occasion, { lastDue: () => scene.clock.now() });
  expect(await others.presence.observe('b')).toEqual({ id: 'b' });
  expect((await lone.presence.confirmGone('a'))?.message).toMatch(/was not found: making sure that it is gone/);
  expect(await lone.presence.observe('a')).toEqual({ id: 'a' });
});

test('a kind that is whole again is not missed by others', async () => {
  const census = new Census();
  scene.there = [];
  const both = presenceOf([proven('a'), proven('b')], { census });
  await both.presence.observe('a');
  await both.presence.confirmGone('a');
  await scene.clock.advance(settleMs);
  expect((await both.presence.confirmGone('a'))?.message).toMatch(/vanished at once/);
  scene.there = [{ id: 'a' }, { id: 'b' }];
  await scene.clock.advance(1_000);
  Object.assign(both.occasion, { lastDue: () => scene.clock.now() });
  expect(await both.presence.observe('a')).toEqual({ id: 'a' });
  await scene.clock.advance(600_000);
  scene.there = [];
  const lone = presenceOf([proven('c')], { census, connection: both.connection });
  await lone.presence.observe('c');
  await lone.presence.confirmGone('c');
  await scene.clock.advance(settleMs);
  expect(await lone.presence.confirmGone('c')).toBeUndefined();
});

describe('what this very process made', () => {
  test.each([
    ['and has not on record yet, counts', true, /^3 of 3 objects/],
    ['and has not heard of, does not', false, undefined],
  ])('%s', async (_, isMade, said) => {
    const all = [proven('a'), proven('b'), begun('c')] as const;
    const { presence, memory, objects } = presenceOf(all);
    const at = scene.clock.now();
    for (const id of ['a', 'b', ...(isMade ? ['c'] : [])]) {
      Object.assign(memory.of(id), { made: { id, at }, seen: { id, firstAt: at, at } });
      objects.cache.record({ id }, at);
    }
    if (isMade) objects.claims.claim('c', 'c');
    scene.there = [];
    expect(await saidBy({ presence }, all)).toEqual(said === undefined ? undefined : expect.stringMatching(said));
  });

  /** A first one of these, which is missing, and its rivals; and what makes them now, with the key in force. */
  function given(first: string, ...others: readonly string[]) {
    const all = [proven(first), ...others.map((name) => proven(name))] as const;
    const { presence, memory, objects, occasion } = presenceOf(all);
    Object.assign(occasion, { lastDue: () => scene.clock.now() });
    const make = (...names: readonly string[]) => {
      const at = scene.clock.now();
      for (const id of names) {
        Object.assign(memory.of(id), { made: { id, at }, seen: { id, firstAt: at, at } });
        objects.cache.record({ id }, at);
      }
    };
    const stays = (...names: readonly string[]) => {
      scene.there = names.map((id) => ({ id }));
    };
    return { make, stays, said: () => saidBy({ presence }, all) };
  }

  test.each([
    ['two that vanish are gone', ['a', 'b'], [], undefined],
    ['three of three are in doubt', ['a', 'b', 'c'], [], /^3 of 3 objects/],
    ['three are gone where more are there', ['a', 'b', 'c'], ['d', 'e', 'f', 'g'], undefined],
    ['three are in doubt where no more are there', ['a', 'b', 'c'], ['d', 'e', 'f'], /^3 of 6 objects/],
  ] as const)('of that %s', async (_, [first, ...others], there, said) => {
    const { make, stays, said: outcome } = given(first, ...others, ...there);
    make(...there);
    await scene.clock.advance(1_000);
    make(first, ...others);
    await scene.clock.advance(1_000);
    stays(...there);
    if (said === undefined) expect(await outcome()).toBeUndefined();
    else expect(await outcome()).toMatch(said);
  });

  test('since the others were last there proves nothing: it is where the key leads now', async () => {
    const { make, stays, said } = given('a', 'b', 'c', 'd', 'e', 'f', 'g');
    make('a', 'b', 'c');
    await scene.clock.advance(1_000);
    make('d', 'e', 'f', 'g');
    await scene.clock.advance(1_000);
    stays('d', 'e', 'f', 'g');
    expect(await said()).toMatch(/^3 of 3 objects/);
  });

  test('proves nothing of what was there before it', async () => {
    const { make, stays, said } = given('a', 'b', 'c', 'd', 'e');
    make('c', 'd', 'e');
    await scene.clock.advance(1_000);
    stays('c', 'd', 'e');
    expect(await said()).toMatch(/^2 of 2 objects/);
  });

  test('counts with what was there before', async () => {
    const { make, said } = given('a', 'b', 'c');
    make('b', 'c');
    await scene.clock.advance(1_000);
    expect(await said()).toMatch(/^3 of 3 objects/);
  });
});

describe('one that is not looked for, as it is paused,', () => {
  const paused = (name: string) => {
    const object = proven(name);
    return { ...object, metadata: { ...object.metadata, annotations: { [annotation.paused]: 'true' } } };
  };

  test('and that nobody ever saw is not missed', async () => {
    scene.there = [];
    expect(await saidOf(proven('a'), paused('b'))).toBeUndefined();
  });

  test.each([
    ['long before', settleMs + 1, paused, undefined],
    ['just before', settleMs - 1, paused, /^2 of 2 objects/],
    ['long before, or for another reason,', settleMs + 1, proven, undefined],
  ] as const)('and that was missed %s others vanishes with them, or not', async (_when, apartMs, other, said) => {
    const all = [proven('a'), other('b')] as const;
    const given = presenceOf(all);
    Object.assign(given.occasion, { lastDue: () => scene.clock.now() });
    scene.there = [{ id: 'a' }, { id: 'b' }];
    await given.presence.observe('a');
    await scene.clock.advance(settleMs);
    scene.there = [{ id: 'a' }];
    await given.presence.observe('a');
    await scene.clock.advance(apartMs);
    await given.presence.observe('a');
    scene.there = [];
    await scene.clock.advance(1_000);
    const outcome = await saidBy(given, all);
    if (said === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatch(said);
  });

  test('is there where a list shows it', async () => {
    scene.there = [{ id: 'c' }, { id: 'd' }, { id: 'e' }];
    expect(await saidOf(proven('a'), proven('b'), paused('c'), paused('d'), paused('e'))).toBeUndefined();
  });
});
