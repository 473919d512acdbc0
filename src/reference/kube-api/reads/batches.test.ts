import { afterEach, expect, test } from '@jest/globals';
import { systemRuntime } from '../../../common/runtime.ts';
import { Batches } from './batches.ts';
import { soonOf } from './soon.ts';

const create = () => new Batches(systemRuntime.monotonic, soonOf(systemRuntime));
let batches = create();
afterEach(() => {
  batches.close();
  batches = create();
});

/** Adds an outlet that is busy for a while when it sends; resolves with the moment when it was done. */
const sent = (busyMs = 0) =>
  new Promise<number>((resolve) => {
    const flush = () => {
      const until = performance.now() + busyMs;
      while (performance.now() < until);
      resolve(performance.now());
    };
    batches.add({ flush });
  });

test('what is added together is sent together, at the end of the turn', async () => {
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  await Promise.all([sent(), sent()]);
  expect(turns).toBe(1);
});

test('after a batch that took long others have their turn first', async () => {
  const first = await sent(6);
  expect((await sent()) - first).toBeGreaterThan(6);
});

test('nobody waits for long, however long a batch took', async () => {
  await sent(200);
  const timer = new Promise<string>((resolve) => setTimeout(() => resolve('later'), 150));
  expect(await Promise.race([sent().then(() => 'sent'), timer])).toBe('sent');
});

test('the same lines are joined once', () => {
  const lines = [Buffer.from('a'), Buffer.from('b')];
  const joined = batches.join(lines);
  expect(joined.toString()).toBe('ab');
  expect(batches.join([...lines])).toBe(joined);
  expect(batches.join(lines.slice(1)).toString()).toBe('b');
});
