import { beforeEach, describe, expect, test } from '@jest/globals';
import { witnessesApartMs } from '../resource/memory.ts';
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

describe('of what is so young that lists may not show it yet', () => {
  let again: () => ReturnType<ReturnType<typeof presenceOf>['presence']['confirmGone']>;
  /** Its answer says once that it is not there, and a list does not show it; then it `isThere` or not. */
  const missed = async (isThere: boolean) => {
    scene.there = [{ id: 'a' }, { id: 'b' }];
    const { presence, occasion } = presenceOf([proven('a'), proven('b')]);
    expect(await presence.observe('a')).toBeDefined();
    await scene.clock.advance(1_000);
    scene.there = [{ id: 'b' }];
    Object.assign(occasion, { requested: true, startedAt: scene.clock.now() });
    expect(await presence.observe('a')).toBeUndefined();
    expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
    await scene.clock.advance(witnessesApartMs);
    scene.unlisted = isThere ? [{ id: 'a' }] : [];
    again = () => presence.confirmGone('a');
    return again();
  };

  test('a second answer is the witness, some seconds after the first', async () => {
    expect(await missed(false)).toBeUndefined();
  });

  test('and is asked for once, however often the question is', async () => {
    expect(await missed(false)).toBeUndefined();
    const gets = scene.gets;
    expect(await again()).toBeUndefined();
    expect(scene.gets).toBe(gets);
  });

  test('a list is none', async () => {
    expect((await missed(true))?.message).toMatch(/there after all: looking again/);
  });
});
