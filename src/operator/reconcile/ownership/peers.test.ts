import { describe, expect, test } from '@jest/globals';
import { annotation } from '../resource/annotations.ts';
import { Memory } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { standingOn, standingOnPart, standingToRemovePart } from './ownership.ts';
import { Peers } from './peers.ts';

function resource(name: string, seconds: number, account: string): ManagedObject {
  const creationTimestamp = new Date(seconds * 1_000).toISOString();
  const metadata = { name, namespace: 'ns', uid: name, creationTimestamp };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'BotUser', metadata, spec: { account } };
}

const [older, mine, elsewhere] = [resource('older', 1, 'a'), resource('mine', 2, 'a'), resource('elsewhere', 0, 'b')];
const index = {
  get: (key: string) => (key === 'ns/mine' ? mine : undefined),
  list: () => [],
  claimants: (claim: string) => (claim === 'x' ? [elsewhere, mine, older] : []),
};
const memory = new Memory();
const accountOf = ({ spec: { account } }: ManagedObject) => ({ identity: String(account) });
const peers = new Peers({ index, memory, accountOf });

test('a rival has a better claim on the same in the same account', () => {
  expect(peers.rivalOf(mine, 'x', () => 0)).toBe(older);
  expect(peers.rivalOf(mine, 'x', (object) => (object === mine ? 0 : 1))).toBeUndefined();
  expect(peers.rivalOf(mine, 'y', () => 0)).toBeUndefined();
});

test('what another key is proven to have opened at the same address is the same thing', () => {
  const held = (apiURL: string, how: 'Created' | 'Imported'): ManagedObject => ({
    ...elsewhere,
    status: { ownership: { installation: 'one', id: 'x', how, apiURL } },
  });
  const rival = (other: ManagedObject, reach?: 'address') => {
    const claimants = () => [other, mine];
    const at = (object: ManagedObject) => ({ ...accountOf(object), url: 'https://api' });
    const all = new Peers({ index: { ...index, claimants }, memory, accountOf: at });
    return all.rivalOf(mine, 'x', standingOn('x'), reach);
  };
  expect(rival(held('https://api', 'Imported'), 'address')).toMatchObject({ metadata: { name: 'elsewhere' } });
  expect(rival(held('https://API:443/', 'Created'), 'address')).toBeDefined();
  expect(rival(held('https://another', 'Created'), 'address')).toBeUndefined();
  // What annotations say is trusted in its own account alone, and so is a path.
  expect(rival(elsewhere, 'address')).toBeUndefined();
  expect(rival(held('https://api', 'Created'))).toBeUndefined();
});

test('what annotations say was made at another address is no better than a wish', () => {
  const noted = (apiURL: string, status?: ManagedObject['status']): ManagedObject => {
    const records = { 'record-of': 'mine', 'applied-parts': 'part', 'api-url': apiURL };
    const annotations = Object.entries(records).map(([name, value]) => [`edge-operator.dev/${name}`, value]);
    return {
      ...mine,
      metadata: { ...mine.metadata, annotations: Object.fromEntries(annotations) },
      ...(status && { status }),
    };
  };
  const rivalOfOlder = (other: ManagedObject) => {
    const at = (object: ManagedObject) => ({ ...accountOf(object), url: 'https://api' });
    const all = new Peers({ index: { ...index, claimants: () => [older, other] }, memory, accountOf: at });
    return all.rivalOf(older, 'x', standingOnPart('part'));
  };
  expect(rivalOfOlder(noted('https://API:443/'))).toBeDefined();
  expect(rivalOfOlder(noted('https://another'))).toBeUndefined();
  // The API may have moved, with all that is in it.
  const proof: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['part'], apiURL: 'https://another' } };
  expect(rivalOfOlder(noted('https://another', proof))).toBeDefined();
});

