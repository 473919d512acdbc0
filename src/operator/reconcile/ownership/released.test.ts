import { expect, test } from '@jest/globals';
import { finalizer } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { releasedBy } from './released.ts';

function resource(name: string, more: { claims?: readonly string[]; account?: string; reason?: string } = {}) {
  const { claims = ['x'], account = 'a', reason = 'Available' } = more;
  const condition = { type: 'Ready', status: 'True', reason, message: '', lastTransitionTime: '' } as const;
  return {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: { claims, account } },
    metadata: { name, namespace: 'ns', uid: name, finalizers: [finalizer] },
    status: { conditions: [condition] },
  } satisfies ManagedObject;
}

const deleting = (object: ManagedObject, finalizers: readonly string[]): ManagedObject => ({
  ...object,
  metadata: { ...object.metadata, finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

const holder = resource('holder');
const all = [
  resource('loser', { reason: 'Conflict', account: 'b' }),
  resource('other'),
  resource('elsewhere', { account: 'b' }),
];

function released(change: Parameters<typeof releasedBy>[0]): readonly string[] {
  const those = releasedBy(change, {
    claimsOf: ({ spec: { claims } }) => claims as readonly string[],
    claimants: (claim) => all.filter(({ spec: { claims } }) => claims.includes(claim)),
    isOneAccount: (one, other) => one.spec.account === other.spec.account,
  });
  return those.map(({ metadata: { name } }) => name);
}

test('an edit is news to who is in conflict, and no other', () => {
  expect(released({ type: 'update', old: holder, object: resource('holder') })).toEqual(['loser']);
  expect(released({ type: 'add', object: holder })).toEqual([]);
});

test('what is let go is so to those of the same account too', () => {
  const object = resource('holder', { claims: ['y'] });
  expect(released({ type: 'update', old: holder, object })).toEqual(['loser', 'other']);
  expect(released({ type: 'update', old: deleting(holder, [finalizer]), object: deleting(holder, []) })).toEqual([
    'loser',
    'other',
  ]);
});

test('what is removed, and cannot be let go, is so too', () => {
  const old = deleting(holder, [finalizer]);
  const object = { ...old, status: { ...old.status, ownership: { removedFor: 'holder' } } };
  expect(released({ type: 'update', old, object })).toEqual(['loser', 'other']);
  const live = { ...holder, status: object.status };
  expect(released({ type: 'update', old: holder, object: live })).toEqual(['loser']);
});

test('what is gone is so too, whether it was released before or by whoever took its finalizer', () => {
  for (const finalizers of [[finalizer], []]) {
    expect(released({ type: 'delete', object: deleting(holder, finalizers) })).toEqual(['loser', 'other']);
  }
});

test('what is taken up again by who observed it is news to those of the same account, and to observe it to nobody more', () => {
  const observer = { ...holder, spec: { ...holder.spec, managementPolicy: 'Observe' } };
  expect(released({ type: 'update', old: observer, object: holder })).toEqual(['loser', 'other']);
  expect(released({ type: 'update', old: holder, object: observer })).toEqual(['loser']);
});
