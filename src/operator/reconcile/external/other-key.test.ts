import { beforeEach, describe, expect, test } from '@jest/globals';
import { annotation } from '../resource/annotations.ts';
import { witnessesApartMs } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { presenceOf, proven, scene, setScene, settleMs } from './presence.fixture.ts';

beforeEach(setScene);

test('what was listed or missed before a key was put in force says nothing of what that one opens', async () => {
  scene.there = [];
  const { presence, connection } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await scene.clock.advance(settleMs);
  // With the wrong key; now comes the right one.
  [scene.there, connection.since] = [[{ id: 'a' }, { id: 'b' }], scene.clock.now()];
  connection.confirmedAt = scene.clock.now();
  expect(await presence.observe('a')).toEqual({ id: 'a' });
  // And another wrong one.
  await scene.clock.advance(1_000);
  [scene.there, connection.since] = [[], scene.clock.now()];
  await scene.clock.advance(1);
  expect(await presence.observe('a')).toBeUndefined();
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await scene.clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
  await scene.clock.advance(settleMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/^2 of 2 objects .* vanished at once/);
});

describe('a lone one that this process never saw', () => {
  const annotations = { [annotation.recordOf]: 'a', [annotation.keyMark]: 'aaaa-11111111' };
  const taken = { ...proven('a'), metadata: { ...proven('a').metadata, annotations } };
  const moved = { ...taken, status: { ownership: { ...taken.status?.ownership, apiURL: 'https://a.test' } } };

  async function said(object: ManagedObject, connection: object) {
    scene.there = [];
    const { presence } = presenceOf([object], { connection: { key: 'default', client: undefined, ...connection } });
    await presence.observe('a');
    await presence.confirmGone('a');
    await scene.clock.advance(settleMs);
    return (await presence.confirmGone('a'))?.message;
  }

  test('is not gone where another installation had it with a key that nobody can compare', async () => {
    expect(await said(taken, { keyMark: 'bbbb-22222222' })).toMatch(/is it the right key\?/);
    expect(await said(taken, { keyMark: 'aaaa-11111111' })).toBeUndefined();
  });

  test('is not gone where its record is of another address, which is taken over', async () => {
    const words = /^thing a was there at https:\/\/a\.test, and is not found here: is it the right address\?/;
    expect(await said(moved, { url: 'https://b.test' })).toMatch(words);
    expect(await said(moved, { url: 'https://a.test/' })).toBeUndefined();
  });
});

