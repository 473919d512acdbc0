import { beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { Restorations } from '../../common/restorations.ts';
import { annotation, finalizer } from './annotations.ts';
import type { Flow } from './flow.ts';
import { Installation } from './installation.ts';
import { Memory } from './memory.ts';
import { BehindError, report, UnreadError } from './outcome.ts';
import { Reconciler, type ReconcilerOptions } from './reconciler.ts';
import type { ManagedObject } from './resource.ts';
import { Schedule } from './schedule.ts';

const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {},
};

let cached: ManagedObject | undefined;
let memory: Memory;
let writes: number;
let held: number;
let now: number;
let restorations: Restorations;
/** The last one first. */
let reconcilers: Reconciler<undefined>[];
beforeEach(() => {
  reconcilers = [];
  now = 0;
  restorations = new Restorations({ monotonic: { now: () => now } as never, random: () => 1 });
  [cached, memory, writes, held] = [object, new Memory(), 0, 0];
});

/** One reconcile, in which this happens. */
async function reconcile(
  happens: (reconciler: Reconciler<undefined>) => void,
  changes: Partial<ReconcilerOptions<undefined>> = {},
  more: Partial<Flow<undefined>> = {},
  { signal } = new AbortController(),
) {
  const flow: Flow<undefined> = {
    ensure: async (context) => {
      happens(reconciler);
      context.facts.observed = true;
      return report('Available', 'it is there');
    },
    ...more,
  };
  const options: Partial<ReconcilerOptions<undefined>> = {
    ...{ memory, restorations, log: silentLog, time: { now: () => 0, wall: () => 0 } },
    cache: { get: () => cached, whole: async (known) => known },
    connectionOf: () => ({ key: 'default', client: undefined }),
    schedule: new Schedule({ now: () => 0, resyncIntervalMs: 60_000, epochOf: () => 0 }),
    events: { record: () => {} },
    writer: {
      writeStatus: async () => ++writes,
      record: async (recorded: ManagedObject) => {
        held += 1;
        return recorded;
      },
    } as never,
    installation: {
      name: 'one',
      otherOf: () => undefined,
      movedAddress: () => undefined,
      forget: () => {},
      wrote: () => {},
    } as never,
    ...changes,
  };
  const reconciler = new Reconciler(options as ReconcilerOptions<undefined>, flow);
  reconcilers.unshift(reconciler);
  return reconciler.reconcile({ key: 'ns/a', id: '1', signal } as never);
}

test('what was learned of a resource is remembered', async () => {
  await reconcile(() => {});
  expect(memory.of('u')).toMatchObject({ observed: true, realizedGeneration: 1 });
});

test.each([
  ['nothing', {}, 0],
  ['what is on record', { id: 'x' }, 0],
  ['what is not on record yet', { id: 'y' }, 1],
])('of a reconcile that is given up %s is written', async (_, made, count) => {
  cached = { ...object, status: { ownership: { installation: 'one', how: 'Created', account: 'default', id: 'x' } } };
  const stop = new AbortController();
  const ensure = async () => {
    stop.abort();
    return report('Updating', 'given up', { ownership: { how: 'Created', account: 'default', ...made } });
  };
  await reconcile(() => {}, {}, { ensure }, stop);
  expect(writes).toBe(count);
});

test.each([
  ['went', undefined],
  ['gave way to a namesake', { ...object, metadata: { ...object.metadata, uid: 'another' } }],
])('nothing is kept of one that %s meanwhile, when it was forgotten already', async (_, left) => {
  await reconcile((reconciler) => {
    cached = left;
    reconciler.forget(object);
  });
  expect(memory.of('u')).toEqual(new Memory().of('u'));
});

test.each([
  ['whose account may be there, but is not read yet', new UnreadError('ns/own is not read yet')],
  ['that is otherwise by now than it was read', new BehindError('ns/a is behind')],
])('nothing is said of one %s', async (_, error) => {
  const unread = () => {
    throw error;
  };
  expect(await reconcile(unread)).toEqual({ kind: 'backoff' });
  expect(writes).toBe(0);
  await reconcile(() => {});
  expect(writes).toBe(1);
});

