import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { notSent } from '../../../common/http/failure.ts';
import { recordedURLOf } from '../ownership/ownership.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import type { Condition, ManagedObject } from '../resource/resource.ts';
import { annotating, createSettleMs, deleted, left, PartsFixture } from './parts.fixture.ts';

let scene: PartsFixture;

beforeEach(() => {
  scene = new PartsFixture();
});

test('what an earlier process saw in place is removed at once', async () => {
  expect(await scene.flow().remove(scene.contextFor(deleted(left({}))))).toEqual({ kind: 'finished' });
  expect(scene.calls).toEqual(['delete']);
});

test.each([
  ['no status tells of', left(undefined)],
  ['was in trouble', left({ status: 'False', reason: 'Unreachable' })],
  ['was to be changed since', left({}, { generation: 3 })],
])(
  'what %s may have been sent by an earlier process: it is not removed before that is carried out',
  async (_, object) => {
    const one = scene.flow();
    const waiting = await one.remove(scene.contextFor(deleted(object)));
    expect(waiting).toMatchObject({
      retry: { kind: 'after', ms: createSettleMs },
      message: expect.stringContaining('may still be carried out'),
    });
    scene.now += createSettleMs;
    expect({ outcome: await one.remove(scene.contextFor(deleted(object))), calls: scene.calls }).toEqual({
      outcome: { kind: 'finished' },
      calls: ['delete'],
    });
  },
);

/** In place for a second. */
const justLeft = (unanswered: string[] = []) => {
  scene.now += 10 * createSettleMs;
  const object = left({ lastTransitionTime: new Date(scene.now - 1_000).toISOString() });
  return deleted({ ...object, status: { ...object.status, ownership: { unanswered } } });
};

test('what an earlier process has just put in place, and had the answer, is removed at once', async () => {
  expect(await scene.flow().remove(scene.contextFor(justLeft()))).toEqual({ kind: 'finished' });
});

test('of what had no answer from another process the status tells, until the part is changed again', async () => {
  const put = () => ({ ...scene.part, diff: () => (scene.calls.includes('put') ? [] : ['size']) });
  const lost = {
    ...put(),
    replace: () => Promise.reject(new ApiError('x', { reason: 'Unreachable', definite: false })),
  };
  const object = left({}, { generation: 1 });
  /** What the status says of it after a reconcile, and said before. */
  const unanswered = async (part: typeof scene.part, before: string[] = []) => {
    const shown = { ...object, status: { ...object.status, ownership: { unanswered: before } } };
    const outcome = await scene.flow([part]).ensure(scene.contextFor(shown, { confirm: async (same) => same }));
    return 'ownership' in outcome ? outcome.ownership?.unanswered : undefined;
  };
  expect([await unanswered(lost), await unanswered(put(), ['thing'])]).toEqual([['thing'], ['thing']]);
  scene.now += createSettleMs;
  // Nothing is written for that alone.
  expect(await unanswered(scene.part, ['thing'])).toEqual(['thing']);
  scene = new PartsFixture();
  expect(await unanswered(put(), ['thing'])).toBeUndefined();
});

test('what was in place for less than an unanswered change may take is removed when that time has passed', async () => {
  const object = justLeft(['thing']);
  const one = scene.flow();
  expect(await one.remove(scene.contextFor(object))).toMatchObject({
    retry: { kind: 'after', ms: createSettleMs - 1_000 },
  });
  scene.now += createSettleMs - 1_000;
  expect(await one.remove(scene.contextFor(object))).toEqual({ kind: 'finished' });
});

test('nothing is put or removed for a resource that has gone and is listed still, though all is on record', async () => {
  const object = left({}, { generation: 1 });
  const gone = new Error('404');
  const differing = scene.flow([{ ...scene.part, diff: () => ['size'] }]);
  const writer = { record: async (same: ManagedObject) => same, confirm: () => Promise.reject(gone) };
  await expect(differing.ensure(scene.contextFor(object, writer))).rejects.toBe(gone);
  const without = left({}, { spec: {} });
  await expect(differing.ensure(scene.contextFor(without, writer))).rejects.toBe(gone);
  expect(scene.calls).toEqual([]);
  let asked = 0;
  const there = {
    ...writer,
    confirm: async () => {
      asked += 1;
      return object;
    },
  };
  for (let n = 0; n < 2; n += 1) await differing.ensure(scene.contextFor(object, there));
  expect([asked, scene.calls]).toEqual([2, ['put', 'put']]);
});