describe('a lone one that is not found with what is in force since', () => {
  let lone: ReturnType<typeof presenceOf>;

  beforeEach(async () => {
    scene.there = [{ id: 'a' }];
    lone = presenceOf([proven('a')]);
    expect(await lone.presence.observe('a')).toBeDefined();
    await scene.clock.advance(settleMs);
    [scene.there, lone.connection.since] = [[], scene.clock.now()];
    await scene.clock.advance(1);
  });

  /** Another key is in force, with which only the other one is there. */
  async function rekeyed() {
    await lone.presence.observe('a');
    await scene.clock.advance(settleMs);
    const since = scene.clock.now();
    [scene.there, lone.connection.since] = [[{ id: 'b' }], since];
    lone.connection.hadAnotherKey = (at) => at < since;
    await scene.clock.advance(1);
  }

  async function looks() {
    await lone.presence.observe('a');
    await lone.presence.confirmGone('a');
    await scene.clock.advance(2 * settleMs);
    return (await lone.presence.confirmGone('a'))?.message;
  }

  test('another key is not gone, unless a person says so', async () => {
    lone.connection.hadAnotherKey = () => true;
    expect(await looks()).toMatch(/^thing a was there with the API key before this one.* is it the right key\?/);
    lone.connection.confirmedAt = scene.clock.now();
    expect(await looks()).toBeUndefined();
  });

  test.each([
    ['with which it was made, is gone', true, /^$/],
    ['that came before it was answered, is not', false, /is it the right key\?/],
  ])('the key in force %s', async (_, isMade, said) => {
    const [first, last] = [scene.clock.now() - 3_000, scene.clock.now()];
    const facts = lone.memory.of('a');
    facts.made = { id: 'a', at: isMade ? first : last };
    // When it was seen first is when that was answered, whatever key it was asked for with.
    facts.seen = { id: 'a', firstAt: first, at: last };
    lone.connection.hadAnotherKey = (at) => at >= last;
    expect((await looks()) ?? '').toMatch(said);
  });

  describe('another key, and a person says that it is gone,', () => {
    beforeEach(async () => {
      lone.connection.hadAnotherKey = () => true;
      await looks();
      lone.connection.confirmedAt = scene.clock.now();
    });

    test('is looked for once more before that is believed', async () => {
      expect((await lone.presence.confirmGone('a'))?.message).toMatch(/making sure/);
      await scene.clock.advance(witnessesApartMs);
      expect(await lone.presence.confirmGone('a')).toBeUndefined();
    });

    test('is not gone where another key turns out to be on record by then', async () => {
      await lone.presence.confirmGone('a');
      await scene.clock.advance(witnessesApartMs);
      lone.connection.readKey = async () => {
        scene.clock.freeze(1);
        lone.connection.since = scene.clock.now();
        return true;
      };
      expect((await lone.presence.confirmGone('a'))?.message).toMatch(/making sure/);
    });

    test('is not gone while its key cannot be read', async () => {
      await lone.presence.confirmGone('a');
      await scene.clock.advance(witnessesApartMs);
      lone.connection.readKey = async () => false;
      expect((await lone.presence.confirmGone('a'))?.message).toMatch(/is it the right key\?/);
      lone.connection.readKey = async () => true;
      expect(await lone.presence.confirmGone('a')).toBeUndefined();
    });
  });

  test('another key may not be told to be gone where it is not made again either, unless a person says so', async () => {
    lone.connection.hadAnotherKey = () => true;
    await lone.presence.observe('a');
    expect(lone.presence.doubtOfImport('a')).toMatch(/is it the right key\?/);
    lone.connection.confirmedAt = scene.clock.now();
    expect(lone.presence.doubtOfImport('a')).toBeUndefined();
    delete lone.connection.confirmedAt;
    expect(lone.presence.doubtOfImport('a')).toBeUndefined();
  });

  test('another key is gone where that opens what was there before', async () => {
    scene.there = [{ id: 'a' }, { id: 'b' }];
    lone = presenceOf([proven('a'), proven('b')]);
    lone.memory.of('b').seen = { id: 'b', firstAt: scene.clock.now(), at: scene.clock.now() };
    await rekeyed();
    expect(await looks()).toBeUndefined();
  });

  test.each(['Imported', 'Created'] as const)(
    'another key is not gone by what is there, and was first there with that one (%s)',
    async (how) => {
      scene.there = [{ id: 'a' }];
      lone = presenceOf([proven('a'), proven('b', how)]);
      await rekeyed();
      lone.memory.of('b').seen = { id: 'b', firstAt: scene.clock.now(), at: scene.clock.now() };
      expect(await looks()).toMatch(/is it the right key\?/);
    },
  );

  test('the same key, as after another replica, is gone', async () => {
    expect(await looks()).toBeUndefined();
  });
});