test('that another installation has it is said anew where it could not be written', async () => {
  const installation = new Installation({ name: () => 'green', takeOver: false, now: () => 0 });
  const blue = { ...object, status: { ownership: { installation: 'blue' }, conditions: [] } };
  cached = blue;
  const failing = { writeStatus: () => Promise.reject(new Error('no answer')) } as never;
  await expect(reconcile(() => {}, { installation, writer: failing })).rejects.toThrow('no answer');
  expect(await reconcile(() => {}, { installation })).toMatchObject({ kind: 'after' });
  expect(writes).toBe(1);
});

test('what another installation has is not looked for in the account of this one, until it is taken over', async () => {
  const blue = { ...object, status: { ownership: { installation: 'blue' }, conditions: [] } };
  cached = blue;
  const installed = (takeOver: boolean) => new Installation({ name: () => 'green', takeOver, now: () => 0 });
  await reconcile(() => {}, { installation: installed(false) });
  expect(memory.of('u').isElsewhere).toBe(true);
  await reconcile(() => {}, { installation: installed(true) });
  expect(memory.of('u').isElsewhere).toBeUndefined();
});

test.each([
  ['is put on record', 'green', 1],
  ['is not where the record is another one by now', 'blue', 0],
])('what this one began to make when another installation took over %s', async (_, by, times) => {
  const installation = new Installation({ name: () => 'green', takeOver: false, now: () => 0 });
  const annotations = { [annotation.recordOf]: 'u', [annotation.installation]: by };
  cached = {
    ...object,
    metadata: { ...object.metadata, annotations },
    status: { ownership: { installation: 'blue' }, conditions: [] },
  };
  let handedOver = 0;
  const handOver = async () => {
    handedOver += 1;
  };
  await reconcile(() => {}, { installation }, { handOver });
  expect(handedOver).toBe(times);
});

test('nothing is removed for one that is listed still, and has gone', async () => {
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] };
  cached = { ...object, metadata: { ...object.metadata, ...ending } };
  const done: string[] = [];
  const remove = async () => {
    done.push('removed');
    return { kind: 'finished' } as const;
  };
  const end = (confirm: () => Promise<unknown>) => reconcile(() => {}, { writer: { confirm } as never }, { remove });
  await expect(end(() => Promise.reject(new Error('404')))).rejects.toThrow('404');
  expect(done).toEqual([]);
  const confirm = async () => {
    done.push('confirmed');
    return cached;
  };
  for (let n = 0; n < 2; n += 1) await end(confirm);
  expect(done).toEqual(['confirmed', 'removed', 'removed']);
});

test.each([
  ['stays', {}, 0],
  ['goes where a person has it go without a call', { [annotation.forceOrphan]: 'true' }, 1],
])('a paused one that is to be deleted %s', async (_, more, count) => {
  const annotations = { [annotation.paused]: 'true', ...more };
  const deletionTimestamp = '2026-01-02T03:04:05Z';
  cached = { ...object, metadata: { ...object.metadata, finalizers: [finalizer], deletionTimestamp, annotations } };
  let released = 0;
  const writer = { removeFinalizer: async () => ++released, writeStatus: async () => ++writes } as never;
  const remove = () => Promise.reject(new Error('called'));
  await reconcile(() => {}, { writer }, { remove, leftBehind: () => 'x' });
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
  cached = { ...object, metadata: { ...metadata, annotations: parts }, spec, status: { id: 'x', ownership } as never };
  const events: string[] = [];
  const record = ({ reason, note }: { reason: string; note: string }) => void events.push(`${reason} ${note}`);
  let isRefused = true;
  const removeFinalizerAsRead = async () => {
    if (isRefused) throw new BehindError('changed meanwhile');
  };
  const writer = { removeFinalizerAsRead, record: async (given: ManagedObject) => given } as never;
  const remove = () => Promise.reject(new Error('called'));
  const end = () =>
    reconcile(() => {}, { writer, events: { record } }, { remove, leavesNothing: () => true, leftBehind: () => 'x' });
  await end();
  expect(events).toEqual([]);
  isRefused = false;
  await end();
  expect(events).toEqual(told);
});

