import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation } from '../annotations.ts';
import { contextOf } from '../context.fixture.ts';
import { Memory } from '../memory.ts';
import { recordedURLOf } from '../ownership.ts';
import { Peers } from '../peers.ts';
import { References } from '../references.ts';
import { type Condition, type ManagedObject, type ManagedSpec, managedSpec } from '../resource.ts';
import type { Annotations, Fate, ObjectWriter } from '../writer.ts';
import { PartsFlow } from './flow.ts';
import type { Part } from './part.ts';

interface Spec extends ManagedSpec {
  readonly thing?: object | undefined;
}

const createSettleMs = 60_000;

let now: number;
let memory: Memory;
let calls: string[];
/** Of deletes. */
let lost: number;

beforeEach(() => {
  [now, memory, calls, lost] = [0, new Memory(), [], 0];
});

const part: Part<Spec, undefined, object, object> = {
  ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
  desired: async ({ thing }) => thing,
  diff: () => [],
  status: () => ({}),
  get: async () => (calls.includes('delete') ? undefined : {}),
  replace: async () => {
    calls.push('put');
    return {};
  },
  delete: async () => {
    calls.push('delete');
    if (lost-- > 0) throw new ApiError('reset', { reason: 'Unreachable', definite: false });
    return 'deleted';
  },
};

/** @param shown what there is to show of each part is put there */
const flow = (parts: readonly (typeof part)[] = [part], shown = new Map<string, unknown>()) =>
  new PartsFlow<Spec, undefined>(
    {
      spec: z.object({ ...managedSpec, thing: z.object({}).optional() }),
      parent: () => 'p',
      parts,
      status: (statuses) => {
        for (const [name, status] of statuses) shown.set(name, status);
        return {};
      },
    },
    { references: new References({ referents: {} as never, enqueue: () => {} }), createSettleMs },
  );

/** A part on record, as another process left it. */
function left(shown: Partial<Condition> | undefined, { generation = 2, spec = { thing: {} } as object } = {}) {
  const condition = { type: 'ThingReady', status: 'True', observedGeneration: 1, reason: 'Available', ...shown };
  const records = { [annotation.appliedParts]: 'thing', [annotation.recordOf]: 'u', [annotation.account]: 'default' };
  return {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Things' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation, annotations: records },
    spec: { managementPolicy: 'Manage', ...spec },
    status: { conditions: shown === undefined ? [] : [condition as Condition] },
  } satisfies ManagedObject;
}

function contextFor(object: ManagedObject, more: Partial<ObjectWriter> = {}) {
  const same = async () => object;
  const writer = { removeFinalizer: async () => {}, insist: same, record: same, ...more };
  return contextOf(object, { writer, connection: { key: 'default', client: undefined }, memory, now: () => now });
}

/** Writes annotations, and nothing else. */
function annotating(first: ManagedObject): Partial<ObjectWriter> {
  let object = first;
  const annotate = async (changes: Annotations) => {
    const all = Object.entries({ ...object.metadata.annotations, ...changes });
    const kept = all.filter((each): each is [string, string] => each[1] !== null);
    object = { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
    return object;
  };
  return { record: (_, records) => annotate(records), insist: (_, changes) => annotate(changes(object)) };
}

const deleted = (object: ManagedObject): ManagedObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

test('what an earlier process saw in place is removed at once', async () => {
  expect(await flow().remove(contextFor(deleted(left({}))))).toEqual({ kind: 'finished' });
  expect(calls).toEqual(['delete']);
});

test.each([
  ['no status tells of', left(undefined)],
  ['was in trouble', left({ status: 'False', reason: 'Unreachable' })],
  ['was to be changed since', left({}, { generation: 3 })],
])(
  'what %s may have been sent by an earlier process: it is not removed before that is carried out',
  async (_, object) => {
    const one = flow();
    const waiting = await one.remove(contextFor(deleted(object)));
    expect(waiting).toMatchObject({
      retry: { kind: 'after', ms: createSettleMs },
      message: expect.stringContaining('may still be carried out'),
    });
    now += createSettleMs;
    expect({ outcome: await one.remove(contextFor(deleted(object))), calls }).toEqual({
      outcome: { kind: 'finished' },
      calls: ['delete'],
    });
  },
);

test('what has been in place for less than a change may take is removed when that time has passed', async () => {
  now += 10 * createSettleMs;
  const object = deleted(left({ lastTransitionTime: new Date(now - 1_000).toISOString() }));
  const one = flow();
  expect(await one.remove(contextFor(object))).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - 1_000 } });
  now += createSettleMs - 1_000;
  expect(await one.remove(contextFor(object))).toEqual({ kind: 'finished' });
});

