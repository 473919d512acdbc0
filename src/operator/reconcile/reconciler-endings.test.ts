import { beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { annotation, finalizer } from './annotations.ts';
import type { Flow } from './flow.ts';
import { Installation } from './installation.ts';
import { BehindError, report, UnrecordedError } from './outcome.ts';
import { object, ReconcilerFixture } from './reconciler.fixture.ts';
import type { ReconcilerOptions } from './reconciler.ts';
import type { ManagedObject } from './resource.ts';

let fixture: ReconcilerFixture;
beforeEach(() => {
  fixture = new ReconcilerFixture();
});

test('one that is there still is let go once its flow is through, and nothing is removed for one that has gone', async () => {
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] };
  fixture.cached = { ...object, metadata: { ...object.metadata, ...ending } };
  const done: string[] = [];
  const remove = async () => {
    done.push('removed');
    return { kind: 'finished' } as const;
  };
  const removeFinalizer = async () => void done.push('let go');
  const end = (confirm: () => Promise<unknown>) =>
    fixture.reconcile(() => {}, { writer: { confirm, removeFinalizer } as never }, { remove });
  await expect(end(() => Promise.reject(new Error('404')))).rejects.toThrow('404');
  expect(done).toEqual([]);
  const confirm = async () => {
    done.push('confirmed');
    return fixture.cached;
  };
  // The finalizer may be off by the second time, though nothing told of it.
  for (let n = 0; n < 2; n += 1) await end(confirm);
  expect(done).toEqual(['confirmed', 'removed', 'let go', 'confirmed', 'removed', 'let go']);
});

test.each([
  ['stays', {}, 0],
  ['goes where a person has it go without a call', { [annotation.forceOrphan]: 'true' }, 1],
  ['goes by another word than "true" too', { [annotation.forceOrphan]: 'yes' }, 1],
  ['stays by a no', { [annotation.forceOrphan]: 'false' }, 0],
])('a paused one that is to be deleted %s', async (_, more, count) => {
  const annotations = { [annotation.paused]: 'true', ...more };
  const deletionTimestamp = '2026-01-02T03:04:05Z';
  fixture.cached = {
    ...object,
    metadata: { ...object.metadata, finalizers: [finalizer], deletionTimestamp, annotations },
  };
  let released = 0;
  const writer = { removeFinalizer: async () => ++released, writeStatus: async () => ++fixture.writes } as never;
  const remove = () => Promise.reject(new Error('called'));
  await fixture.reconcile(() => {}, { writer }, { remove, leftBehind: () => 'x' });
  expect(released).toBe(count);
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
      ownership: { id: 'x', installation: 'one', removed: true },
    });
    const { restorations } = fixture;
    fixture = new ReconcilerFixture();
    Object.assign(fixture, { restorations });
    fixture.cached = { ...deleted, status: written ?? {} };
    await end();
    expect(written?.ownership).toMatchObject({ id: 'x', removed: true });
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
    expect(written?.ownership).not.toHaveProperty('removed');
  });

  test('the word that it was removed says nothing of one that was restored and is not deleted', async () => {
    const ownership = { ...deleted.status?.ownership, removed: true };
    fixture.cached = { ...object, status: { ...deleted.status, ownership } };
    await end();
    expect(written?.conditions?.[0]).toMatchObject({ reason: 'Available' });
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
  const installation = new Installation({ name: () => 'one', takeOver: false, now: () => 0 });
  const remove = () => Promise.reject(new Error('called'));
  const flow = { remove, leavesNothing: () => false, leftBehind: () => 'x' };

  test('one that is deleted goes, and nothing is put on record for it', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending }, status };
    const done: string[] = [];
    const events = { record: ({ note }: { note: string }) => void done.push(note) };
    const writer = { removeFinalizer: async () => void done.push('let go') } as never;
    const said = await fixture.reconcile(() => {}, { writer, events, installation }, flow);
    expect(said).toEqual({ kind: 'done' });
    expect(done).toEqual(['x is left behind, as asked', 'let go']);
  });

  test('one that is not deleted is left alone', async () => {
    fixture.cached = { ...object, metadata: { ...object.metadata, annotations }, status };
    await fixture.reconcile(() => {}, { installation }, flow);
    expect([fixture.held, fixture.writes]).toEqual([0, 1]);
  });
});