describe('one that goes from Kubernetes without the operator', () => {
  const held = { [annotation.recordOf]: 'u', [annotation.createdID]: 'x' };
  const ending = { deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: [finalizer], annotations: held };

  /** What is told when it goes, after a reconcile in which it is removed like that. */
  async function told(remove: Flow<undefined>['remove'], changes: Partial<ReconcilerOptions<undefined>> = {}) {
    cached = { ...object, metadata: { ...object.metadata, ...ending } };
    const events: string[] = [];
    const lines: string[] = [];
    const log = { ...silentLog, warn: (line: string) => void lines.push(line), child: () => log };
    const options = {
      log,
      events: {
        record: ({ reason, note }: Record<'reason' | 'note', string>) => void events.push(`${reason} ${note}`),
      },
      writer: {
        confirm: async () => cached,
        removeFinalizer: async () => {},
        writeStatus: async (_: ManagedObject, status: object) => ({ status }),
      } as never,
      ...changes,
    };
    const flow = { remove, leavesNothing: () => false, leftBehind: () => 'thing x' } as Partial<Flow<undefined>>;
    await reconcile(() => {}, options, flow);
    [events.length, lines.length] = [0, 0];
    const last = { ...object, metadata: { ...object.metadata, annotations: held } };
    for (let times = 0; times < 2; times += 1) reconcilers[0]?.gone(last);
    return { events, lines };
  }

  const stuck = async () => report('Unreachable', 'deleting: no answer');
  const note = 'thing x is left behind, if it is still there: the finalizer was taken off';

  test('is told of once, by an event and in the log', async () => {
    expect(await told(stuck)).toEqual({ events: [`Orphaned ${note}`], lines: [note] });
  });

  test.each<[string, Flow<undefined>['remove'], Partial<ReconcilerOptions<undefined>>]>([
    [
      'was let go just before',
      async ({ resource }) => {
        await resource.release();
        return { kind: 'finished' };
      },
      {},
    ],
    ['another replica works on', stuck, { isMine: () => false }],
  ])('is not where it %s', async (_, remove, changes) => {
    expect(await told(remove, changes)).toEqual({ events: [], lines: [] });
  });
});

test('of a manifest that was copied onto it only the id that it names is taken', async () => {
  const others = { [annotation.appliedParts]: 'a,b', [annotation.createIntent]: '{}', [annotation.externalID]: 'x' };
  const records = { [annotation.recordOf]: 'u', [annotation.appliedParts]: 'a', [annotation.externalID]: 'y' };
  memory.of('u').records = records;
  const annotations = { ...others, [annotation.recordOf]: 'another' };
  cached = { ...object, metadata: { ...object.metadata, finalizers: [finalizer], annotations } };
  let recorded: unknown;
  const record = async (given: ManagedObject, put: unknown) => {
    recorded = put;
    return given;
  };
  await reconcile(() => {}, { writer: { record, writeStatus: async () => ++writes } as never });
  expect(recorded).toEqual({ ...records, [annotation.externalID]: 'x', [annotation.createIntent]: null });
});

