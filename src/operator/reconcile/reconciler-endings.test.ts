import { beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import type { Flow } from './flow.ts';
import { object, ReconcilerFixture } from './reconciler.fixture.ts';
import type { ReconcilerOptions } from './reconciler.ts';
import { annotation, finalizer } from './resource/annotations.ts';
import type { ManagedObject } from './resource/resource.ts';
import { BehindError, report } from './status/outcome.ts';

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
  const writer = { removeFinalizerAsRead: async () => ++released, writeStatus: async () => ++fixture.writes } as never;
  const remove = () => Promise.reject(new Error('called'));
  await fixture.reconcile(() => {}, { writer }, { remove, leftBehind: () => 'x' });
  expect(released).toBe(count);
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
