import { expect, test } from '@jest/globals';
import { runModel } from './model.ts';

test('a small one: changes are quick, drift is looked for in time, and the shards of a dead replica are taken', async () => {
  const { latencies, ages, gaps } = await runModel({
    ...{ seed: 1, resources: 300, accounts: 6, requestsPerMinute: 120, changesPerMinute: 6, resyncMs: 30_000 },
    ...{ replicas: 3, shards: 6, minutes: [1, 1], latencyMs: 50, costMs: { change: 2, check: 0.3 } },
  });
  const { calm, others, orphans } = latencies;
  expect(Math.min(calm.length, others.length, orphans.length)).toBeGreaterThan(5);
  expect([calm.at(-1), others[Math.floor(others.length / 2)], orphans[0]]).toEqual([100, 100, 100].map(closeTo));
  expect(orphans.at(-1)).toBeGreaterThan(2_000);
  expect(ages.calm.at(-1)).toBeLessThan(40_000);
  expect(gaps).toHaveLength(2);
  expect(gaps[0]).toBeGreaterThan(10_000);
  expect(gaps.at(-1)).toBeLessThan(20_000);
});

const closeTo = (ms: number) => expect.closeTo(ms, -2) as unknown as number;
