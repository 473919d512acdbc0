import { expect, test } from '@jest/globals';
import { Pool } from './pool.ts';

type Result = { readonly job: unknown; readonly process: number };

const module = new URL('pool.fixture.ts', import.meta.url);

test('jobs are done in processes, and one that dies costs its job alone', async () => {
  using pool = new Pool<unknown, Result>({ module, workers: 2, patienceMs: 2_000 });
  const results = await Promise.allSettled(['a', 'fail', 'die', 'b', 'hang', 'c', 'd'].map((job) => pool.run(job)));
  const said = results.map((each) =>
    each.status === 'fulfilled' ? each.value.job : String(each.reason).split('\n')[0],
  );
  expect(said).toEqual([
    'a',
    'Error: Error: it does not work',
    'Error: the worker ended (3) at "die"',
    'b',
    'Error: the worker ended (SIGKILL) at "hang"',
    'c',
    'd',
  ]);
});

test('no more processes than there are workers', async () => {
  using pool = new Pool<unknown, Result>({ module, workers: 2 });
  const results = await Promise.all([1, 2, 3, 4, 5].map((job) => pool.run(job)));
  expect(new Set(results.map(({ process }) => process)).size).toBeLessThanOrEqual(2);
});
