import { beforeEach, expect, test } from '@jest/globals';
import { witnessesApartMs } from '../memory.ts';
import { presenceOf, proven, saidOf, scene, setScene, settleMs } from './presence.fixture.ts';

beforeEach(setScene);

test('a lone one that two witnesses miss is gone', async () => {
  scene.there = [{ id: 'b' }];
  expect(await saidOf(proven('a'), proven('b'))).toBeUndefined();
});

test('what an answer said is not there is not there by an older list, nor by any list alone', async () => {
  scene.there = [{ id: 'a' }, { id: 'b' }];
  const { presence, occasion } = presenceOf([proven('a'), proven('b')]);
  expect(await presence.observe('a')).toBeDefined();
  await scene.clock.advance(settleMs);
  scene.there = [{ id: 'b' }];
  Object.assign(occasion, { requested: true, startedAt: scene.clock.now() });
  expect(await presence.observe('a')).toBeUndefined();
  await scene.clock.advance(witnessesApartMs);
  Object.assign(occasion, { requested: false });
  expect(await presence.observe('a')).toBeUndefined();
  expect(await presence.confirmGone('a')).toBeUndefined();
});

test('what a list shows and cannot be read is not gone', async () => {
  scene.there = [{ id: 'b' }];
  scene.odd = [{ id: 'a', createdAt: undefined, problem: 'created_at: expected string' }];
  expect(await saidOf(proven('a'), proven('b'))).toMatch(/in a list and is not found alone/);
});

test('nor what may be an item of a list without an id', async () => {
  scene.there = [{ id: 'b' }];
  scene.odd = [{ id: undefined, createdAt: undefined, problem: 'id: expected string' }];
  expect(await saidOf(proven('a'), proven('b'))).toMatch(/no id and may be it/);
});

test('a list that may not show yet what is so young is no witness that it is gone', async () => {
  scene.there = [{ id: 'a' }, { id: 'b' }];
  const { presence, occasion } = presenceOf([proven('a'), proven('b')]);
  expect(await presence.observe('a')).toBeDefined();
  await scene.clock.advance(1_000);
  scene.there = [{ id: 'b' }];
  Object.assign(occasion, { requested: true, startedAt: scene.clock.now() });
  expect(await presence.observe('a')).toBeUndefined();
  await scene.clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await scene.clock.advance(settleMs - witnessesApartMs - 1_000);
  expect(await presence.confirmGone('a')).toBeUndefined();
});
