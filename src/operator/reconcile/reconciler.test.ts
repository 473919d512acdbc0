import { beforeEach, expect, test } from '@jest/globals';
import { notSent } from '../../common/http/failure.ts';
import { Installation } from './ownership/installation.ts';
import { object, ReconcilerFixture } from './reconciler.fixture.ts';
import { annotation } from './resource/annotations.ts';
import { Memory } from './resource/memory.ts';
import { BehindError, DependencyError, report, reportFailure, UnreadError } from './status/outcome.ts';

let fixture: ReconcilerFixture;
beforeEach(() => {
  fixture = new ReconcilerFixture();
});

test('what was learned of a resource is remembered', async () => {
  await fixture.reconcile(() => {});
  expect(fixture.memory.of('u')).toMatchObject({ observed: true, realizedGeneration: 1 });
});

test('of an annotation of ours that has no effect it is told, once', async () => {
  const told: unknown[] = [];
  const events = { record: (event: unknown) => void told.push(event) };
  const annotations = { 'edge-operator.dev/pause': 'true', [annotation.reconcileAt]: '1', 'other.dev/pause': 'true' };
  fixture.cached = { ...object, metadata: { ...object.metadata, annotations } };
  for (const _ of [1, 2]) await fixture.reconcile(() => {}, { events });
  const note = expect.stringMatching(/^the annotation edge-operator\.dev\/pause has no effect; .*\/paused/);
  expect(told).toMatchObject([{ type: 'Warning', reason: 'UnknownAnnotation', note }]);
});

test.each([
  ['nothing', {}, 0],
  ['what is on record', { id: 'x' }, 0],
  ['what is not on record yet', { id: 'y' }, 1],
])('of a reconcile that is given up %s is written', async (_, made, count) => {
  fixture.cached = {
    ...object,
    status: { ownership: { installation: 'one', how: 'Created', account: 'default', id: 'x' } },
  };
  const stop = new AbortController();
  const ensure = async () => {
    stop.abort();
    return report('Updating', 'given up', { ownership: { how: 'Created', account: 'default', ...made } });
  };
  await fixture.reconcile(() => {}, {}, { ensure }, stop);
  expect(fixture.writes).toBe(count);
});

test.each([
  ['went', undefined],
  ['gave way to a namesake', { ...object, metadata: { ...object.metadata, uid: 'another' } }],
])('nothing is kept of one that %s meanwhile, when it was forgotten already', async (_, left) => {
  await fixture.reconcile((reconciler) => {
    fixture.cached = left;
    reconciler.forget(object);
  });
  expect(fixture.memory.of('u')).toEqual(new Memory().of('u'));
});

test.each([
  ['whose account may be there, but is not read yet', new UnreadError('ns/own is not read yet')],
  ['that is otherwise by now than it was read', new BehindError('ns/a is behind')],
])('nothing is said of one %s', async (_, error) => {
  const unread = () => {
    throw error;
  };
  expect(await fixture.reconcile(unread)).toEqual({ kind: 'backoff' });
  expect(fixture.writes).toBe(0);
  await fixture.reconcile(() => {});
  expect(fixture.writes).toBe(1);
});

test('what is decided anew soon is not said meanwhile', async () => {
  const taken = new BehindError('not sent: another resource has it by now');
  const ensure = async () => reportFailure(notSent('things.delete', taken));
  expect(await fixture.reconcile(() => {}, {}, { ensure })).toEqual({ kind: 'after', ms: 500 });
  expect(fixture.writes).toBe(0);
});

test('what is on its way is said when it takes long', async () => {
  const pending = () => {
    throw new DependencyError('ns/own has not been checked yet', { isPending: true });
  };
  expect(await fixture.reconcile(pending)).toEqual({ kind: 'after', ms: 5_000 });
  fixture.now = 4_000;
  expect(await fixture.reconcile(pending)).toEqual({ kind: 'after', ms: 1_000 });
  expect(fixture.writes).toBe(0);
  fixture.now = 5_000;
  expect(await fixture.reconcile(pending)).toEqual({ kind: 'backoff' });
  expect(fixture.writes).toBe(1);
  await fixture.reconcile(() => {});
  fixture.now = 60_000;
  expect(await fixture.reconcile(pending)).toEqual({ kind: 'after', ms: 5_000 });
});

