import { afterEach, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { KubeError } from '../kube/errors.ts';
import { until } from '../kube/fake-api.fixture.ts';
import {
  Controller,
  type ControllerOptions,
  type Reconcile,
  type ReconcileOutcome,
  type ReconcileResult,
} from './controller.ts';
import { WorkQueue } from './queue.ts';

const stops: (() => Promise<void>)[] = [];

function start(reconcile: Reconcile, concurrency = 2, shareOf?: ControllerOptions['shareOf']) {
  const queue = new WorkQueue({ ...systemRuntime, random: () => 1, backoff: { minMs: 20, maxMs: 100 } });
  const outcomes: ReconcileOutcome[] = [];
  const active: number[] = [];
  const errors: Record<string, unknown>[] = [];
  const log: Log = { ...silentLog, error: (_message, fields) => void errors.push({ ...fields }) };
  const metrics = {
    onReconcile: (outcome: ReconcileOutcome) => outcomes.push(outcome),
    onActiveWorkers: (count: number) => active.push(count),
  };
  const options = { name: 'widget', reconcile, queue, concurrency, shareOf, log, metrics };
  const controller = new Controller({ ...systemRuntime, ...options });
  const stop = new AbortController();
  const abandon = new AbortController();
  const running = controller.run(stop.signal, abandon.signal);
  stops.push(async () => {
    stop.abort();
    await running;
    queue.close();
  });
  return { queue, controller, outcomes, active, errors, stop, abandon, running };
}

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

function scripted(...results: (ReconcileResult | Error)[]): {
  readonly reconcile: Reconcile;
  readonly times: number[];
} {
  const times: number[] = [];
  const reconcile: Reconcile = async () => {
    times.push(Date.now());
    const result = results.shift() ?? { kind: 'done' };
    if (result instanceof Error) throw result;
    return result;
  };
  return { reconcile, times };
}

test('thousands that go to wait at once let everything else have its turn', async () => {
  const turn = Promise.withResolvers<void>();
  let begun = 0;
  const { queue, outcomes } = start(async ({ away }) => {
    begun += 1;
    await away(() => turn.promise);
    return { kind: 'done' };
  });
  for (let key = 0; key < 3_000; key += 1) queue.add(`ns/${key}`, 'first');
  const begunByThen = await new Promise((resolve) => setImmediate(() => resolve(begun)));
  expect(begunByThen).toBeLessThanOrEqual(100);
  await until('all to wait', () => begun === 3_000);
  turn.resolve();
  await until('all', () => outcomes.length === 3_000);
});

test.each<[string, ReconcileResult | Error, ReconcileOutcome, number]>([
  ['again', { kind: 'again' }, 'requeue', 0],
  ['after', { kind: 'after', ms: 60 }, 'requeue_after', 55],
  ['backoff', { kind: 'backoff' }, 'requeue', 15],
  ['backoff with a minimum', { kind: 'backoff', atLeastMs: 60 }, 'requeue', 55],
  ['a conflict', new KubeError('patching x', { status: 409, reason: 'Conflict', message: 'stale' }), 'requeue', 0],
  ['any other error', new Error('broken'), 'error', 15],
])('%s brings the key back in its time', async (_what, result, outcome, atLeastMs) => {
  const { reconcile, times } = scripted(result);
  const { queue, outcomes, errors } = start(reconcile);
  queue.add('default/a', 'change');
  await until('the second reconcile', () => outcomes.length === 2);
  expect(outcomes).toEqual([outcome, 'success']);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(atLeastMs);
  expect(errors).toHaveLength(outcome === 'error' ? 1 : 0);
});

test('an error is logged with key and reconcile id', async () => {
  const { reconcile } = scripted(new TypeError('broken'));
  const { queue, errors } = start(reconcile);
  queue.add('default/a', 'change');
  await until('the error', () => errors.length === 1);
  expect(errors[0]).toMatchObject({
    controller: 'widget',
    namespace: 'default',
    name: 'a',
    reconcileID: expect.any(String),
  });
  expect(errors[0]?.error).toContain('TypeError: broken');
});

test('endless conflicts are slowed down', async () => {
  const { reconcile, times } = scripted(...Array.from({ length: 4 }, () => ({ kind: 'again' }) as const));
  const { queue, outcomes } = start(reconcile);
  queue.add('default/a', 'change');
  await until('the end', () => outcomes.length === 5);
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(150);
});

test('a conflict of what went meanwhile slows down nothing of its name', async () => {
  let isThere = true;
  const waits: number[] = [];
  const { queue } = start(
    async () => ({ kind: 'again' }),
    1,
    () => (isThere ? { shard: 0, connection: '' } : undefined),
  );
  queue.addAfter = (_key, ms) => void waits.push(ms);
  const conflict = async () => {
    const before = waits.length;
    queue.add('default/a', 'change');
    await until('a conflict', () => waits.length > before);
  };
  await conflict();
  isThere = false;
  queue.add('default/a', 'change');
  await until('it to be dropped', () => queue.depth() === 0);
  isThere = true;
  await conflict();
  expect(waits).toEqual([0, 0]);
});

test('reconciles run side by side, but never two of one key', async () => {
  const gates: (() => void)[] = [];
  const keys: string[] = [];
  const { queue, active } = start(async ({ key }) => {
    keys.push(key);
    await new Promise<void>((resolve) => gates.push(resolve));
    return { kind: 'done' };
  });
  queue.add('a', 'resync');
  queue.add('b', 'resync');
  await until('both', () => keys.length === 2);
  queue.add('a', 'resync');
  queue.add('c', 'resync');
  gates[1]?.();
  await until('the next', () => keys.length === 3);
  expect(keys).toEqual(['a', 'b', 'c']);
  gates[0]?.();
  await until('the repeat', () => keys.length === 4);
  expect(keys[3]).toBe('a');
  expect(Math.max(...active)).toBe(2);
  for (const gate of gates) gate();
});

test('stopping lets what is in flight finish, starts nothing new and shows how old it is', async () => {
  const gate = Promise.withResolvers<void>();
  const keys: string[] = [];
  const { queue, controller, stop, running, abandon } = start(async ({ key, signal }) => {
    keys.push(key);
    await gate.promise;
    keys.push(`${key} ${signal.aborted}`);
    return { kind: 'done' };
  }, 1);
  queue.add('a', 'resync');
  queue.add('b', 'resync');
  await until('the first', () => keys.length === 1 && controller.oldestReconcileMs() > 5);
  stop.abort();
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  abandon.abort();
  gate.resolve();
  await running;
  expect(keys).toEqual(['a', 'a true']);
  expect(controller.oldestReconcileMs()).toBe(0);
});

test('who waits elsewhere gives its worker away, and comes back before what is yet to begin', async () => {
  const gate = Promise.withResolvers<void>();
  const events: string[] = [];
  const { queue, active } = start(async ({ key, away }) => {
    events.push(`${key} begins`);
    if (key === 'slow') await away(() => gate.promise);
    else if (key === 'busy') await new Promise((resolve) => setTimeout(resolve, 20));
    events.push(`${key} ends`);
    return { kind: 'done' };
  }, 1);
  queue.add('slow', 'change');
  queue.add('busy', 'change');
  queue.add('next', 'change');
  await until('the second', () => events.includes('busy begins'));
  gate.resolve();
  await until('all', () => events.length === 6);
  expect(events).toEqual(['slow begins', 'busy begins', 'busy ends', 'slow ends', 'next begins', 'next ends']);
  expect(Math.max(...active)).toBe(1);
});

test('parts that wait side by side give one worker away and take one back', async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const events: string[] = [];
  const { queue, active, outcomes, controller } = start(async ({ key, away }) => {
    if (key === 'parts') {
      const parts = gates.map(async ({ promise }, index) => {
        await away(() => promise);
        events.push(`part ${index}`);
        await away(async () => {});
      });
      await Promise.all(parts);
    }
    events.push(key);
    return { kind: 'done' };
  }, 1);
  queue.add('parts', 'change');
  queue.add('other', 'change');
  await until('the other', () => events.includes('other'));
  expect(controller.oldestReconcileMs()).toBe(0);
  for (const { resolve } of gates) resolve();
  await until('both', () => outcomes.length === 2);
  expect(events).toEqual(['other', 'part 0', 'part 1', 'part 2', 'parts']);
  queue.add('last', 'change');
  await until('the last', () => events.includes('last'));
  expect([Math.max(...active), active.at(-1)]).toEqual([1, 0]);
});