describe('a lone one that an earlier process had, and this one never saw', () => {
  /** With a key of this mark in force. */
  const sceneWith = (keyMark: string | undefined) => {
    const annotations = { [annotation.recordOf]: 'a', [annotation.keyMark]: 'a1b2-00000001' };
    const made = { ...proven('a'), metadata: { ...proven('a').metadata, annotations } };
    const connection = { key: 'default', client: undefined, ...(keyMark && { keyMark }) };
    return presenceOf([made], { connection });
  };

  /** Of a second look, so much later; nothing where it is gone. */
  async function saidAfter(ms: number, { presence }: Pick<ReturnType<typeof sceneWith>, 'presence'>) {
    await presence.observe('a');
    await presence.confirmGone('a');
    await scene.clock.advance(ms);
    return (await presence.confirmGone('a'))?.message ?? '';
  }

  test.each([
    ['this key by its record, is gone', 'a1b2-00000001', /^$/],
    ['another, is not', 'a1b2-00000002', /^thing a was there with the API key before this one/],
  ])('before its account was away, with %s', async (_, keyMark, said) => {
    const { presence, connection, memory } = sceneWith(keyMark);
    const at = scene.clock.now();
    memory.of('a').seen = { id: 'a', firstAt: at, at };
    await scene.clock.advance(1);
    Object.assign(connection, { since: scene.clock.now(), hadAnotherKey: () => true });
    expect(await saidAfter(2 * settleMs, { presence })).toMatch(said);
  });

  test.each([
    ['with another key is not gone', 'a1b2-00000002', /^thing a was there with the API key before this one/],
    ['with this key is gone', 'a1b2-00000001', /^$/],
    ['is gone where nothing tells keys apart', undefined, /^$/],
  ])('%s', async (_, keyMark, said) => {
    expect(await saidAfter(settleMs, sceneWith(keyMark))).toMatch(said);
  });

  test.each([
    ['with this key is gone some seconds later', 'a1b2-00000001', false],
    ['with another key is not', 'a1b2-00000002', true],
    ['where nothing tells keys apart is not', undefined, true],
  ])('%s', async (_, keyMark, isUnsure) => {
    const { presence } = sceneWith(keyMark);
    await presence.observe('a');
    await scene.clock.advance(witnessesApartMs);
    expect((await presence.confirmGone('a')) !== undefined).toBe(isUnsure);
  });
});

describe('one of which an earlier process asked whether the key is the right one', () => {
  const doubt = /^thing a was there with the API key before this one/;
  const resource = (name: string, keyMark: string, message = '') => {
    const { metadata, ...made } = proven(name);
    const annotations = { [annotation.recordOf]: name, [annotation.keyMark]: keyMark };
    const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' } as const;
    return { ...made, metadata: { ...metadata, annotations }, status: { ...made.status, conditions: [ready] } };
  };
  const keyMark = 'a1b2-00000002';
  const connection = { key: 'default', client: undefined, keyMark };
  /** @param otherMark of what is there */
  const looks = async (message: string, otherMark: string) => {
    const { presence } = presenceOf([resource('a', 'a1b2-00000001', message), resource('b', otherMark)], {
      connection,
    });
    scene.there = [{ id: 'b' }];
    await presence.observe('a');
    const said = [(await presence.confirmGone('a'))?.message];
    await scene.clock.advance(settleMs);
    return [...said, (await presence.confirmGone('a'))?.message];
  };
  const asked = async () => {
    const { presence } = presenceOf([resource('a', 'a1b2-00000001')], { connection });
    scene.there = [];
    await presence.confirmGone('a');
    await scene.clock.advance(settleMs);
    return (await presence.confirmGone('a'))?.message ?? '';
  };

  test('is asked for until somebody answers, whatever was made with that key meanwhile', async () => {
    expect(await looks(await asked(), keyMark)).toEqual([expect.stringMatching(doubt), expect.stringMatching(doubt)]);
  });

  test('is asked for again where an outage wrote over the question', async () => {
    expect(await looks('503', keyMark)).toEqual([expect.stringMatching(/making sure/), expect.stringMatching(doubt)]);
  });

  test('is gone where one is there that was there with another key', async () => {
    expect(await looks('', 'a1b2-00000001')).toEqual([expect.stringMatching(/making sure/), undefined]);
  });
});

test('a list during which another key came says nothing of what that one opens', async () => {
  const { presence, connection } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  await presence.confirmGone('a');
  await scene.clock.advance(settleMs);
  scene.onList = () => {
    connection.since = scene.clock.now();
  };
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
});

test('what was seen by an answer that came after another key was not seen with that one', async () => {
  scene.there = [{ id: 'a' }, { id: 'b' }];
  const { presence, connection, occasion } = presenceOf([proven('a'), proven('b')]);
  await presence.observe('a');
  await scene.clock.advance(settleMs);
  Object.assign(occasion, { lastDue: () => scene.clock.now() });
  scene.onList = () => {
    scene.clock.freeze(1);
    connection.since = scene.clock.now();
    scene.clock.freeze(1);
  };
  await presence.observe('a');
  scene.onList = () => {};
  scene.there = [{ id: 'b' }];
  expect(await presence.observe('a')).toBeUndefined();
  await presence.confirmGone('a');
  await scene.clock.advance(witnessesApartMs);
  expect((await presence.confirmGone('a'))?.message).toMatch(/making sure/);
});
