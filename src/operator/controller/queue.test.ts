import { afterEach, describe, expect, test } from '@jest/globals';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { WorkQueue, type WorkQueueOptions } from './queue.ts';

const open: WorkQueue[] = [];

function setup(options: Partial<WorkQueueOptions> = {}) {
  const clock = new ManualClock();
  const queue = new WorkQueue({ monotonic: clock, random: () => 1, ...options });
  open.push(queue);
  return { clock, queue };
}

async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth() > 0) {
    const key = queue.take() ?? 'closed';
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

afterEach(() => {
  for (const queue of open.splice(0)) queue.close();
});

describe('order', () => {
  test('is by class, then by age, each key once in its most urgent class', async () => {
    const { queue } = setup();
    for (const [key, priority] of [
      ['r1', 'resync'],
      ['raised', 'resync'],
      ['f1', 'first'],
      ['c1', 'change'],
      ['f2', 'first'],
      ['raised', 'change'],
      ['c1', 'resync'],
    ] as const) {
      queue.add(key, priority);
    }
    expect(await drain(queue)).toEqual(['c1', 'raised', 'f1', 'f2', 'r1']);
  });

  test('ages, so that nothing starves', async () => {
    const { queue, clock } = setup({ ageingMs: 1_000 });
    queue.add('old', 'resync');
    await clock.advance(2_500);
    queue.add('new', 'change');
    queue.add('newer', 'first');
    expect(await drain(queue)).toEqual(['old', 'new', 'newer']);
  });
});

test('a key that is raised keeps its age', async () => {
  const waits: number[] = [];
  const { queue, clock } = setup({ hooks: { onStart: (ms) => waits.push(ms) } });
  queue.add('a', 'resync');
  await clock.advance(700);
  queue.add('a', 'change');
  await clock.advance(300);
  queue.take();
  expect(waits).toEqual([1_000]);
});

describe('a key being worked on', () => {
  test('is not handed out again before it is done', async () => {
    const { queue } = setup();
    queue.add('a', 'change');
    queue.take();
    queue.add('a', 'resync');
    queue.add('a', 'change');
    expect(queue.depth()).toBe(0);
    queue.done('a');
    expect(await drain(queue)).toEqual(['a']);
  });

  test('whoever takes them is told of keys that can be taken, and of no others', () => {
    const { queue } = setup();
    let told = 0;
    queue.onReady(() => {
      told += 1;
    });
    queue.add('a', 'change');
    expect([told, queue.take(), queue.take()]).toEqual([1, 'a', undefined]);
    queue.add('a', 'change');
    expect(told).toBe(1);
    queue.done('a');
    expect([told, queue.take()]).toEqual([2, 'a']);
  });

  test('and waiting elsewhere is not working', async () => {
    const { queue, clock } = setup();
    queue.add('a', 'change');
    queue.take();
    await clock.advance(100);
    queue.leave('a');
    await clock.advance(3_600_000);
    expect([queue.longestRunningMs(), queue.unfinishedMs()]).toEqual([0, 100]);
    queue.resume('a');
    await clock.advance(20);
    expect([queue.longestRunningMs(), queue.unfinishedMs()]).toEqual([20, 120]);
  });
});

describe('timers', () => {
  test('of one key: the earliest counts, whichever came first', async () => {
    const { queue, clock } = setup();
    queue.addAfter('a', 5_000, 'resync');
    queue.addAfter('a', 60_000, 'resync');
    queue.addAfter('b', 60_000, 'resync');
    queue.addAfter('b', 5_000, 'change');
    await clock.advance(4_999);
    expect(queue.depth()).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(['b', 'a']);
    await clock.advance(120_000);
    expect(queue.depth()).toBe(0);
  });

  test('outlive an add in between', async () => {
    const { queue, clock } = setup();
    queue.addAfter('a', 5_000, 'resync');
    queue.add('a', 'change');
    expect(await drain(queue)).toEqual(['a']);
    await clock.advance(5_000);
    expect(await drain(queue)).toEqual(['a']);
  });

  test('for weeks do not fire at once', async () => {
    const { queue, clock } = setup();
    queue.addAfter('a', 40 * 86_400_000, 'resync');
    await clock.advance(1_000);
    expect(clock.sleepers).toBe(1);
    expect(queue.depth()).toBe(0);
    await clock.advance(39 * 86_400_000);
    expect(queue.depth()).toBe(0);
    await clock.advance(86_400_000);
    expect(queue.depth()).toBe(1);
  });

  test('of ten thousand keys need one sleep and little time', async () => {
    const { queue, clock } = setup();
    const tookMs = cpuTimer();
    for (let index = 0; index < 10_000; index++)
      queue.addAfter(`k${index}`, 1_000 + ((index * 7_919) % 10_000), 'resync');
    expect(clock.sleepers).toBe(1);
    clock.freeze(20_000);
    await clock.advance(0);
    expect(queue.depth()).toBe(10_000);
    expect(await drain(queue)).toHaveLength(10_000);
    expect(tookMs()).toBeLessThan(2_000);
  });
});

describe('backoff', () => {
  test('doubles per key up to the limit, and starts small again once forgotten', () => {
    const { queue } = setup();
    const delays = Array.from({ length: 11 }, () => queue.addBackoff('a', 'first'));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
    expect(queue.addBackoff('b', 'first')).toBe(1_000);
    queue.forget('a');
    expect(queue.addBackoff('a', 'first')).toBe(1_000);
  });

  test.each([
    [0, 500],
    [0.5, 750],
    [1, 1_000],
  ])('with random %d is %d ms: never below half', (random, delay) => {
    expect(setup({ random: () => random }).queue.addBackoff('a', 'first')).toBe(delay);
  });

  test('waits at least as long as asked', async () => {
    const { queue, clock } = setup();
    expect(queue.addBackoff('a', 'first', { atLeastMs: 30_000 })).toBe(30_000);
    await clock.advance(29_999);
    expect(queue.depth()).toBe(0);
    await clock.advance(1);
    expect(queue.depth()).toBe(1);
  });

  test('waits so long also where the key was to come sooner before', async () => {
    const { queue, clock } = setup();
    queue.addAfter('a', 10_000, 'resync');
    queue.addBackoff('a', 'first', { atLeastMs: 30_000 });
    await clock.advance(29_999);
    expect(queue.depth()).toBe(0);
    await clock.advance(1);
    expect(queue.depth()).toBe(1);
    queue.addAfter('b', 10_000, 'resync');
    queue.addBackoff('b', 'first', { atMostMs: 30_000 });
    await clock.advance(10_000);
    expect(queue.depth()).toBe(2);
  });

  test('waits no longer than other work on the key does, unless that is too soon', () => {
    const { queue } = setup();
    const atMostMs = 3_000;
    expect(Array.from({ length: 4 }, () => queue.addBackoff('a', 'first', { atMostMs }))).toEqual([
      1_000, 2_000, 3_000, 3_000,
    ]);
    expect(queue.addBackoff('a', 'first', { atMostMs, atLeastMs: 10_000 })).toBe(10_000);
  });
});

test('of a lane and class only so many are handed out; the others wait, and hold up nobody else', () => {
  const of = (key: string) => key.slice(0, 1);
  const { queue } = setup({ lanes: { of, most: 2 } });
  for (const key of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.add(key, 'resync');
  expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(['a1', 'a2', 'b1', undefined]);
  queue.add('a4', 'change');
  expect([queue.take(), queue.take(), queue.depth()]).toEqual(['a4', undefined, 1]);
  let told = 0;
  queue.onReady(() => {
    told += 1;
  });
  queue.done('a4');
  expect(queue.take()).toBeUndefined();
  queue.done('a1');
  expect([told, queue.take(), queue.take()]).toEqual([2, 'a3', undefined]);
});

test('keys of thousands of lanes are handed out in little time, the oldest first', async () => {
  const { queue } = setup({ lanes: { of: (key) => key, most: 1 } });
  const keys = Array.from({ length: 4_000 }, (_, index) => `n${index}/a`);
  for (const key of keys) queue.add(key, 'first');
  const tookMs = cpuTimer();
  expect(await drain(queue)).toEqual(keys);
  expect(tookMs()).toBeLessThan(1_000);
});

test('nothing is taken from a queue that is closed', () => {
  const { queue } = setup();
  queue.add('early', 'change');
  queue.close();
  queue.add('late', 'change');
  expect(queue.take()).toBeUndefined();
});

test('hooks and figures are those of the workqueue metrics', async () => {
  const events: (string | number)[] = [];
  const { queue, clock } = setup({
    hooks: {
      onAdd: (priority) => events.push('add', priority),
      onStart: (ms) => events.push('start', ms),
      onDone: (ms) => events.push('done', ms),
      onRetry: () => events.push('retry'),
    },
  });
  queue.add('a', 'first');
  queue.add('a', 'first');
  await clock.advance(40);
  queue.take();
  await clock.advance(60);
  expect([queue.unfinishedMs(), queue.longestRunningMs()]).toEqual([60, 60]);
  queue.done('a');
  queue.addBackoff('a', 'first');
  expect(events).toEqual(['add', 'first', 'start', 40, 'done', 60, 'retry']);
});
