import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { ReconcilerFixture } from '../reconciler.fixture.ts';
import { annotation } from '../resource/annotations.ts';
import type { Condition, ManagedObject } from '../resource/resource.ts';
import { annotating, createSettleMs, left, PartsFixture } from './parts.fixture.ts';

let scene: PartsFixture;

beforeEach(() => {
  scene = new PartsFixture();
});

describe('a part that the spec names no more', () => {
  const ensureOf = (object: ManagedObject) =>
    scene.flow().ensure(scene.contextFor(object, { ...annotating(object), confirm: async (same) => same }));

  const asked = (asked: number, observedGeneration = 2, generation = 2) => ({
    ...left(undefined, { generation, spec: {} }),
    status: { observedGeneration, ownership: { parts: ['thing'], generations: { thing: { asked } } } },
  });

  /** By an earlier release. */
  function unrecorded(shown: Partial<Condition>): ManagedObject {
    const object = left(shown, { spec: {} });
    return { ...object, status: { ...object.status, observedGeneration: 2, ownership: { parts: ['thing'] } } };
  }

  test('at the generation that asked for it was taken out by a definition, and stays', async () => {
    for (let n = 0; n < 2; n += 1) {
      expect(await ensureOf(asked(2))).toMatchObject({
        reason: 'DependencyNotReady',
        message: expect.stringContaining('the definition of Things does not know spec.thing'),
      });
      scene.now += createSettleMs;
    }
    expect(scene.calls).toEqual([]);
  });

  test.each([
    ['restored where a definition does not know it', asked(7, 7, 1), 1],
    ['restored there, and in conflict or paused at first', asked(7, 1, 1), 1],
    ['of which no release before this one kept a record', unrecorded({ observedGeneration: 2 }), 2],
  ])('of a resource that was %s stays, until that is edited', async (_, object, generation) => {
    expect(await ensureOf(object)).toMatchObject({
      reason: 'DependencyNotReady',
      ownership: { parts: ['thing'], generations: { thing: { asked: generation } } },
    });
    expect(scene.calls).toEqual([]);
  });

  test.each([
    ['by an edit', asked(1)],
    ['by an edit before it was saved and restored', asked(1, 2, 1)],
    ['by an edit, as an earlier release left it', unrecorded({ observedGeneration: 1 })],
    ['and is on its way out, as an earlier release left it', unrecorded({ status: 'False', observedGeneration: 2 })],
  ])('%s, is removed', async (_, object) => {
    await ensureOf(object);
    scene.now += createSettleMs;
    await ensureOf(object);
    expect(scene.calls).toContain('delete');
  });
});

describe('which generation a part was for', () => {
  /** As the status has it after a reconcile. */
  async function recordedAfter(generation: number, spec: object, before: object, part = scene.part) {
    const object = left(undefined, { generation, spec });
    const shown = { ...object, status: { ownership: { parts: ['thing'], generations: { thing: before } } } };
    const writer = { ...annotating(shown), confirm: async (same: ManagedObject) => same };
    const outcome = await scene.flow([part]).ensure(scene.contextFor(shown, writer));
    return 'ownership' in outcome ? outcome.ownership?.generations : undefined;
  }
  const thing = { thing: {} };

  test('is on record: that it was asked for, and in place', async () => {
    expect(await recordedAfter(1, thing, {})).toEqual({ thing: { asked: 1, inPlace: 1 } });
  });

  test('stays on record while the cloud is away', async () => {
    const away = {
      ...scene.part,
      get: () => Promise.reject(new ApiError('x', { reason: 'Unreachable', definite: true })),
    };
    const before = { asked: 2, inPlace: 2 };
    expect(await recordedAfter(2, thing, before, away)).toEqual({ thing: before });
    expect(await recordedAfter(3, thing, before, away)).toEqual({ thing: { asked: 3, inPlace: 2 } });
    expect(await recordedAfter(2, {}, before)).toEqual({ thing: before });
  });

  test.each<[string, Partial<ManagedObject['spec']>, object]>([
    ['is paused', {}, { [annotation.paused]: 'true' }],
    ['has a spec that cannot be read', { managementPolicy: 'None' }, {}],
  ])('is on record of a resource that is edited and %s, of what it names', async (_, spec, annotations) => {
    const object = left(undefined, { generation: 3, spec: { ...thing, ...spec } });
    const before = { thing: { asked: 2, inPlace: 2 }, other: { asked: 2 } };
    const reconciler = new ReconcilerFixture();
    reconciler.cached = {
      ...object,
      metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
      status: { ownership: { parts: ['other', 'thing'], generations: before } },
    };
    let written: ManagedObject['status'];
    const writeStatus = async (_: unknown, status: typeof written) => {
      written = status;
      return { status };
    };
    const flow = scene.flow();
    const writer = { ...annotating(object), writeStatus } as never;
    await reconciler.reconcile(
      () => {},
      { writer },
      {
        ensure: (context) => flow.ensure(context),
        ownershipOf: (of) => flow.ownershipOf(of),
      },
    );
    expect(written?.ownership?.generations).toEqual({ ...before, thing: { asked: 3, inPlace: 2 } });
  });

  test('is asked for, and no more, by who only observes', async () => {
    const before = { asked: 2, inPlace: 2 };
    const spec = { ...thing, managementPolicy: 'Observe' };
    expect(await recordedAfter(3, spec, before)).toBeUndefined();
    const object = left(undefined, { generation: 3, spec });
    const known = { ...object, status: { ownership: { parts: ['thing'], generations: { thing: before } } } };
    expect(scene.flow().ownershipOf(known).generations).toEqual({ thing: { asked: 3, inPlace: 2 } });
  });
});
