import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { contextOf } from '../context.fixture.ts';
import type { Peers } from '../ownership/peers.ts';
import { Memory } from '../resource/memory.ts';
import type { ManagedObject, Ownership } from '../resource/resource.ts';
import type { Part } from './part.ts';
import { PartReconciler } from './part-reconciler.ts';
import type { Seen } from './part-scope.ts';
import { nothingReferred } from './parts.fixture.ts';

interface Body {
  readonly size: number;
}

const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Things',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  spec: { managementPolicy: 'Manage' },
};

interface Given {
  readonly size?: number;
  readonly memory?: Memory;
  readonly resource?: ManagedObject;
  readonly rivalOf?: Peers['rivalOf'];
  readonly mayBeKept?: () => boolean;
}

/** The service makes every size at most this. */
const largest = 10;
/** Sizes that it was sent. */
let puts: number[];
let stored: Body | undefined;
/** What it answers to the next PUT in place of what it stores. */
let misleading: Body | undefined;

beforeEach(() => {
  puts = [];
  [stored, misleading] = [undefined, undefined];
});

/** One reconcile of a part; without a rival unless there is one. */
async function reconcile(given: Given = {}) {
  const { size = 5, memory = new Memory(), resource = object } = given;
  const { rivalOf = () => undefined, mayBeKept = () => false } = given;
  const part: Part<never, undefined, Body, Body> = {
    name: 'thing',
    condition: 'ThingReady',
    displayName: 'thing',
    desired: async () => ({ size }),
    diff: (body, found) => (body.size === found.size ? [] : ['size']),
    status: (found) => ({ ...found }),
    get: async () => stored,
    replace: async (_client, _spec, body) => {
      puts.push(body.size);
      stored = { size: Math.min(body.size, largest) };
      return misleading ?? stored;
    },
    delete: async () => 'deleted',
  };
  const connection = { key: 'default', client: undefined };
  const asked = contextOf(resource, { writer: {}, connection, memory });
  const peers = Object.assign(asked.peers, { rivalOf, mayBeKept });
  const context = { ...asked, peers, occasion: { ...asked.occasion, requested: false } };
  const reconciler = new PartReconciler(part, context, {
    spec: resource.spec as never,
    ...{ parent: 'p', claim: 'c', named: true, applied: false, createSettleMs: 1 },
    ...{ seen: new Map(), lostDeletes: new Map() },
  });
  return reconciler.act(reconciler.recheck(await reconciler.plan(nothingReferred)));
}

test('what the service makes of a PUT is compared: it may accept it and do otherwise', async () => {
  const memory = new Memory();
  expect((await reconcile({ memory })).report?.reason).toBe('Available');
  const { report, observed, isDropped } = await reconcile({ size: 50, memory });
  expect(report).toMatchObject({ reason: 'Rejected', message: expect.stringContaining('did not take size') });
  expect({ observed, isDropped }).toEqual({ observed: { size: 10 }, isDropped: false });
  expect((await reconcile({ size: 50, memory })).report?.reason).toBe('Rejected');
  expect(puts).toEqual([5, 50]);
});

test('an answer to a PUT that shows it otherwise is believed no sooner than one to a GET', async () => {
  misleading = { size: 1 };
  const { report, observed } = await reconcile();
  expect([report?.reason, observed, puts]).toEqual(['Available', { size: 5 }, [5]]);
});

test('a part that may be another’s, whose account is not read yet, waits until it is; what is proven its own does not', async () => {
  const among = (resource: ManagedObject) => reconcile({ resource, mayBeKept: () => true });
  expect((await among(object)).report).toMatchObject({
    reason: 'Creating',
    message: 'it is not known yet whose the thing is',
    retry: { kind: 'after', ms: 1_000 },
  });
  expect(puts).toEqual([]);
  const status: ManagedObject['status'] = { ownership: { installation: 'one', how: 'Applied', parts: ['thing'] } };
  expect((await among({ ...object, status })).report?.reason).toBe('Available');
  expect(puts).toEqual([5]);
});

test.each([
  ['the look', 1],
  ['the record of it', 2],
])('a part that another took during %s is left to it', async (_, looks) => {
  const older = { ...object, metadata: { ...object.metadata, uid: 'older', name: 'b' } };
  let asked = 0;
  const rivalOf = () => (++asked > looks ? older : undefined);
  const { report, isDropped = false } = await reconcile({ rivalOf });
  expect(report).toMatchObject({ reason: 'Conflict', message: expect.stringContaining('managed by Things ns/b') });
  // What was put on record meanwhile is not its own.
  expect({ puts, isDropped }).toEqual({ puts: [], isDropped: looks === 2 });
});