const made = { installation: 'one', account: 'default', how: 'Created', id: 'x' } as const;
test.each<[string, ManagedObject['spec'], object, readonly string[]]>([
  ['made, with Retain', { deletionPolicy: 'Retain' }, made, ['Orphaned x is left behind: deletionPolicy is Retain']],
  [
    'made, with Observe',
    { managementPolicy: 'Observe' },
    made,
    ['Orphaned x is left behind: managementPolicy is Observe'],
  ],
  [
    'imported and then managed',
    { deletionPolicy: 'Retain' },
    { ...made, how: 'Imported' },
    ['Orphaned x is left behind: deletionPolicy is Retain'],
  ],
  [
    'applied as parts',
    { managementPolicy: 'Observe' },
    { installation: 'one', account: 'default', parts: ['a'] },
    ['Orphaned x is left behind: managementPolicy is Observe'],
  ],
  ['only ever observed', { managementPolicy: 'Observe' }, { installation: 'one' }, []],
])('one that is deleted tells once of what it leaves behind: %s', async (_, spec, ownership, told) => {
  const metadata = { ...object.metadata, finalizers: [finalizer], deletionTimestamp: '2026-01-02T03:04:05Z' };
  const annotations = { [annotation.externalID]: 'x', [annotation.recordOf]: 'u', [annotation.appliedParts]: 'a' };
  const parts = 'parts' in ownership ? annotations : { [annotation.externalID]: 'x' };
  fixture.cached = {
    ...object,
    metadata: { ...metadata, annotations: parts },
    spec,
    status: { id: 'x', ownership } as never,
  };
  const events: string[] = [];
  const record = ({ reason, note }: { reason: string; note: string }) => void events.push(`${reason} ${note}`);
  let isRefused = true;
  const removeFinalizerAsRead = async () => {
    if (isRefused) throw new BehindError('changed meanwhile');
  };
  const writer = { removeFinalizerAsRead, record: async (given: ManagedObject) => given } as never;
  const remove = () => Promise.reject(new Error('called'));
  const end = () =>
    fixture.reconcile(
      () => {},
      { writer, events: { record } },
      { remove, leavesNothing: () => true, leftBehind: () => 'x' },
    );
  await end();
  expect(events).toEqual([]);
  isRefused = false;
  await end();
  expect(events).toEqual(told);
});

test('what its flow found on the way, and leaves by policy, is told of when it is let go', async () => {
  const metadata = { ...object.metadata, finalizers: [finalizer], deletionTimestamp: '2026-01-02T03:04:05Z' };
  fixture.cached = { ...object, metadata, spec: { deletionPolicy: 'Retain' } };
  const events: string[] = [];
  const record = ({ note }: { note: string }) => void events.push(note);
  const writer = { confirm: async () => fixture.cached, removeFinalizer: async () => void events.push('let go') };
  const remove: Flow<undefined>['remove'] = async ({ resource }) => {
    resource.take({ ...resource.object, status: { ownership: made } });
    return { kind: 'finished' };
  };
  const flow = { remove, leavesNothing: () => false, leftBehind: () => 'x' };
  await fixture.reconcile(() => {}, { writer: writer as never, events: { record } }, flow);
  expect(events).toEqual(['let go', 'x is left behind: deletionPolicy is Retain']);
});

describe('one that goes from Kubernetes without the operator', () => {
  const held = { [annotation.recordOf]: 'u', [annotation.createdID]: 'x' };
  const ending = { deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: [finalizer], annotations: held };

  /** What is told when it goes, after a reconcile in which it is removed like that. */
  async function told(remove: Flow<undefined>['remove'], changes: Partial<ReconcilerOptions<undefined>> = {}) {
    fixture.cached = { ...object, metadata: { ...object.metadata, ...ending } };
    const events: string[] = [];
    const lines: string[] = [];
    const log = { ...silentLog, warn: (line: string) => void lines.push(line), child: () => log };
    const options = {
      log,
      events: {
        record: ({ reason, note }: Record<'reason' | 'note', string>) => void events.push(`${reason} ${note}`),
      },
      writer: {
        confirm: async () => fixture.cached,
        removeFinalizer: async () => {},
        writeStatus: async (_: ManagedObject, status: object) => ({ status }),
      } as never,
      ...changes,
    };
    const flow = { remove, leavesNothing: () => false, leftBehind: () => 'thing x' } as Partial<Flow<undefined>>;
    await fixture.reconcile(() => {}, options, flow);
    [events.length, lines.length] = [0, 0];
    const last = { ...object, metadata: { ...object.metadata, annotations: held } };
    for (let times = 0; times < 2; times += 1) fixture.reconcilers[0]?.gone(last);
    return { events, lines };
  }

  const stuck = async () => report('Unreachable', 'deleting: no answer');
  const note = 'thing x is left behind, if it is still there: the finalizer was taken off';

  test('is told of once, by an event and in the log', async () => {
    expect(await told(stuck)).toEqual({ events: [`Orphaned ${note}`], lines: [note] });
  });

  test.each<[string, Flow<undefined>['remove'], Partial<ReconcilerOptions<undefined>>]>([
    ['was let go just before', async () => ({ kind: 'finished' }), {}],
    ['another replica works on', stuck, { isMine: () => false }],
  ])('is not where it %s', async (_, remove, changes) => {
    expect(await told(remove, changes)).toEqual({ events: [], lines: [] });
  });
});