test('nothing is put or removed for a resource that has gone and is listed still, though all is on record', async () => {
  const object = left({}, { generation: 1 });
  const gone = new Error('404');
  const differing = flow([{ ...part, diff: () => ['size'] }]);
  const writer = { record: async (same: ManagedObject) => same, confirm: () => Promise.reject(gone) };
  await expect(differing.ensure(contextFor(object, writer))).rejects.toBe(gone);
  const without = left({}, { generation: 1, spec: {} });
  await expect(differing.ensure(contextFor(without, writer))).rejects.toBe(gone);
  expect(calls).toEqual([]);
  let asked = 0;
  const there = {
    ...writer,
    confirm: async () => {
      asked += 1;
      return object;
    },
  };
  for (let n = 0; n < 2; n += 1) await differing.ensure(contextFor(object, there));
  expect([asked, calls]).toEqual([1, ['put', 'put']]);
});

test('what is gone is not proven any more by the status of a resource whose other parts are still to go', async () => {
  const other = {
    ...{ ...part, name: 'other', condition: 'OtherReady' },
    delete: async () => {
      throw new ApiError('503', { reason: 'Unreachable', definite: false });
    },
  };
  const applied = left({}, { spec: {}, generation: 1 });
  const annotations = { ...applied.metadata.annotations, [annotation.appliedParts]: 'other,thing' };
  const conditions = [
    ...applied.status.conditions,
    { ...applied.status.conditions[0], type: 'OtherReady' } as Condition,
  ];
  const ownership = { account: 'default', how: 'Applied' as const, parts: ['other', 'thing'] };
  const object = deleted({
    ...applied,
    metadata: { ...applied.metadata, annotations },
    status: { conditions, ownership },
  });
  const context = contextFor(object, annotating(object));
  expect(await flow([part, other]).remove(context)).toMatchObject({
    reason: 'Unreachable',
    ownership: { account: 'default', parts: ['other'] },
  });
});

test('what applied nothing is at no address: its account may get another', async () => {
  const refusing = {
    ...part,
    get: async () => undefined,
    replace: async () => {
      throw new ApiError('404', { reason: 'NotFound', definite: true });
    },
  };
  const fresh = left(undefined);
  const object = { ...fresh, metadata: { ...fresh.metadata, annotations: { [annotation.recordOf]: 'u' } } };
  const context = contextFor(object, annotating(object));
  const there = { ...context, connection: { ...context.connection, url: 'https://wrong' } };
  expect(await flow([refusing]).ensure(there)).toMatchObject({ reason: 'DependencyNotReady', ownership: {} });
  expect(recordedURLOf(context.resource.object)).toBeUndefined();
});

test('nothing is shown of what is certainly not there', async () => {
  const before = left({}, { spec: { thing: {}, managementPolicy: 'Observe' } });
  const object = { ...before, status: { ...before.status, thing: { size: 5, applied: true } } };
  const shown = new Map<string, unknown>();
  const gone = { ...part, get: async () => undefined };
  expect(await flow([gone], shown).ensure(contextFor(object))).toMatchObject({ reason: 'ExternalNotFound' });
  expect(shown.get('thing')).toEqual({ applied: false });
});

