import { describe, expect, test } from '@jest/globals';
import { isUsableID } from './annotations.ts';
import { accountKeyOf, claimOf, externalIDOf, unusableID, winnerOver } from './ownership.ts';
import type { ManagedObject } from './resource.ts';

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
