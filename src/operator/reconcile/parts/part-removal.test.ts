import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { contextOf } from '../context.fixture.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import { Memory, witnessesApartMs } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import type { ObjectWriter } from '../resource/writer.ts';
import { InPlace } from './in-place.ts';
import type { Part } from './part.ts';
import { PartRemoval } from './part-removal.ts';
import type { Seen } from './part-scope.ts';

const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Things',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  spec: { managementPolicy: 'Manage' },
};

/** What is removed for. */
let subject: ManagedObject;
let now: number;
let memory: Memory;
let calls: string[];
/** What the service has, and whether something before it denies everything instead. */
let isThere: boolean;
let isDenying: boolean;
/** When its key was put in force. */
let since: number;
/** It was seen at 0, by this process. */
let seen: Seen;
/** Who else names the same, in an account that is not read yet, in the same account, and in one of another key. */
let unread: ManagedObject[];
let others: ManagedObject[];
let elsewhere: ManagedObject[];
/** They have gone, and the cache knows nothing of it. */
let isGhost: boolean;

const createSettleMs = 60_000;

beforeEach(() => {
  [now, memory, calls, isThere, isDenying, since] = [1, new Memory(), [], true, false, -1];
  [unread, others, elsewhere, subject, isGhost] = [[], [], [], object, false];
  seen = new Map([['c', { at: 0, observed: {}, uid: 'u', account: 'default' }]]);
});

const part: Part<never, undefined, object, object> = {
  ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
  desired: async () => undefined,
  diff: () => [],
  status: () => ({}),
  get: async () => {
    calls.push('get');
    return isThere && !isDenying ? {} : undefined;
  },
  replace: async () => ({}),
  delete: async () => {
    calls.push('delete');
    if (!isThere || isDenying) return 'absent';
    isThere = false;
    return 'deleted';
  },
};

const probe = async () => {
  calls.push('probe');
  if (isDenying) throw new ApiError('404', { reason: 'Unreachable', definite: false, status: 404 });
};

async function remove(each = part) {
  const hadAnotherKey = (at: number) => at < since;
  const connection = { key: 'default', client: undefined, since, hadAnotherKey, probe };
  const writer: Partial<ObjectWriter> = { fateOf: async () => (isGhost ? 'changed' : 'stays') };
  const context = contextOf(subject, { writer, connection, memory, now: () => now });
  const index = { get: () => subject, list: () => [subject], claimants: () => [...unread, ...others, ...elsewhere] };
  const accountOf = (each: ManagedObject) => {
    const isUnread = unread.includes(each);
    const isElsewhere = elsewhere.includes(each);
    return { identity: isUnread ? 'unread' : isElsewhere ? 'elsewhere' : 'default', isUnread, url: 'http://api' };
  };
  const peers = new Peers({ index, memory, accountOf });
  const scope = { spec: object.spec as never, parent: 'p', claim: 'c', named: false, applied: true, createSettleMs };
  const inPlace = new InPlace(context, { ...part, spec: object.spec, applied: true });
  return new PartRemoval(each, { ...context, peers }, { ...scope, seen, lostDeletes: new Map() }, inPlace).perform();
}

test('what was there is gone when the service says so', async () => {
  expect(await remove()).toBeUndefined();
  expect(calls).toEqual(['delete']);
});

test('what was not found is gone when it is not found again, by a service that answers', async () => {
  isThere = false;
  expect(await remove()).toMatchObject({ message: expect.stringContaining('making sure') });
  now += witnessesApartMs;
  expect(await remove()).toBeUndefined();
  expect(calls).toEqual(['delete', 'probe', 'get']);
});

test('nothing is gone by the word of who denies everything, however often', async () => {
  isDenying = true;
  expect(await remove()).toMatchObject({ message: expect.stringContaining('making sure') });
  for (let looks = 0; looks < 3; looks += 1) {
    now += witnessesApartMs;
    expect(await remove()).toMatchObject({ reason: 'Unreachable' });
  }
  isDenying = false;
  expect(await remove()).toBeUndefined();
  expect({ isThere, last: calls.slice(-3) }).toEqual({ isThere: false, last: ['probe', 'get', 'delete'] });
});

test.each([
  ['by this process', () => seen.clear()],
  [
    'with the key in force',
    () => {
      since = 1;
    },
  ],
  ['for this resource', () => seen.set('c', { at: 0, observed: {}, uid: 'another', account: 'default' })],
])('what was never seen %s is looked for much later: the key may be wrong', async (_, begin) => {
  begin();
  isThere = false;
  await remove();
  now += witnessesApartMs;
  expect(await remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - witnessesApartMs } });
  now += createSettleMs;
  expect(await remove()).toBeUndefined();
});