test('what this process has known for so long is removed at once', async () => {
  const [one, object] = [flow(), left({ status: 'False', reason: 'Unreachable' })];
  await one.ensure(contextFor(object));
  now += createSettleMs;
  expect(await one.remove(contextFor(deleted(object)))).toEqual({ kind: 'finished' });
});

test.each([
  ['in place before', 2, ['delete']],
  ['to be changed before', 3, []],
])('a part that has left the spec and was %s', async (_, generation, sent) => {
  await flow().ensure(contextFor(left({}, { generation, spec: {} })));
  expect(calls).toEqual(sent);
});

test('nobody applies what a delete without an answer may yet remove', async () => {
  const [one, object] = [flow(), left({})];
  lost = 1;
  expect(await one.remove(contextFor(deleted(object)))).toMatchObject({ reason: 'Unreachable' });
  expect(await one.remove(contextFor(deleted(object)))).toEqual({ kind: 'finished' });
  now += 1_000;
  const heir = { ...object, metadata: { name: 'b', namespace: 'ns', uid: 'v', generation: 1 }, status: {} };
  expect(await one.ensure(contextFor(heir))).toMatchObject({
    ...{ reason: 'Creating', retry: { kind: 'after', ms: createSettleMs - 1_000 } },
    message: expect.stringContaining('an unanswered delete of the thing may still be carried out'),
  });
  now += createSettleMs;
  expect({ outcome: await one.ensure(contextFor(heir)), calls }).toMatchObject({
    outcome: { reason: 'Available' },
    calls: ['delete', 'delete', 'put'],
  });
});

test('what another one waits for is not handed over before a delete without an answer is carried out', async () => {
  const [one, object] = [flow(), deleted(left({}))];
  const heir: ManagedObject = { ...left(undefined), metadata: { name: 'b', namespace: 'ns', uid: 'v', generation: 1 } };
  const index = { get: () => undefined, list: () => [], claimants: () => [object, heir] };
  const peers = new Peers({ index, memory, accountOf: () => ({ identity: 'default' }) });
  const remove = () => one.remove({ ...contextFor(object), peers });
  lost = 1;
  expect(await remove()).toMatchObject({ reason: 'Unreachable' });
  now += 1_000;
  expect(await remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - 1_000 } });
  now += createSettleMs;
  expect({ outcome: await remove(), calls }).toEqual({ outcome: { kind: 'finished' }, calls: ['delete', 'delete'] });
});

test('what only an annotation says is there becomes proof by a call of ours, not by itself', async () => {
  const forged = left(undefined, { spec: {} });
  const waiting = await flow().ensure(contextFor(forged));
  expect(waiting).toMatchObject({ reason: 'Updating', ownership: {} });
  expect(waiting).not.toHaveProperty('ownership.parts');
  const restored = left(undefined);
  const found = await flow().ensure(contextFor(restored));
  expect(found).toMatchObject({ reason: 'Available', ownership: { parts: ['thing'] } });
});

