import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Flow } from './flow.ts';
import { foreignMessage } from './ownership/foreign.ts';
import { Installation } from './ownership/installation.ts';
import { object, ReconcilerFixture } from './reconciler.fixture.ts';
import { annotation, finalizer } from './resource/annotations.ts';
import type { ManagedObject } from './resource/resource.ts';
import { BehindError, UnrecordedError } from './status/outcome.ts';

let fixture: ReconcilerFixture;
beforeEach(() => {
  fixture = new ReconcilerFixture();
});

describe('one that Kubernetes does not let go', () => {
  const ending = { finalizers: [finalizer], deletionTimestamp: '2026-01-02T03:04:05Z' };
  const deleted: ManagedObject = {
    ...object,
    metadata: { ...object.metadata, ...ending },
    status: { id: 'x', ownership: { installation: 'one', account: 'default', how: 'Created', id: 'x' } } as never,
  };
  const refusal = 'its finalizer cannot be taken off: no right to patch';
  let [isRefused, removed, written] = [true, 0, undefined as ManagedObject['status']];
  const removeFinalizer = async () => {
    if (isRefused) throw new UnrecordedError(refusal);
    removed += 100;
  };
  const writer = {
    ...{ removeFinalizer, removeFinalizerAsRead: removeFinalizer, record: async (given: ManagedObject) => given },
    confirm: async (given: ManagedObject) => given,
    writeStatus: async (_: ManagedObject, status: typeof written) => {
      written = status;
      return { status };
    },
  } as never;
  const remove = async () => {
    removed += 1;
    return { kind: 'finished' } as const;
  };
  const end = (flow: Partial<Flow<undefined>> = {}) =>
    fixture.reconcile(() => {}, { writer }, { remove, leftBehind: () => 'x', ...flow });
  beforeEach(() => {
    [isRefused, removed, written] = [true, 0, undefined];
    fixture.cached = deleted;
  });

  test('says so, and is let go by the next process without a call', async () => {
    expect(await end()).toEqual({ kind: 'backoff' });
    const message = `deleting: ${refusal}`;
    expect(written).toMatchObject({
      conditions: [{ type: 'Ready', status: 'False', reason: 'DependencyNotReady', message }, { type: 'Reconciling' }],
      ownership: { id: 'x', installation: 'one', removedFor: 'u' },
    });
    const { restorations } = fixture;
    fixture = new ReconcilerFixture();
    Object.assign(fixture, { restorations });
    fixture.cached = { ...deleted, status: written ?? {} };
    await end();
    expect(written?.ownership).toMatchObject({ id: 'x', removedFor: 'u' });
    isRefused = false;
    expect(await end()).toEqual({ kind: 'done' });
    expect(removed).toBe(101);
  });

  test.each<[string, ManagedObject['metadata'], Partial<Flow<undefined>>]>([
    ['where nothing was to be removed', deleted.metadata, { leavesNothing: () => true }],
    ['by force', { ...deleted.metadata, annotations: { [annotation.forceOrphan]: 'true' } }, {}],
  ])('says so too %s, and nothing is said to be removed', async (_, metadata, flow) => {
    fixture.cached = { ...deleted, metadata };
    await end(flow);
    expect(written?.conditions?.[0]).toMatchObject({ reason: 'DependencyNotReady', message: `deleting: ${refusal}` });
    expect(written?.ownership).not.toHaveProperty('removedFor');
  });

  test('the word that what another had was removed, as from a backup, keeps none from being looked for', async () => {
    fixture.cached = { ...deleted, status: { ownership: { ...deleted.status?.ownership, removedFor: 'v' } } };
    await end();
    expect(removed).toBe(1);
  });
});

describe('one that is let go, and held by somebody else', () => {
  const deletionTimestamp = '2026-01-02T03:04:05Z';

  test('says so, when that takes long', async () => {
    fixture.cached = {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp, finalizers: ['backup.test/hold'] },
    };
    const said: unknown[] = [];
    const writer = { writeStatus: async (_: unknown, status: unknown) => ({ count: said.push(status) }) } as never;
    expect(await fixture.reconcile(() => {}, { writer })).toEqual({ kind: 'after', ms: 5_000 });
    fixture.now = 5_000;
    expect(await fixture.reconcile(() => {}, { writer })).toEqual({ kind: 'done' });
    const message = 'deleted; it stays until others take their finalizers off: backup.test/hold';
    const ready = { type: 'Ready', status: 'False', reason: 'Deleting', message };
    expect(said).toMatchObject([{ conditions: [ready, { type: 'Reconciling', status: 'True' }] }]);
  });

  test('nothing runs for it any more, whoever let it go', async () => {
    fixture.cached = {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp, finalizers: ['backup.test/hold'] },
    };
    let ended = 0;
    await fixture.reconcile(() => {}, {}, { standDown: () => void ended++ });
    expect(ended).toBe(1);
  });

  test.each([
    ['goes at once', [], false],
    ['is over', ['backup.test/hold'], true],
  ])('says nothing where it %s', async (_, finalizers, isOver) => {
    fixture.cached = { ...object, metadata: { ...object.metadata, deletionTimestamp, finalizers } };
    expect(await fixture.reconcile(() => {}, {}, { isOver: () => isOver })).toEqual({ kind: 'done' });
  });
});

