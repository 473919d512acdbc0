import { describe, expect, test } from '@jest/globals';
import { isUsableID } from '../../../common/cloud-id.ts';
import type { ManagedObject } from '../resource/resource.ts';
import {
  accountKeyOf,
  appliedParts,
  claimOf,
  externalIDOf,
  isSameInstallation,
  misnamedIDOf,
  originOf,
  ownedIDOf,
  rivalName,
  standingOn,
  unprovenAccount,
  unusableID,
  winnerOver,
} from './ownership.ts';

function resource(
  name: string,
  fields: { created?: string; id?: string; statusID?: string; intent?: string; account?: string } = {},
) {
  const annotations: Record<string, string> = {};
  if (fields.id !== undefined) annotations['edge-operator.dev/external-id'] = fields.id;
  if (fields.intent !== undefined) {
    annotations['edge-operator.dev/create-intent'] = fields.intent;
    annotations['edge-operator.dev/record-of'] = `uid-${name}`;
  }
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      creationTimestamp: fields.created ?? '2026-01-01T00:00:00Z',
      annotations,
    },
    spec: fields.account === undefined ? {} : { accountRef: { name: fields.account } },
    ...(fields.statusID === undefined ? {} : { status: { id: fields.statusID } }),
  } satisfies ManagedObject;
}

describe('externalIDOf', () => {
  test('the annotation is the record', () => expect(externalIDOf(resource('a', { id: 'x', statusID: 'y' }))).toBe('x'));
  test('a wiped annotation is remembered by the status', () =>
    expect(externalIDOf(resource('a', { statusID: 'y' }))).toBe('y'));
  test('but not while a create is under way: the status is of what it replaces', () =>
    expect(externalIDOf(resource('a', { statusID: 'y', intent: '{}' }))).toBeUndefined());
  test('an empty annotation is none', () => expect(externalIDOf(resource('a', { id: '' }))).toBeUndefined());
});

describe('ids that no request may carry', () => {
  test.each(['.', '..', '../bot_users', 'a/b', 'a%2Fb', 'a b', 'a?b', 'a#b', 'é', 'a\n', 'a'.repeat(129), '\u202e'])(
    '%j is Rejected, claims nothing, and does not hide what the resource made',
    (id) => {
      expect(isUsableID(id)).toBe(false);
      expect(unusableID(resource('a', { id }))).toMatch(/external-id is ".{1,45}", which is no id/);
      expect(claimOf(resource('a', { id }))).toEqual([]);
      expect(externalIDOf(resource('a', { id, statusID: 'bot_1' }))).toBe('bot_1');
      expect(externalIDOf(resource('a', { id, statusID: 'bot_1', intent: '{}' }))).toBeUndefined();
    },
  );

  test.each(['ra_2f5xDeYhHhzhEEDKNGZ4yxgdfNK', 'a-b_C9', 'a'.repeat(128)])('%s may', (id) => {
    expect(isUsableID(id)).toBe(true);
    expect(unusableID(resource('a', { id }))).toBeUndefined();
  });
});

describe('claims', () => {
  test('are told apart by account', () => {
    expect(accountKeyOf(resource('a'))).toBe('default');
    expect(accountKeyOf(resource('a', { account: 'other' }))).toBe('ns/other');
    expect(accountKeyOf(resource('a', { account: 'No Name' }))).toBe('ns/No Name');
    expect(claimOf(resource('a', { id: 'x' }))).toEqual(['x']);
    expect(claimOf(resource('a'))).toEqual([]);
  });

  test('the oldest wins; names break a tie the same way seen from either side', () => {
    const [a, b, old] = [resource('a'), resource('b'), resource('z', { created: '2025-01-01T00:00:00Z' })];
    expect(winnerOver(b, [a, b])).toBe(a);
    expect(winnerOver(a, [a, b])).toBeUndefined();
    expect(winnerOver(a, [a, b, old])).toBe(old);
    expect(winnerOver(old, [a, b, old])).toBeUndefined();
  });
});

test('an installation is the same where the uid of its namespace could not be read', () => {
  expect(isSameInstallation('edge-0123abcd', 'edge-0123abcd')).toBe(true);
  expect([isSameInstallation('edge', 'edge-0123abcd'), isSameInstallation('edge-0123abcd', 'edge')]).toEqual([
    true,
    true,
  ]);
  expect([isSameInstallation('edge-0123abcd', 'edge-89abcdef'), isSameInstallation('edge', 'other')]).toEqual([
    false,
    false,
  ]);
});