test('what was not found with another key is not gone by one answer to this one', async () => {
  isThere = false;
  await remove();
  now += 1_000;
  since = now;
  now += createSettleMs;
  expect(await remove()).toMatchObject({ message: expect.stringContaining('making sure') });
  expect(calls).toEqual(['delete', 'delete']);
});

test('what may be another’s, whose account is not read yet, waits until it is', async () => {
  const status: ManagedObject['status'] = { ownership: { installation: 'one', how: 'Applied', parts: ['thing'] } };
  unread = [{ ...object, metadata: { ...object.metadata, name: 'other', uid: 'other' }, status }];
  expect(await remove()).toMatchObject({
    message: expect.stringContaining('whose the thing is'),
    retry: { kind: 'after', ms: 1_000 },
  });
  expect(calls).toEqual([]);
  unread = [];
  expect(await remove()).toBeUndefined();
  expect(calls).toEqual(['delete']);
});

describe('what annotations alone say is this resource’s', () => {
  const byAnnotation = (each: ManagedObject): ManagedObject => ({
    ...each,
    metadata: {
      ...each.metadata,
      annotations: { [annotation.appliedParts]: 'thing', [annotation.recordOf]: each.metadata.uid ?? '' },
    },
  });
  const other = (creationTimestamp: string, more: object = {}): ManagedObject => ({
    ...object,
    metadata: { ...object.metadata, name: 'other', namespace: 'elsewhere', uid: 'other', creationTimestamp, ...more },
  });
  const [older, younger] = ['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'];

  beforeEach(() => {
    const mine = { ...object, metadata: { ...object.metadata, creationTimestamp: '2026-01-02T00:00:00Z' } };
    subject = byAnnotation(mine);
  });

  test.each<[string, ManagedObject]>([
    ['an older one asks for', other(older)],
    ['an older one has on record as well', byAnnotation(other(older))],
  ])('and %s is not removed', async (_, rival) => {
    others = [rival];
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual([]);
  });

  test('and another is proven to have, whose key opens another account for now, is not', async () => {
    const having = (apiURL: string): ManagedObject => ({
      ...other(younger),
      status: { ownership: { installation: 'one', how: 'Applied', parts: ['thing'], apiURL } },
    });
    elsewhere = [having('http://api/')];
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual([]);
    elsewhere = [having('http://another')];
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(['delete']);
  });

  test.each([
    ['with the key in force', 0, 'delete'],
    ['with another one', -2, undefined],
  ])('is removed beside that where this process put it %s: the answer may have been lost', async (_, at, call) => {
    const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['thing'], apiURL: 'http://api' } };
    elsewhere = [{ ...other(younger), status }];
    memory.of('u').inPlace = new Map([['thing', [{ fingerprint: undefined, fields: [], generation: undefined, at }]]]);
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(call === undefined ? [] : [call]);
  });

  test('is not removed beside that where this process has removed what it put', async () => {
    memory.of('u').inPlace = new Map([
      ['thing', [{ fingerprint: undefined, fields: [], generation: undefined, at: 0 }]],
    ]);
    expect(await remove()).toBeUndefined();
    const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['thing'], apiURL: 'http://api' } };
    elsewhere = [{ ...other(younger), status }];
    isThere = true;
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(['delete']);
  });

  test.each<[string, ManagedObject]>([
    ['a younger one asks for', other(younger)],
    ['an older one asks for that is to go', other(older, { deletionTimestamp: younger })],
  ])('and %s is', async (_, rival) => {
    others = [rival];
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(['delete']);
  });
});

describe('what two are proven to have', () => {
  const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['thing'], apiURL: 'http://api' } };
  const proven = (name: string, uid: string): ManagedObject => ({
    ...object,
    metadata: { ...object.metadata, name, uid },
    status,
  });

  beforeEach(() => {
    subject = proven('a', 'u');
    others = [proven('b', 'v')];
  });

  test('is left to the other, who is not to leave it to this one', async () => {
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual([]);
    [subject, others] = [proven('b', 'v'), [proven('a', 'u')]];
    seen.clear();
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(['delete']);
  });

  test('is not left to one that has gone, which the cache does not know yet', async () => {
    isGhost = true;
    expect(await remove()).toMatchObject({ message: expect.stringContaining('is about to go') });
    expect(memory.of('u').left?.size).toBe(0);
    others = [];
    expect(await remove()).toBeUndefined();
    expect(calls).toEqual(['delete']);
  });
});

test('a delete that denies what is there is sent less and less often', async () => {
  isDenying = true;
  await remove();
  isDenying = false;
  const denied: typeof part.delete = async () => {
    calls.push('delete');
    return 'absent';
  };
  now += witnessesApartMs;
  expect(await remove({ ...part, delete: denied })).toMatchObject({ pauseMs: 5_000 });
  expect(calls).toEqual(['delete', 'probe', 'get', 'delete']);
});
