import { expect, test } from '@jest/globals';
import { run } from '../core/run.ts';
import { quiet, residents, yearStory } from './year.ts';

test('a year has 500 residents, and its first hours are quiet', async () => {
  expect(Object.values(residents).reduce((sum, count) => sum + count, 0)).toBe(500);
  const tally = { cloudReads: 0, watches: 0, leaseWrites: 0 };
  const { acts, ...story } = yearStory({ days: 1 / 12 });
  // Some of each kind will do.
  const few = acts.filter((act) => act.do !== 'apply' || /-[0-3]$/.test(act.object.metadata.name));
  const { violations } = await run(
    { ...story, acts: few, settleMs: 600_000 },
    { oracles: [quiet(tally)], troubles: {} },
  );
  expect(violations).toEqual([]);
  expect(tally.cloudReads).toBeGreaterThan(100);
  expect(tally.watches).toBeGreaterThan(50);
});