describe('what another one has', () => {
  const object = left(undefined, { generation: 1, spec: { thing: {}, other: {} } });
  const wish = { ...object, metadata: { ...object.metadata, annotations: { [annotation.recordOf]: 'u' } } };
  const ownership = { how: 'Applied' as const, parts: ['thing'] };
  const holder: ManagedObject = { ...wish, metadata: { ...wish.metadata, name: 'b', uid: 'v' }, status: { ownership } };
  const other: typeof part = { ...part, name: 'other', condition: 'OtherReady' };

  let holders: ManagedObject[];
  beforeEach(() => {
    holders = [holder];
  });

  const index = {
    get: () => undefined,
    list: () => [],
    claimants: (claim: string) => (claim.endsWith('thing') ? holders : []),
  };
  const ensure = (parts = [part], resource: ManagedObject = wish) => {
    const peers = new Peers({ index, memory, accountOf: () => ({ identity: 'default' }) });
    return flow(parts).ensure({ ...contextFor(resource, annotating(resource)), peers });
  };

  test('is on record until he has it no more', async () => {
    expect(await ensure()).toMatchObject({ reason: 'Conflict', ownership: { contested: ['thing'] } });
    holders = [];
    const taken = await ensure();
    expect(taken).toMatchObject({ reason: 'Available', ownership: { parts: ['thing'] } });
    expect(taken).not.toHaveProperty('ownership.contested');
  });

  test('is looked at once more where he went while another part waited for its turn', async () => {
    const get = async () => {
      holders = [];
      return {};
    };
    const freed = await ensure([part, { ...other, get }]);
    expect(freed).toMatchObject({
      reason: 'Creating',
      retry: { kind: 'after', ms: 0 },
      ownership: { parts: ['other'] },
    });
    expect(freed).not.toHaveProperty('ownership.contested');
  });

  test('is no matter of record of who only observes it', async () => {
    const spec = { ...wish.spec, managementPolicy: 'Observe' };
    const status = { ownership: { how: 'Applied' as const, parts: ['other'], contested: ['thing'] } };
    const seen = await ensure([part], { ...wish, spec, status });
    expect(seen).toHaveProperty('ownership', { how: 'Applied', parts: ['other'] });
    expect(await ensure([part], { ...wish, spec })).not.toHaveProperty('ownership');
  });
});

describe('what two are proven to have, of which one lost it to the other, whose key was rotated first', () => {
  const ownership = { how: 'Applied' as const, parts: ['thing'] };
  const ours = left({}, { generation: 1 });
  const holder: ManagedObject = {
    ...ours,
    metadata: { ...ours.metadata, name: 'b', uid: 'v' },
    status: { ownership },
  };

  /** As it is after what was reported of it before. */
  let loser: ManagedObject;
  let fate: Fate;
  beforeEach(() => {
    loser = { ...ours, status: { ...ours.status, ownership: { ...ownership, contested: ['thing'] } } };
    fate = 'stays';
  });

  async function run(how: 'ensure' | 'remove', changes: Partial<ManagedObject> = {}) {
    const object = { ...loser, ...changes };
    const index = { get: () => undefined, list: () => [], claimants: () => [holder, loser] };
    const accountOf = ({ metadata: { uid } }: ManagedObject) =>
      uid === 'v' ? { identity: 'rotated', identities: () => ['rotated', 'key'] } : { identity: 'key' };
    const peers = new Peers({ index, memory, accountOf });
    const context = contextFor(object, { ...annotating(object), fateOf: async () => fate });
    const outcome = await flow()[how]({ ...context, peers });
    if ('ownership' in outcome) loser = { ...loser, status: { ...loser.status, ownership: outcome.ownership ?? {} } };
    return outcome;
  }

  test.each<['ensure' | 'remove', string, Partial<ManagedObject>]>([
    ['ensure', 'is asked for no more', { spec: { managementPolicy: 'Manage' } }],
    ['remove', 'is to go', { metadata: deleted(ours).metadata }],
  ])('is not removed after a wait for that one: %s, where it %s', async (how, _, changes) => {
    fate = 'changed';
    for (let n = 0; n < 3; n += 1) {
      expect(await run(how, changes)).toMatchObject({ message: expect.stringContaining('who has the thing too') });
    }
    fate = 'stays';
    await run(how, changes);
    expect(calls).toEqual([]);
  });

  test('is not had again by observing it for a while', async () => {
    expect(await run('ensure')).toMatchObject({ reason: 'Conflict' });
    await run('ensure', { spec: { ...loser.spec, managementPolicy: 'Observe' } });
    expect(await run('ensure')).toMatchObject({ reason: 'Conflict' });
  });
});