describe('records that are otherwise than they were', () => {
  const withParts = (parts: string, installation = 'one'): ManagedObject => {
    const own = { [annotation.recordOf]: 'u', [annotation.installation]: installation };
    const annotations = { ...own, [annotation.appliedParts]: parts };
    return { ...object, metadata: { ...object.metadata, finalizers: [finalizer], annotations } };
  };

  test.each<[string, string, Partial<ReconcilerOptions<undefined>>, number]>([
    ['are put back', 'one', {}, 1],
    ['are left where another replica works on it', 'one', { isMine: () => false }, 0],
    ['are left where another installation wrote them', 'two', {}, 0],
  ])('%s', async (_, by, changes, times) => {
    let now = 0;
    const time = { now: () => now, wall: () => 0 };
    cached = withParts('a,b');
    await reconcile(() => {}, { time });
    now = 600_000;
    cached = withParts('a', by);
    await reconcile(() => {}, { time, ...changes });
    expect(held).toBe(times);
  });

  /** Changed, and reconciled at once and when that asks for it, so many times; answers whether a call was sent each time. */
  async function war(times: number): Promise<readonly boolean[]> {
    await reconcile(() => {});
    memory.of('u').recordsOpenUntil = Number.NEGATIVE_INFINITY;
    const sent: boolean[] = [];
    for (let time = 0; time < times; time += 1) {
      cached = withParts('a');
      let isSent = false;
      const result = await reconcile(() => {
        isSent = true;
      });
      sent.push(isSent);
      if (!isSent && result.kind === 'after') now += result.ms;
    }
    return sent;
  }

  test('again and again are put back ten times at once, then later and later, and nothing is sent meanwhile', async () => {
    cached = withParts('a,b');
    expect(await war(14)).toEqual([...Array.from({ length: 10 }, () => true), false, true, false, true]);
    expect(held).toBe(12);
    expect(now).toBe(1_024 + 2_048);
  });

  test('and that is in the condition meanwhile', async () => {
    cached = withParts('a,b');
    let written: ManagedObject['status'];
    await war(10);
    const writeStatus = async (_: ManagedObject, status: ManagedObject['status']) => {
      written = status;
      return { status };
    };
    expect(await reconcile(() => {}, { writer: { writeStatus } as never })).toMatchObject({ kind: 'after', ms: 1_024 });
    expect(written?.conditions?.[0]).toMatchObject({
      reason: 'DependencyNotReady',
      message: expect.stringContaining("takes the operator's annotations or finalizer away again and again"),
    });
  });

  test('are put back at once where the resource of that name is another one', async () => {
    cached = withParts('a,b');
    await war(11);
    reconcilers[0]?.forget(withParts('a'));
    expect(restorations.wait('u')).toBe(0);
  });
});

describe('one that was replaced by a manifest without finalizer while no operator ran', () => {
  const wiped = (ownership: object) => ({
    ...object,
    spec: { accountRef: { name: 'none' } },
    status: { ownership: { installation: 'one', ...ownership } },
  });

  test('is held for what its status says that it made, also where it is refused', async () => {
    cached = wiped({ id: 'x', how: 'Created', account: 'default' });
    await reconcile(() => {
      throw new Error('it is to be refused');
    });
    expect([held, writes]).toEqual([1, 1]);
  });

  test('is not where it made nothing', async () => {
    cached = wiped({});
    await reconcile(() => {});
    expect(held).toBe(0);
  });
});

test('since when calls fail is known until it is as asked, waits for something else, or somebody asks', async () => {
  let now = 0;
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', observedGeneration: 1 } as never;
  const seen = { ...object, status: { conditions: [ready] } };
  const after = async (reason: 'Unreachable' | 'Creating' | 'DependencyNotReady', asked = seen) => {
    cached = asked;
    now += 1;
    await reconcile(
      () => {},
      { time: { now: () => now, wall: () => 0 } },
      { ensure: async () => report(reason, 'no') },
    );
    return memory.of('u').failing;
  };
  for (const reason of ['Unreachable', 'Creating'] as const) expect(await after(reason)).toEqual({ since: 1, at: 1 });
  expect(await after('Unreachable')).toEqual({ since: 1, at: 3 });
  const edited = { ...seen, metadata: { ...seen.metadata, generation: 2 } };
  expect(await after('Unreachable', edited)).toEqual({ since: 4, at: 4 });
  expect(await after('DependencyNotReady')).toBeUndefined();
});
