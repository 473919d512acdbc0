import { beforeEach, expect, test } from '@jest/globals';
import { contextOf } from '../context.fixture.ts';
import { Memory } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { DependencyError } from '../status/outcome.ts';
import type { Part } from './part.ts';
import { PartReconciler } from './part-reconciler.ts';

/* What a part refers to may change while its calls, or those of another part, wait for their turn. */

type Body = { readonly text: string };

/** What the reference names; undefined: it is missing. */
let named: string | undefined;
let wasRead: string | undefined;
let stored: Body | undefined;
let calls: string[];
/** Happens while a call waits. */
let meanwhile: { get?: () => void; put?: () => void };

beforeEach(() => {
  [named, wasRead, stored, calls, meanwhile] = ['a', undefined, { text: 'a' }, [], {}];
});

const referred = {
  read: async () => {
    if (named === undefined) throw new DependencyError('ConfigMap ns/a does not exist');
    wasRead = named;
    return named;
  },
  hasChanged: () => named !== wasRead,
};

const part: Part<never, undefined, Body, Body> = {
  ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
  desired: async (_, read) => ({ text: await read({ kind: 'ConfigMap', name: 'a', key: 'k' }) }),
  diff: (body, found) => (body.text === found.text ? [] : ['text']),
  status: () => ({}),
  get: async () => {
    calls.push('get');
    meanwhile.get?.();
    return stored;
  },
  replace: async (_client, _spec, body) => {
    calls.push(`put ${body.text}`);
    meanwhile.put?.();
    stored = body;
    return body;
  },
  delete: async () => 'deleted',
};

async function reconcile(beforeSettled = () => {}) {
  const object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Things' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
    spec: { managementPolicy: 'Manage' },
  };
  const context = contextOf(object, {
    writer: {},
    connection: { key: 'default', client: undefined },
    memory: new Memory(),
  });
  const reconciler = new PartReconciler(part, context, {
    spec: object.spec as never,
    ...{ parent: 'p', claim: 'c', named: true, applied: true, createSettleMs: 1 },
    ...{ seen: new Map(), lostDeletes: new Map() },
  });
  const plan = await reconciler.plan(referred);
  const result = await reconciler.act(plan);
  beforeSettled();
  return (await reconciler.settle(plan, result, referred)).report;
}

const changes = (to: string | undefined) => () => {
  named = to;
};

test('what changed during the look is compared, and sent, as it is by then', async () => {
  meanwhile.get = changes('b');
  expect(await reconcile()).toMatchObject({ reason: 'Available' });
  expect(calls).toEqual(['get', 'put b']);
});

test('what changed during the PUT is not said to be as asked: the next reconcile follows at once', async () => {
  stored = undefined;
  meanwhile.put = changes('b');
  expect(await reconcile()).toMatchObject({
    reason: 'Updating',
    message: 'what the thing refers to has changed meanwhile',
    retry: { kind: 'after', ms: 0 },
  });
  expect(calls).toEqual(['get', 'put a']);
});

test.each([
  ['is something else', 'b', 'Updating'],
  ['is gone', undefined, 'DependencyNotReady'],
  ['is what it was', 'a', 'Available'],
])('while another part waits what it refers to %s', async (_, to, reason) => {
  expect(await reconcile(changes(to))).toMatchObject({ reason });
  expect(calls).toEqual(['get']);
});

test('what is missing is told of without a call', async () => {
  named = undefined;
  expect(await reconcile()).toMatchObject({ reason: 'DependencyNotReady' });
  expect(calls).toEqual([]);
});