test('of two of one standing the one whose account has had its key for longer has it', () => {
  const rekeyed = (late: ManagedObject, at: number) =>
    new Peers({
      index,
      memory,
      accountOf: (object) => ({ ...accountOf(object), ...(object === late && { rekeyedAt: at }) }),
    });
  expect(rekeyed(older, 5).rivalOf(mine, 'x', () => 0)).toBeUndefined();
  expect(rekeyed(older, 5).rivalOf(older, 'x', () => 0)).toBe(mine);
  expect(rekeyed(mine, 5).rivalOf(mine, 'x', () => 0)).toBe(older);
  expect(rekeyed(older, 5).rivalOf(mine, 'x', (object) => (object === older ? 0 : 1))).toBe(older);
});

describe('what is proven to be there by one whose account had the same key once', () => {
  const had: Record<string, readonly string[]> = {
    a: ['old', 'a'],
    b: ['old', 'b'],
    c: ['c'],
    keyless: [],
    moved: ['m'],
  };
  const proven = (account: string, apiURL = 'https://api'): ManagedObject => ({
    ...resource('proven', 3, account),
    status: { ownership: { installation: 'one', how: 'Applied', parts: ['part'], apiURL } },
  });
  const applied = (uid: string) => ({ [annotation.appliedParts]: 'part', [annotation.recordOf]: uid });
  const among = (object: ManagedObject, other: ManagedObject) =>
    new Peers({
      index: { ...index, claimants: () => [object, other] },
      memory,
      accountOf: ({ spec: { account } }) => ({
        identity: String(account),
        identities: () => had[String(account)] ?? [],
        url: account === 'moved' ? 'https://another' : 'https://api',
      }),
    });
  const rivalOf = (object: ManagedObject, other: ManagedObject) =>
    among(object, other).rivalOf(object, 'x', standingOnPart('part'));

  test('is not for others to have, though the other was there first', () => {
    const other = proven('b');
    expect(rivalOf(mine, other)).toBe(other);
  });

  test('is another thing to who is proven to have it himself, and where no key was shared', () => {
    expect(rivalOf({ ...mine, status: proven('a').status ?? {} }, proven('b'))).toBeUndefined();
    expect(rivalOf(mine, proven('c'))).toBeUndefined();
  });

  test('is not for who lost it to him, though he has it too, with the key that is his own now', () => {
    const lost = (account: string, contested: string[]): ManagedObject => ({
      ...resource('lost', 1, account),
      status: { ownership: { how: 'Applied', parts: ['part'], contested } },
    });
    const holder = proven('b');
    expect(rivalOf(lost('old', ['part']), holder)).toBe(holder);
    expect(rivalOf(lost('old', ['another']), holder)).toBeUndefined();
    // With his own key again he has another thing.
    expect(rivalOf(lost('c', ['part']), holder)).toBeUndefined();
    expect(rivalOf(holder, lost('b', ['part']))).toBeUndefined();
  });

  test('is not removed either by who lost it to him and has it too', () => {
    const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['part'], contested: ['part'] } };
    const [holder, lost] = [proven('b'), { ...resource('lost', 1, 'old'), status }];
    const keeperOf = (object: ManagedObject) =>
      among(object, holder).keeperOf(object, 'x', standingToRemovePart('part'));
    expect(keeperOf(lost)).toBe(holder);
    expect(keeperOf({ ...lost, status: proven('b').status ?? {} })).toBeUndefined();
  });

  test.each([
    ['who asks for it', {}, true],
    ['who is paused', { [annotation.paused]: 'true' }, false],
    ['who is paused and says that he applied it', { [annotation.paused]: 'true', ...applied('wish') }, true],
  ])('is left by who lost his proof to an older one: %s', (_, annotations, isLeft) => {
    const given = (name: string, seconds: number, more: Record<string, string>): ManagedObject => {
      const object = resource(name, seconds, 'b');
      return { ...object, metadata: { ...object.metadata, annotations: more } };
    };
    const [wish, lost] = [given('wish', 1, annotations), given('lost', 2, applied('lost'))];
    const keeper = among(lost, wish).keeperOf(lost, 'x', standingToRemovePart('part'));
    expect(keeper).toBe(isLeft ? wish : undefined);
  });

  test('is not either while it is not known what his key opens', () => {
    expect(rivalOf(mine, proven('keyless'))).toBeDefined();
    expect(rivalOf(mine, proven('keyless', 'https://another'))).toBeUndefined();
    expect(rivalOf(mine, proven('moved'))).toBeDefined();
    expect(rivalOf(mine, proven('moved', 'https://another'))).toBeUndefined();
  });

  test('is what only a wish or an annotation says no more', () => {
    expect(rivalOf(mine, resource('wish', 3, 'b'))).toBeUndefined();
  });
});

