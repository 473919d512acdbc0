import { expect, test } from '@jest/globals';
import { Scheduler } from './scheduler.ts';

test('things happen in the order of their times, and of their planning', async () => {
  const scheduler = new Scheduler();
  const seen: string[] = [];
  const note = (what: string) => () => seen.push(`${scheduler.now} ${what}`);
  for (const ms of [30, 10, 20, 10]) scheduler.after(ms, note(`after ${ms}`));
  scheduler.after(10, () => scheduler.after(0, note('at once, behind')));
  await scheduler.run(25);
  expect(seen).toEqual(['10 after 10', '10 after 10', '10 at once, behind', '20 after 20']);
  expect(scheduler.now).toBe(25);
  expect(scheduler.nextAt).toBe(30);
});

test('what is called off does not happen', async () => {
  const scheduler = new Scheduler();
  let happened = false;
  const cancel = scheduler.after(5, () => {
    happened = true;
  });
  cancel();
  expect(scheduler.nextAt).toBeUndefined();
  await scheduler.run(10);
  expect(happened).toBe(false);
});

test('time stands still until all that was caused has been done', async () => {
  const scheduler = new Scheduler();
  const seen: number[] = [];
  scheduler.after(10, () => {
    void scheduler.during(async () => {
      for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      seen.push(scheduler.now);
    });
  });
  scheduler.after(11, () => seen.push(scheduler.now));
  await scheduler.run(100);
  expect(seen).toEqual([10, 11]);
});

test('ends when enough has happened', async () => {
  const scheduler = new Scheduler();
  let count = 0;
  for (let ms = 1; ms <= 10; ms += 1) scheduler.after(ms, () => count++);
  await scheduler.run(100, () => count === 4);
  expect([count, scheduler.now]).toEqual([4, 4]);
});

test('a thousand things of random times come in order', async () => {
  const scheduler = new Scheduler();
  const seen: number[] = [];
  let state = 7;
  for (let each = 0; each < 1_000; each += 1) {
    state = (state * 48_271) % 2_147_483_647;
    scheduler.after(state % 997, () => seen.push(scheduler.now));
  }
  await scheduler.run(1_000);
  expect(seen).toHaveLength(1_000);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
});