describe('what annotations say', () => {
  const uid = 'uid-a';
  const annotated = (annotations: Record<string, string>, more: Partial<ManagedObject> = {}): ManagedObject => {
    const names = Object.entries(annotations).map(([name, value]) => [`edge-operator.dev/${name}`, value]);
    const given = resource('a');
    return { ...given, ...more, metadata: { ...given.metadata, annotations: Object.fromEntries(names) } };
  };
  const owning = (ownership: object) => ({ status: { ownership } }) as Partial<ManagedObject>;

  test('counts in the resource that it was written for', () => {
    expect(ownedIDOf(annotated({ 'created-id': 'x', 'record-of': uid }))).toBe('x');
    expect(ownedIDOf(annotated({ 'created-id': 'x', 'record-of': 'another' }))).toBeUndefined();
    expect(ownedIDOf(annotated({ 'created-id': 'x' }))).toBeUndefined();
  });

  test('goes after what the status proves', () => {
    const proven = annotated({ 'created-id': 'y', 'external-id': 'y', 'record-of': uid }, owning({ id: 'x' }));
    expect([ownedIDOf(proven), misnamedIDOf(proven)]).toEqual(['x', 'y']);
    expect(originOf(annotated({ 'external-id': 'x' }, owning({ id: 'x', how: 'Imported' })), 'x')).toBe('Imported');
  });

  test('never leads to an account of another namespace', () => {
    for (const account of ['other/acct', 'CloudAccount/../other/acct', 'CloudAccount/', 'x'])
      expect(accountKeyOf(annotated({ account, 'created-id': 'x', 'record-of': uid }))).toBe('default');
    expect(accountKeyOf(annotated({ account: 'CloudAccount/mine', 'created-id': 'x', 'record-of': uid }))).toBe(
      'ns/mine',
    );
  });

  test('is no reason to delete in another account than the one that the spec names', () => {
    const noted = { account: 'CloudAccount/mine', 'created-id': 'x', 'record-of': uid };
    expect(unprovenAccount(annotated(noted))).toMatch(
      /^spec.accountRef: what this resource made is in CloudAccount\/mine/,
    );
    expect(unprovenAccount(annotated(noted, owning({ id: 'x', account: 'CloudAccount/mine' })))).toBeUndefined();
  });

  test('of parts is newer than the status, unless somebody wiped it', () => {
    const known = owning({ parts: ['saml'] });
    expect([
      ...appliedParts(annotated({ 'applied-parts': 'compression', account: 'default', 'record-of': uid }, known)),
    ]).toEqual(['compression']);
    expect([...appliedParts(annotated({ account: 'default', 'record-of': uid }, known))]).toEqual([]);
    expect([...appliedParts(annotated({}, known))]).toEqual(['saml']);
  });

  test('decides between rivals before age, and after proof', () => {
    const created = '2020-01-01T00:00:00Z';
    const [oldest, noted, imported, made] = [
      { ...resource('a', { id: 'x', created }) },
      annotated({ 'external-id': 'x', 'created-id': 'x', 'record-of': uid }),
      { ...resource('c', { id: 'x' }), ...owning({ id: 'x', how: 'Imported' }) },
      { ...resource('d', { id: 'x' }), ...owning({ id: 'x', how: 'Created' }) },
    ] as [ManagedObject, ManagedObject, ManagedObject, ManagedObject];
    const noting = { ...noted, metadata: { ...noted.metadata, name: 'b', uid } };
    const first = { ...oldest, metadata: { ...oldest.metadata, uid: 'uid-oldest' } };
    const all = [first, noting, imported, made];
    const winner = (one: ManagedObject) => winnerOver(one, all, standingOn('x'))?.metadata.name;
    expect(all.map(winner)).toEqual(['d', 'd', 'd', undefined]);
    expect(winnerOver(first, [noting], standingOn('x'))).toBe(noting);
    const dormant = { ...first, spec: { managementPolicy: 'Observe' } };
    expect([claimOf(first), claimOf(dormant)]).toEqual([['x'], []]);
  });

  test('of another namespace is not told by name', () => {
    const there = { ...resource('b'), metadata: { ...resource('b').metadata, namespace: 'secret' } };
    expect(rivalName(resource('a'), there)).toBe('a BotUser of another namespace');
    expect(rivalName(resource('a'), resource('b'))).toBe('BotUser ns/b');
  });
});