test('what is gone is not proven any more by the status of a resource whose other parts are still to go', async () => {
  const other = {
    ...{ ...scene.part, name: 'other', condition: 'OtherReady' },
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
  const context = scene.contextFor(object, annotating(object));
  expect(await scene.flow([scene.part, other]).remove(context)).toMatchObject({
    reason: 'Unreachable',
    ownership: { account: 'default', parts: ['other'] },
  });
});

test('what applied nothing is at no address: its account may get another', async () => {
  const refusing = {
    ...scene.part,
    get: async () => undefined,
    replace: async () => {
      throw new ApiError('404', { reason: 'NotFound', definite: true });
    },
  };
  const fresh = left(undefined);
  const object = { ...fresh, metadata: { ...fresh.metadata, annotations: { [annotation.recordOf]: 'u' } } };
  const context = scene.contextFor(object, annotating(object));
  const there = { ...context, connection: { ...context.connection, url: 'https://wrong' } };
  expect(await scene.flow([refusing]).ensure(there)).toMatchObject({ reason: 'DependencyNotReady', ownership: {} });
  expect(recordedURLOf(context.resource.object)).toBeUndefined();
});

test('nothing is shown of what is certainly not there', async () => {
  const before = left({}, { spec: { thing: {}, managementPolicy: 'Observe' } });
  const object = { ...before, status: { ...before.status, thing: { size: 5, applied: true } } };
  const shown = new Map<string, unknown>();
  const gone = { ...scene.part, get: async () => undefined };
  expect(await scene.flow([gone], shown).ensure(scene.contextFor(object))).toMatchObject({
    reason: 'ExternalNotFound',
  });
  expect(shown.get('thing')).toEqual({ applied: false });
});

test('what this process has known for so long is removed at once', async () => {
  const [one, object] = [scene.flow(), left({ status: 'False', reason: 'Unreachable' })];
  await one.ensure(scene.contextFor(object));
  scene.now += createSettleMs;
  expect(await one.remove(scene.contextFor(deleted(object)))).toEqual({ kind: 'finished' });
});

test.each([
  ['in place before', 2, ['delete']],
  ['to be changed before', 3, []],
])('a part that has left the spec and was %s', async (_, generation, sent) => {
  await scene.flow().ensure(scene.contextFor(left({}, { generation, spec: {} })));
  expect(scene.calls).toEqual(sent);
});

test('nobody applies what a delete without an answer may yet remove', async () => {
  const [one, object] = [scene.flow(), left({})];
  scene.lost = 1;
  expect(await one.remove(scene.contextFor(deleted(object)))).toMatchObject({ reason: 'Unreachable' });
  expect(await one.remove(scene.contextFor(deleted(object)))).toEqual({ kind: 'finished' });
  scene.now += 1_000;
  const heir = { ...object, metadata: { name: 'b', namespace: 'ns', uid: 'v', generation: 1 }, status: {} };
  expect(await one.ensure(scene.contextFor(heir))).toMatchObject({
    ...{ reason: 'Creating', retry: { kind: 'after', ms: createSettleMs - 1_000 } },
    message: expect.stringContaining('an unanswered delete of the thing may still be carried out'),
  });
  scene.now += createSettleMs;
  expect({ outcome: await one.ensure(scene.contextFor(heir)), calls: scene.calls }).toMatchObject({
    outcome: { reason: 'Available' },
    calls: ['delete', 'delete', 'put'],
  });
});

test('what a delete without an answer may have removed is not there by what was seen before', async () => {
  const one = scene.flow();
  const ensure = (generation: number, spec: object, requested: boolean) => {
    const context = scene.contextFor(left({ observedGeneration: 2 }, { generation, spec }));
    return one.ensure({ ...context, occasion: { ...context.occasion, requested } });
  };
  expect(await ensure(2, { thing: {} }, true)).toMatchObject({ reason: 'Available' });
  scene.lost = 1;
  const unanswered = { ownership: { unanswered: ['thing'] } };
  expect(await ensure(3, {}, true)).toMatchObject({ reason: 'Unreachable', ...unanswered });
  expect(await ensure(4, { thing: {} }, true)).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
  scene.now += createSettleMs;
  expect({ outcome: await ensure(4, { thing: {} }, false), calls: scene.calls }).toMatchObject({
    outcome: { reason: 'Available' },
    calls: ['delete', 'put'],
  });
});

test.each([
  ['at another address is another one', 'http://other', 'Available'],
  ['with another key, which may be of the same account, is the same', 'http://api/', 'Creating'],
])('a module of that name %s', async (_, url, reason) => {
  const [one, object] = [scene.flow(), left({})];
  scene.lost = 1;
  const connection = { key: 'ns/one', client: undefined, url: 'http://api' };
  expect(await one.remove({ ...scene.contextFor(deleted(object)), connection })).toMatchObject({
    reason: 'Unreachable',
  });
  const other = { ...object, metadata: { name: 'b', namespace: 'ns', uid: 'v', generation: 1 }, status: {} };
  const there = { ...scene.contextFor(other), connection: { ...connection, key: 'ns/other', url } };
  expect(await one.ensure(there)).toMatchObject({ reason });
});

test('what another one waits for is not handed over before a delete without an answer is carried out', async () => {
  const [one, object] = [scene.flow(), deleted(left({}))];
  const heir: ManagedObject = { ...left(undefined), metadata: { name: 'b', namespace: 'ns', uid: 'v', generation: 1 } };
  const index = { get: () => undefined, list: () => [], claimants: () => [object, heir] };
  const peers = new Peers({ index, memory: scene.memory, accountOf: () => ({ identity: 'default' }) });
  const remove = () => one.remove({ ...scene.contextFor(object), peers });
  scene.lost = 1;
  expect(await remove()).toMatchObject({ reason: 'Unreachable' });
  scene.now += 1_000;
  expect(await remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - 1_000 } });
  scene.now += createSettleMs;
  expect({ outcome: await remove(), calls: scene.calls }).toEqual({
    outcome: { kind: 'finished' },
    calls: ['delete', 'delete'],
  });
});

