import { expect, test } from '@jest/globals';
import type { Act, Story } from '../../core/story.ts';
import { shrink } from './shrink.ts';

const apply = (at: number, name: string): Act => ({
  at,
  do: 'apply',
  object: {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'ReservedAddr',
    metadata: { name, namespace: 'team-a', labels: { app: 'shop' } },
    spec: { description: name, metadata: 'much' },
  },
});

const trouble = (at: number, name: string, forMs: number): Act => ({
  at,
  do: 'trouble',
  name,
  forMs,
  with: { share: 1 },
});

const long: Story = {
  seed: 7,
  installations: [{ name: 'op', replicas: 3, settings: { concurrency: '1' } }, { name: 'other' }],
  cloud: { rateLimit: 60 },
  expect: { 'ReservedAddr/team-a/a3': 'Rejected' },
  acts: [
    { at: 130, do: 'start', installation: 'op' },
    { at: 170, do: 'start', installation: 'other' },
    ...Array.from({ length: 40 }, (_, index) => apply(1_234 * (index + 1), `a${index}`)),
    trouble(60_500, 'lost-answers', 61_000),
    trouble(70_500, 'gateway', 999_000),
    { at: 80_000, do: 'delete', ref: { kind: 'ReservedAddr', namespace: 'team-a', name: 'a17' } },
  ],
};

/** Shown where a17 is described, lost answers last for two seconds, and it is deleted afterwards. */
async function shows({ acts, installations }: Story): Promise<boolean> {
  const made = acts.findIndex(
    (act) => act.do === 'apply' && act.object.metadata.name === 'a17' && hasDescription(act.object),
  );
  const lost = acts.findIndex((act) => act.do === 'trouble' && act.name === 'lost-answers' && act.forMs >= 2_000);
  const gone = acts.findIndex((act) => act.do === 'delete');
  return installations.length > 0 && made !== -1 && lost !== -1 && gone > made;
}

const hasDescription = (object: object) => 'spec' in object && 'description' in (object.spec as object);

const unbound = { runs: 1_000, late: () => false };

test('what does not matter is gone, the rest early, short and round', async () => {
  const { story } = await shrink(long, shows, unbound);
  expect(story).toEqual({
    seed: 7,
    installations: [{ name: 'other' }],
    acts: [
      { at: 0, do: 'start', installation: 'other' },
      {
        at: 0,
        do: 'apply',
        object: {
          apiVersion: 'edge-operator.dev/v1alpha1',
          kind: 'ReservedAddr',
          metadata: { name: 'a17', namespace: 'team-a' },
          spec: { description: 'a17' },
        },
      },
      { at: 0, do: 'trouble', name: 'lost-answers', forMs: 2_000, with: {} },
      { at: 0, do: 'delete', ref: { kind: 'ReservedAddr', namespace: 'team-a', name: 'a17' } },
    ],
    calmMs: 0,
    settleMs: 900_000,
  });
});

test('it ends when its runs are used up, with the shortest so far', async () => {
  const { story, runs } = await shrink(long, shows, { runs: 12, late: () => false });
  expect(runs).toBe(12);
  expect(story.acts.length).toBeLessThan(long.acts.length);
  expect(await shows(story)).toBe(true);
});

test('it ends when its time is over', async () => {
  expect(await shrink(long, shows, { runs: 1_000, late: () => true })).toEqual({ story: long, runs: 0 });
});

test('it tells no story twice', async () => {
  const told: string[] = [];
  await shrink(
    long,
    (story) => {
      told.push(JSON.stringify(story));
      return shows(story);
    },
    unbound,
  );
  expect(new Set(told).size).toBe(told.length);
});

test('whoever runs in the end goes on running', async () => {
  const { story } = await shrink(long, async () => true, unbound);
  expect(story.acts).toEqual([{ at: 0, do: 'start', installation: 'other' }]);
});

test('of a deed that is done many times fewer are left, and what is expected of nobody is gone', async () => {
  const many: Act = { at: 0, do: 'cloud', method: 'POST', path: '/bot_users', times: 300 };
  const expect_ = { 'ReservedAddr/team-a/a0': 'Rejected', 'ReservedAddr/team-a/a1': 'Rejected' };
  const story: Story = {
    seed: 1,
    installations: [{ name: 'op' }],
    acts: [{ at: 0, do: 'start', installation: 'op' }, many, apply(1_000.25, 'a0'), apply(2_345.67, 'a1')],
    expect: expect_,
  };
  const enough = async ({ acts }: Story) => {
    const made = acts.find((act) => act.do === 'cloud');
    const named = acts.some((act) => act.do === 'apply' && act.object.metadata.name === 'a1' && act.at > 600);
    return named && made?.do === 'cloud' && (made.times ?? 1) > 30;
  };
  const { story: short } = await shrink(story, enough, unbound);
  expect(short.expect).toEqual({ 'ReservedAddr/team-a/a1': 'Rejected' });
  expect(short.acts).toMatchObject([{ do: 'start' }, { do: 'cloud', times: 50 }, { do: 'apply', at: 1_000 }]);
});