test('that another installation has it is said anew where it could not be written', async () => {
  const installation = new Installation({ name: () => 'green', takeOver: false, now: () => 0 });
  const blue = { ...object, status: { ownership: { installation: 'blue' }, conditions: [] } };
  fixture.cached = blue;
  const failing = { writeStatus: () => Promise.reject(new Error('no answer')) } as never;
  await expect(fixture.reconcile(() => {}, { installation, writer: failing })).rejects.toThrow('no answer');
  expect(await fixture.reconcile(() => {}, { installation })).toMatchObject({ kind: 'after' });
  expect(fixture.writes).toBe(1);
});

test.each([
  [true, 0],
  [false, 1],
])('of what another installation has nothing is said where it is over (%s)', async (isOver, writes) => {
  const installation = new Installation({ name: () => 'green', takeOver: false, now: () => 0 });
  fixture.cached = { ...object, status: { ownership: { installation: 'blue' }, conditions: [] } };
  const standDown = () => void stoodDown.push('stood down');
  const stoodDown: string[] = [];
  await fixture.reconcile(() => {}, { installation }, { isOver: () => isOver, standDown });
  expect(stoodDown).toEqual(['stood down']);
  expect(fixture.writes).toBe(writes);
});

test('what another installation has is not looked for in the account of this one, until it is taken over', async () => {
  const blue = { ...object, status: { ownership: { installation: 'blue' }, conditions: [] } };
  fixture.cached = blue;
  const installed = (takeOver: boolean) => new Installation({ name: () => 'green', takeOver, now: () => 0 });
  await fixture.reconcile(() => {}, { installation: installed(false) });
  expect(fixture.memory.of('u').isElsewhere).toBe(true);
  await fixture.reconcile(() => {}, { installation: installed(true) });
  expect(fixture.memory.of('u').isElsewhere).toBeUndefined();
});

test.each([
  ['is put on record', 'green', 1],
  ['is not where the record is another one by now', 'blue', 0],
])('what this one began to make when another installation took over %s', async (_, by, times) => {
  const installation = new Installation({ name: () => 'green', takeOver: false, now: () => 0 });
  const annotations = { [annotation.recordOf]: 'u', [annotation.installation]: by };
  fixture.cached = {
    ...object,
    metadata: { ...object.metadata, annotations },
    status: { ownership: { installation: 'blue' }, conditions: [] },
  };
  let handedOver = 0;
  const handOver = async () => {
    handedOver += 1;
  };
  await fixture.reconcile(() => {}, { installation }, { handOver });
  expect(handedOver).toBe(times);
});

test('since when calls fail is known until it is as asked, waits for something else, or somebody asks', async () => {
  let now = 0;
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', observedGeneration: 1 } as never;
  const seen = { ...object, status: { conditions: [ready] } };
  const after = async (reason: 'Unreachable' | 'Creating' | 'DependencyNotReady', asked = seen) => {
    fixture.cached = asked;
    now += 1;
    await fixture.reconcile(
      () => {},
      { time: { now: () => now, wall: () => 0 } },
      { ensure: async () => report(reason, 'no') },
    );
    return fixture.memory.of('u').failing;
  };
  for (const reason of ['Unreachable', 'Creating'] as const) expect(await after(reason)).toEqual({ since: 1, at: 1 });
  expect(await after('Unreachable')).toEqual({ since: 1, at: 3 });
  const edited = { ...seen, metadata: { ...seen.metadata, generation: 2 } };
  expect(await after('Unreachable', edited)).toEqual({ since: 4, at: 4 });
  expect(await after('DependencyNotReady')).toBeUndefined();
});
