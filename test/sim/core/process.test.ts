import { expect, test } from '@jest/globals';
import { epochMs, SimProcess } from './process.ts';
import { Chance } from './random.ts';
import { Scheduler } from './scheduler.ts';

function start() {
  const scheduler = new Scheduler();
  return { scheduler, process: new SimProcess('a', scheduler, new Chance('a')) };
}

test('has clocks of its own: one counts from its start, one can be wrong', async () => {
  const { scheduler } = start();
  await scheduler.run(500);
  const process = new SimProcess('b', scheduler, new Chance('b'));
  process.skewMs = -60_000;
  await scheduler.run(1_500);
  expect(process.monotonic.now()).toBe(1_000);
  expect(process.clock.now()).toBe(epochMs + 1_500 - 60_000);
});

test('sleeps and time-outs are of virtual time', async () => {
  const { scheduler, process } = start();
  const seen: string[] = [];
  process.clock.sleep(100).then(() => seen.push(`slept until ${scheduler.now}`));
  const signal = process.clock.timeout(50);
  signal.addEventListener('abort', () => seen.push(`${(signal.reason as Error).name} at ${scheduler.now}`));
  const abort = new AbortController();
  process.clock.sleep(100, abort.signal).catch((error: Error) => seen.push(error.message));
  scheduler.after(20, () => abort.abort(new Error('called off')));
  await scheduler.run(200);
  expect(seen).toEqual(['called off', 'TimeoutError at 50', 'slept until 100']);
});

test('a dead one never wakes', async () => {
  const { scheduler, process } = start();
  let woke = false;
  process.clock.sleep(10).then(() => {
    woke = true;
  });
  process.kill();
  await scheduler.run(100);
  expect(woke).toBe(false);
});

test('a frozen one wakes late, with all that came meanwhile', async () => {
  const { scheduler, process } = start();
  const seen: string[] = [];
  for (const ms of [10, 20]) process.clock.sleep(ms).then(() => seen.push(`${ms} at ${scheduler.now}`));
  process.freeze();
  scheduler.after(50, () => process.thaw());
  await scheduler.run(100);
  expect(seen).toEqual(['10 at 50', '20 at 50']);
});
