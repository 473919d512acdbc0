import { expect, test } from '@jest/globals';
import { Memory } from './memory.ts';
import { Peers } from './peers.ts';
import type { ManagedObject } from './resource.ts';

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
const peers = new Peers({ index, memory, accountOf: ({ spec }) => String(spec.account) });

test('a rival has a better claim on the same in the same account', () => {
  expect(peers.rivalOf(mine, 'x', () => 0)).toBe(older);
  expect(peers.rivalOf(mine, 'x', (object) => (object === mine ? 0 : 1))).toBeUndefined();
  expect(peers.rivalOf(mine, 'y', () => 0)).toBeUndefined();
});

test('one that went, or gave way to a namesake, is not there', () => {
  expect(peers.isThere(mine)).toBe(true);
  expect(peers.isThere(older)).toBe(false);
  expect(peers.isThere({ ...mine, metadata: { ...mine.metadata, uid: 'another' } })).toBe(false);
});

test('where a claim says all, accounts do not matter', () => {
  expect(new Peers({ index, memory }).rivalOf(mine, 'x', () => 0)).toBe(elsewhere);
});