test('what only an annotation says is there becomes proof by a call of ours, not by itself', async () => {
  const forged = left(undefined, { spec: {} });
  const waiting = await scene.flow().ensure(scene.contextFor(forged));
  expect(waiting).toMatchObject({ reason: 'Updating', ownership: {} });
  expect(waiting).not.toHaveProperty('ownership.parts');
  const restored = left(undefined);
  const found = await scene.flow().ensure(scene.contextFor(restored));
  expect(found).toMatchObject({ reason: 'Available', ownership: { parts: ['thing'] } });
});

test.each([
  ['delete', deleted(left({})), 'remove'],
  ['get', left({ status: 'False', observedGeneration: 2, reason: 'Unauthorized' }), 'ensure'],
] as const)('a module that the key may not %s is left for a minute at first', async (what, object, way) => {
  const forbid = async () => {
    scene.calls.push(what);
    throw new ApiError('403', { reason: 'Unauthorized', definite: true, isForbidden: true });
  };
  const flow = scene.flow([{ ...scene.part, [what]: forbid }]);
  const context = scene.contextFor(object);
  const attempt = () => flow[way]({ ...context, occasion: { ...context.occasion, requested: false } });
  expect(await attempt()).toMatchObject({ reason: 'Unauthorized', retry: { kind: 'after', ms: 60_000 } });
  scene.now += 59_000;
  expect(await attempt()).toMatchObject({ reason: 'Unauthorized', retry: { kind: 'after', ms: 1_000 } });
  expect(scene.calls).toEqual([what]);
});

test('a module that another one came to have while its delete waited for its turn is left to it', async () => {
  const object = deleted(left({}));
  const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['thing'], apiURL: 'http://api' } };
  const heir: ManagedObject = { ...left({}), metadata: { ...left({}).metadata, name: 'b', uid: 'v' }, status };
  const claimants = [object];
  const remove: typeof scene.part.delete = async (_client, _spec, call) => {
    if (!claimants.includes(heir)) claimants.push(heir);
    try {
      call.permit?.();
    } catch (cause) {
      throw notSent('things.delete', cause);
    }
    return scene.part.delete(undefined, {} as never, call);
  };
  const flow = scene.flow([{ ...scene.part, delete: remove }]);
  const index = { get: () => undefined, list: () => [], claimants: () => claimants };
  const accountOf = () => ({ identity: 'default', url: 'http://api' });
  const peers = new Peers({ index, memory: scene.memory, accountOf });
  const context = { ...scene.contextFor(object), peers };
  expect(await flow.remove(context)).toMatchObject({
    reason: 'Updating',
    isPending: true,
    retry: { kind: 'after', ms: 500 },
  });
  expect(await flow.remove(context)).toEqual({ kind: 'finished' });
  expect(scene.calls).toEqual([]);
});

test('a module that another one has by now is left to it at once, though its delete was refused lately', async () => {
  const object = deleted(left({}));
  const status: ManagedObject['status'] = { ownership: { how: 'Applied', parts: ['thing'], apiURL: 'http://api' } };
  const metadata = { name: 'b', namespace: 'ns', uid: 'v', generation: 1 };
  const heir: ManagedObject = { ...left({}), metadata, status };
  const forbid = () =>
    Promise.reject(new ApiError('403', { reason: 'Unauthorized', definite: true, isForbidden: true }));
  const flow = scene.flow([{ ...scene.part, delete: forbid }]);
  const context = scene.contextFor(object);
  const occasion = { ...context.occasion, requested: false };
  expect(await flow.remove({ ...context, occasion })).toMatchObject({ retry: { kind: 'after', ms: 60_000 } });
  const index = { get: () => undefined, list: () => [], claimants: () => [object, heir] };
  const accountOf = () => ({ identity: 'default', url: 'http://api' });
  const peers = new Peers({ index, memory: scene.memory, accountOf });
  expect(await flow.remove({ ...context, occasion, peers })).toEqual({ kind: 'finished' });
});