test('one that went, or gave way to a namesake, is not there', () => {
  expect(peers.isCached(mine)).toBe(true);
  expect(peers.isCached(older)).toBe(false);
  expect(peers.isCached({ ...mine, metadata: { ...mine.metadata, uid: 'another' } })).toBe(false);
});

test('where a claim says all, accounts do not matter', () => {
  expect(new Peers({ index, memory }).rivalOf(mine, 'x', () => 0)).toBe(elsewhere);
});

describe('what one is proven to have, who only observes it', () => {
  const proof: ManagedObject['status'] = { ownership: { installation: 'one', how: 'Applied', parts: ['part'] } };
  const observer = {
    ...resource('observer', 3, 'a'),
    spec: { account: 'a', managementPolicy: 'Observe' },
    status: proof,
  };
  const all = new Peers({ index: { ...index, claimants: () => [observer] }, memory, accountOf });
  const removed = (object: ManagedObject) => all.keeperOf(object, 'x', standingOnPart('part'));
  const taken = (object: ManagedObject) => all.rivalOf(object, 'x', standingOnPart('part'));
  const foreign = { ...mine, metadata: { ...mine.metadata, namespace: 'foreign' } };

  test('is not removed for what annotations say', () => {
    const annotations = { 'edge-operator.dev/record-of': 'mine', 'edge-operator.dev/applied-parts': 'part' };
    expect(removed({ ...mine, metadata: { ...mine.metadata, annotations } })).toBe(observer);
    expect(removed({ ...elsewhere, metadata: { ...elsewhere.metadata, annotations } })).toBeUndefined();
  });

  test('is removed by who is proven to have it too', () => {
    expect(removed({ ...mine, status: proof })).toBeUndefined();
    expect(removed({ ...foreign, status: proof })).toBeUndefined();
  });

  test('is another one’s to take over in his namespace, and not from elsewhere', () => {
    expect(taken(mine)).toBeUndefined();
    expect(taken(foreign)).toBe(observer);
    expect(taken({ ...foreign, spec: { account: 'b' } })).toBeUndefined();
    expect(taken({ ...foreign, status: proof })).toBeUndefined();
  });
});

describe('what two are proven to have, of which one goes', () => {
  const proof: ManagedObject['status'] = { ownership: { installation: 'one', how: 'Applied', parts: ['part'] } };
  const standing = standingOnPart('part');
  const going = { ...older, status: proof };
  const staying = { ...mine, status: proof };
  const among = (others: readonly ManagedObject[], isUnread = false) => {
    const at = (object: ManagedObject) => ({ ...accountOf(object), isUnread: isUnread && object !== going });
    return new Peers({ index: { ...index, claimants: () => [going, ...others] }, memory, accountOf: at });
  };
  const deleted = (object: ManagedObject): ManagedObject => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });

  test('is kept by the one that stays, though the other came first: their accounts may be two', () => {
    expect(among([staying]).keeperOf(going, 'x', standing)).toBe(staying);
    expect(among([mine]).keeperOf(going, 'x', standing)).toBeUndefined();
    expect(among([{ ...elsewhere, status: proof }]).keeperOf(going, 'x', standing)).toBeUndefined();
    expect(among([deleted(staying)]).keeperOf(going, 'x', standing)).toBeUndefined();
  });

  test('may be kept by one whose account is not read yet', () => {
    const there = { ...elsewhere, status: proof };
    expect(among([there], true).mayBeKept('x', standing)).toBe(true);
    expect(among([there]).mayBeKept('x', standing)).toBe(false);
    expect(among([elsewhere], true).mayBeKept('x', standing)).toBe(false);
    expect(among([deleted(there)], true).mayBeKept('x', standing)).toBe(false);
  });
});
