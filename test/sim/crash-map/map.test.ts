import { expect, test } from '@jest/globals';
import type { Crash } from './boundaries.ts';
import { mapLife, type Pairs } from './map.ts';
import { lives, subjects } from './subjects.ts';
import { absencesOf, tableOf } from './table.ts';
import { crashingStory, type LifeJob, tellLife } from './tell-life.ts';

/** A life of three boundaries, after each crash of which come two. */
async function pretend({ crashes }: LifeJob, boundaries = 3) {
  return {
    crashed: crashes.length,
    boundaries: crashes.length === 0 ? boundaries : 2,
    changes: { '/x': 1 },
    violations: [],
  };
}

const map = (pairs: Pairs, tell: (job: LifeJob) => ReturnType<typeof pretend> = pretend) =>
  mapLife('BotUser', 'create', pairs, tell);

test('a crash at every boundary in every position, and at every pair of boundaries', async () => {
  expect(await map('none')).toMatchObject({ boundaries: 3, singles: 12, pairs: 0, planned: 12, crashed: 12 });
  expect(await map('some')).toMatchObject({ singles: 12, pairs: 6, planned: 24, crashed: 24 });
  expect(await map('all')).toMatchObject({ singles: 12, pairs: 96 });
});

test('pairs have each of the positions in turn, first and second', async () => {
  const told: (readonly Crash[])[] = [];
  await map('some', (job) => {
    told.push(job.crashes);
    return pretend(job, 20);
  });
  const pairs = told.filter(({ length }) => length === 2);
  expect(new Set(pairs.map(([first, second]) => `${first?.boundary} ${second?.boundary}`)).size).toBe(40);
  expect(new Set(pairs.map(([first]) => first?.position)).size).toBe(4);
  expect(new Set(pairs.map(([, second]) => second?.position)).size).toBe(4);
});

test('a life of 40 boundaries has no pairs', async () => {
  expect(await map('all', (job) => pretend(job, 40))).toMatchObject({ boundaries: 40, singles: 160, pairs: 0 });
});

test('what did not come about is no coverage, and never rounds up to 100%', async () => {
  const last = (crashes: readonly Crash[]) => crashes[0]?.boundary === 3 && crashes[0].position === 'after the act';
  const row = await map('none', async (job) => ({ ...(await pretend(job)), crashed: last(job.crashes) ? 0 : 1 }));
  expect(row.missed).toEqual([[{ boundary: 3, position: 'after the act' }]]);
  expect(tableOf([{ ...row, planned: 10_000, crashed: 9_999 }]).at(-1)).toContain('99.9%');
});

test('a crash costs, of each thing, one request that changes it, and no more', async () => {
  const costing = (changes: number) =>
    map('none', async (job) => ({
      ...(await pretend(job)),
      changes: { '/x': job.crashes.length === 0 ? 3 : changes },
    }));
  expect((await costing(4)).failures).toEqual([]);
  const { failures } = await costing(5);
  expect(failures).toHaveLength(12);
  expect(failures[0]?.violations).toEqual([
    {
      oracle: 'no-more-than-needed',
      at: 0,
      message: '/x is changed 5 times, where 4 would do',
    },
  ]);
});

test('every life of every kind has a story, or a reason why it has none', async () => {
  for (const { kind, without } of subjects) {
    for (const life of lives) {
      expect([kind, life, crashingStory({ kind, life, crashes: [] }) === undefined]).toEqual([
        kind,
        life,
        life in without,
      ]);
    }
  }
  const row = await mapLife('BotUser', 'part removed', 'none', pretend);
  expect(absencesOf([row])).toEqual(['BotUser has no part removed: it has no parts']);
});

test('a crash comes about where it was planned, and the count begins anew after it', async () => {
  const job = { kind: 'BotUser', life: 'create' } as const;
  const undisturbed = await tellLife({ ...job, crashes: [] });
  expect(undisturbed).toEqual({ crashed: 0, boundaries: 5, changes: { '/bot_users': 1 }, violations: [] });
  const first = { boundary: 2, position: 'after the act' } as const;
  const { boundaries, ...single } = await tellLife({ ...job, crashes: [first] });
  expect(single).toEqual({ crashed: 1, changes: { '/bot_users': 1 }, violations: [] });
  const last = { boundary: boundaries, position: 'before sending' } as const;
  expect(await tellLife({ ...job, crashes: [first, last] })).toMatchObject({ crashed: 2, violations: [] });
});
