import { expect, test } from '@jest/globals';
import { Chance } from '../core/random.ts';
import type { Act } from '../core/story.ts';
import { World } from '../core/world.ts';
import { type Cast, troubles } from './index.ts';
import { reservedAddr, type Told, tell, trouble } from './small-world.fixture.ts';

const cast: Cast = { installations: [{ name: 'op' }, { name: 'second', replicas: 3 }] };
const names = Object.keys(troubles);
const plansOf = (name: string, many: number) =>
  Array.from({ length: many }, (_, nth) => troubles[name]?.plan(new Chance('plan', name, nth), cast) ?? { forMs: 0 });

test('every plan can be begun and ended, and is JSON', async () => {
  const world = await World.create({ story: { seed: 1, acts: [], ...cast } });
  for (const name of names) {
    for (const plan of plansOf(name, 10)) {
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      troubles[name]?.begin(world, plan.with ?? {}, plan.forMs)();
    }
  }
  // Who comes back from a backup is away for a while yet.
  await world.scheduler.run(60_000);
  const { rules, crashes, observers, opened } = world.network;
  expect([rules.size, crashes.size, observers.size, opened.size]).toEqual([0, 0, 0, 0]);
  await world.close();
});

test('all at once, and the same twice', async () => {
  const acts = [
    ...[2, 20, 40, 70].map((s): Act => ({ at: s * 1_000, do: 'apply', object: reservedAddr('a', `as of ${s}`) })),
    { at: 30_000, do: 'apply', object: reservedAddr('b') } as const,
    ...names.map((name): Act => ({ at: 10_000, do: 'trouble', name, ...plansOf(name, 1)[0], forMs: 50_000 })),
  ];
  const [first, second] = [await tell(acts, cast), await tell(acts, cast)];
  expect(second.hash).toBe(first.hash);
  expect(first.lines.filter((line) => line.includes('trouble')).length).toBeGreaterThanOrEqual(2 * names.length);
});

/** What becomes of each call to the cloud about `a`, in turn. */
const fates = ({ passages }: Told) =>
  passages
    .filter(({ flight }) => flight.to.name === 'cloud' && flight.body?.includes('"a '))
    .map(({ flight, seen }) => `${flight.method} ${flight.body} ${seen?.status ?? 'lost'}`);

test('what a trouble does to a request stays when something else goes', async () => {
  const edits = [5, 12, 19, 26, 33, 40, 47].map(
    (second): Act => ({ at: second * 1_000, do: 'apply', object: reservedAddr('a', `a at ${second}`) }),
  );
  const loses = trouble('lost-answers', 1_000, 59_000, { to: 'cloud', calls: 'mutating', probability: 0.5, broken: 1 });
  const others = ['x', 'y'].map((name): Act => ({ at: 2_000, do: 'apply', object: reservedAddr(name) }));
  const alone = fates(await tell([loses, ...edits]));
  const amongOthers = fates(await tell([loses, ...others, ...edits]));
  expect(new Set(alone.map((fate) => fate.endsWith('lost'))).size).toBe(2);
  expect(amongOthers).toEqual(alone);
});