describe('of another installation, where a person has it go without a call', () => {
  const annotations = { [annotation.forceOrphan]: 'true', [annotation.externalID]: 'x', [annotation.recordOf]: 'u' };
  const ending = { finalizers: [finalizer], deletionTimestamp: '2026-01-02T03:04:05Z', annotations };
  const status = { id: 'x', ownership: { installation: 'two', account: 'default', how: 'Created', id: 'x' } } as never;
  let installation: Installation;
  beforeEach(() => {
    installation = new Installation({ name: () => 'one', takeOver: false, now: () => 0 });
  });
  const remove = () => Promise.reject(new Error('called'));
  const flow = { remove, leavesNothing: () => false, leftBehind: () => 'x' };

  test('one that is deleted goes, and nothing is put on record for it', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    const done: string[] = [];
    const events = { record: ({ note }: { note: string }) => void done.push(note) };
    const writer = { removeFinalizerAsRead: async () => void done.push('let go') } as never;
    const said = await fixture.reconcile(() => {}, { writer, events, installation }, flow);
    expect(said).toEqual({ kind: 'done' });
    expect(done).toEqual(['let go', 'x is left behind, as asked']);
  });

  test('one of which a person has taken that back meanwhile is not let go, and not said to be left behind', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    const done: string[] = [];
    const events = { record: ({ note }: { note: string }) => void done.push(note) };
    const removeFinalizerAsRead = () => Promise.reject(new BehindError('changed since'));
    const writer = { removeFinalizer: async () => void done.push('let go'), removeFinalizerAsRead } as never;
    expect(await fixture.reconcile(() => {}, { writer, events, installation }, flow)).toEqual({ kind: 'backoff' });
    expect(done).toEqual([]);
  });

  test('one that cannot be let go says so, and stays the other’s', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    const written: unknown[] = [];
    const removeFinalizerAsRead = () => Promise.reject(new UnrecordedError('no right'));
    const writeStatus = async (_: unknown, next: unknown) => ({ count: written.push(next) });
    const writer = { removeFinalizerAsRead, writeStatus } as never;
    expect(await fixture.reconcile(() => {}, { writer, installation }, flow)).toEqual({ kind: 'backoff' });
    expect(written).toMatchObject([
      {
        ownership: { installation: 'two' },
        conditions: [{ reason: 'DependencyNotReady', message: foreignMessage('two', 'deleting: no right') }, {}],
      },
    ]);
  });

  test.each([
    ['refused', new UnrecordedError('no right'), false],
    ['behind', new BehindError('changed since'), false],
    ['not answered', new Error('reset'), true],
  ])('one whose end is %s may be gone, or was not let go', async (_, error, isLetGo) => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    const writer = { removeFinalizerAsRead: () => Promise.reject(error), writeStatus: async () => ({}) } as never;
    await fixture.reconcile(() => {}, { writer, installation }, flow).catch(() => {});
    expect(fixture.memory.of('u').isLetGo).toBe(isLetGo);
  });

  test('two who may not let it go, each for a reason of his own, do not contradict each other for ever', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    let writes = 0;
    const both = ['one', 'two'].map((name) => {
      const removeFinalizerAsRead = () => Promise.reject(new UnrecordedError(`${name} has no right`));
      const writeStatus = async (before: ManagedObject, next: ManagedObject['status']) => {
        if (before.status?.conditions?.[0]?.message === next?.conditions?.[0]?.message) return before;
        writes += 1;
        fixture.cached = { ...before, status: next ?? {} };
        return fixture.cached;
      };
      const by = new Installation({ name: () => name, takeOver: false, now: () => 0 });
      return { writer: { removeFinalizerAsRead, writeStatus } as never, installation: by };
    });
    for (let n = 0; n < 10; n += 1) for (const each of both) await fixture.reconcile(() => {}, each, flow);
    expect(writes).toBeLessThan(4);
    expect(fixture.cached.status?.conditions?.[0]?.message).toContain('two has no right');
  });

  test('one that is let go, and held by somebody else, is not said to wait for the other', async () => {
    const finalizers = ['backup.test/hold'];
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending, annotations: {}, finalizers }, status };
    expect(await fixture.reconcile(() => {}, { installation }, flow)).toEqual({ kind: 'after', ms: 5_000 });
  });

  test('one that is not deleted is left alone', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, annotations }, status };
    await fixture.reconcile(() => {}, { installation }, flow);
    expect([fixture.held, fixture.writes]).toEqual([0, 1]);
  });
});