test('a part that another had before is his for as long as he is proven to have it, whatever his key opens', async () => {
  const other = { ...object, metadata: { ...object.metadata, uid: 'other', name: 'b' } };
  const rivalOf: Peers['rivalOf'] = (_object, _claim, _standing, reach) => (reach === 'address' ? other : undefined);
  const recorded = (ownership: Ownership) => reconcile({ rivalOf, resource: { ...object, status: { ownership } } });
  expect((await recorded({ contested: ['thing'] })).report?.reason).toBe('Conflict');
  expect(puts).toEqual([]);
  expect((await recorded({ contested: ['thing'], parts: ['thing'] })).report?.reason).toBe('Available');
  expect((await recorded({ contested: ['another'] })).report?.reason).toBe('Available');
});

test('a part that another one manages is only looked at by who only observes it', async () => {
  const older = { ...object, metadata: { ...object.metadata, uid: 'older', name: 'b' } };
  const resource = { ...object, spec: { managementPolicy: 'Observe' } };
  const { report } = await reconcile({ rivalOf: () => older, resource });
  expect(report).toMatchObject({ reason: 'ExternalNotFound' });
});

/** A part that the service shows and takes as `shown` says; what a person asked for has been done. */
function settled(shown: { get: () => Body | undefined; replace?: () => void }, seen: Seen, memory = new Memory()) {
  let now = 1;
  const connection = { key: 'default', client: undefined, since: 0 };
  const part: Part<never, undefined, Body, Body> = {
    ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
    desired: async () => ({ size: 5 }),
    diff: () => [],
    status: (found) => ({ ...found }),
    get: async () => shown.get(),
    replace: async (_client, _spec, body) => {
      now += 1;
      shown.replace?.();
      connection.since = now;
      now += 1;
      return body;
    },
    delete: async () => 'deleted',
  };
  return async () => {
    const asked = contextOf(object, { writer: {}, connection, memory, now: () => now });
    const context = { ...asked, occasion: { ...asked.occasion, requested: false } };
    const reconciler = new PartReconciler(part, context, {
      spec: object.spec as never,
      ...{ parent: 'p', claim: 'c', named: true, applied: true, createSettleMs: 1 },
      ...{ seen, lostDeletes: new Map() },
    });
    return reconciler.act(await reconciler.plan(nothingReferred));
  };
}

test('what a PUT showed that went out before its key was replaced says nothing of where the new one leads', async () => {
  const calls: string[] = [];
  const get = () => {
    calls.push('get');
    return undefined;
  };
  const reconcileAgain = settled({ get, replace: () => calls.push('put') }, new Map());
  await reconcileAgain();
  await reconcileAgain();
  expect(calls).toEqual(['get', 'put', 'get', 'put']);
});

test.each([
  ['was seen', undefined],
  ['was refused', new ApiError('400', { reason: 'Rejected', definite: true })],
])('what %s in one account says nothing of another one that the resource has come to', async (_, refused) => {
  const calls: string[] = [];
  const part: Part<never, undefined, Body, Body> = {
    ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
    desired: async () => ({ size: 5 }),
    diff: (body, found) => (body.size === found.size ? [] : ['size']),
    status: (found) => ({ ...found }),
    get: async () => {
      calls.push('get');
      return { size: 1 };
    },
    replace: async (_client, _spec, body) => {
      calls.push('put');
      if (refused !== undefined) throw refused;
      return body;
    },
    delete: async () => 'deleted',
  };
  const [memory, seen]: [Memory, Seen] = [new Memory(), new Map()];
  for (const key of ['ns/one', 'ns/other']) {
    const asked = contextOf(object, { writer: {}, connection: { key, client: undefined }, memory });
    const context = { ...asked, occasion: { ...asked.occasion, requested: false } };
    const reconciler = new PartReconciler(part, context, {
      spec: object.spec as never,
      ...{ parent: 'p', claim: 'c', named: true, applied: false, seen, createSettleMs: 1 },
      ...{ lostDeletes: new Map() },
    });
    await reconciler.act(await reconciler.plan(nothingReferred));
  }
  expect(calls).toEqual(['get', 'put', 'get', 'put']);
});

test('who missed a part that is there after all is no witness of its end', async () => {
  const memory = new Memory();
  memory.of('u').absentParts = new Map([['thing', 0]]);
  expect((await settled({ get: () => ({ size: 5 }) }, new Map(), memory)()).report?.reason).toBe('Available');
  expect(memory.of('u').absentParts?.has('thing')).toBe(false);
});