test('ten thousand that wait elsewhere hold up nothing, and end at once when they are abandoned', async () => {
  let parked = 0;
  const { queue, stop, abandon, running, outcomes } = start(async ({ key, signal, away }) => {
    if (key === 'other') return { kind: 'done' };
    parked += 1;
    await away(() => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })));
    return { kind: 'done' };
  });
  for (let index = 0; index < 10_000; index += 1) queue.add(`k${index}`, 'first');
  await until('all to wait', () => parked === 10_000);
  queue.add('other', 'resync');
  await until('the other', () => outcomes.length === 1);
  const before = process.cpuUsage();
  stop.abort();
  abandon.abort();
  await running;
  expect(outcomes).toHaveLength(10_001);
  // Of the processor, which others may keep from it.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
});

test('what a key was read as has changed: its wait ends, and it is begun anew', async () => {
  const outcomes: string[] = [];
  const { queue, controller } = start(async ({ signal, away }) => {
    if (outcomes.length === 0)
      await away(() => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })));
    outcomes.push(`aborted: ${signal.aborted}`);
    return { kind: 'done' };
  });
  queue.add('a', 'change');
  await until('it to wait', () => queue.depth() === 0);
  queue.add('a', 'change');
  await new Promise((resolve) => setImmediate(resolve));
  expect(outcomes).toEqual([]);
  controller.supersede('a', 'change');
  await until('both', () => outcomes.length === 2);
  expect(outcomes).toEqual(['aborted: true', 'aborted: false']);
});

test('a change of a key whose drift check is waiting ends that wait', async () => {
  const outcomes: string[] = [];
  const { queue } = start(async ({ signal }) => {
    if (outcomes.length === 0) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    outcomes.push(`aborted: ${signal.aborted}`);
    return { kind: 'done' };
  });
  queue.add('a', 'resync');
  await until('the check to run', () => queue.depth() === 0);
  queue.add('a', 'resync');
  queue.add('a', 'change');
  await until('both', () => outcomes.length === 2);
  expect(outcomes).toEqual(['aborted: true', 'aborted: false']);
});
