import { expect, test } from '@jest/globals';
import { isNews } from '../core/stillness.ts';
import type { Act, Story } from '../core/story.ts';
import { tell } from '../search/tell.ts';
import { beginsAt, bornAt, storyOf } from './lives.ts';
import { lives, subjects } from './subjects.ts';

/** Of nothing but a few calls and their latencies; an account is checked once more when its Secret is held. */
const promptMs = 2_000;
/** Two witnesses, three seconds apart, that what is not found is gone. */
const witnessedMs = 5_000;

const told = subjects.flatMap((subject) =>
  lives.flatMap((life) => {
    const story = storyOf(subject, life);
    return story === undefined ? [] : [{ kind: subject.kind, life, story }];
  }),
);

test.each(told)('$kind: $life is over within two seconds', async ({ story }) => {
  expect(await tookMs(story)).toBeLessThan(promptMs);
});

test.each(told)('$kind: $life, of an operator that was just started', async ({ story }) => {
  const start: Act = { at: beginsAt - 5_000, do: 'start', installation: 'op' };
  expect(await tookMs({ ...story, acts: [...story.acts, start] })).toBeLessThan(promptMs);
});

test.each(told.filter(({ story }) => story.acts.some(({ at }) => at === bornAt)))(
  '$kind: $life, of what was just born',
  async ({ story }) => {
    const earlier = beginsAt - bornAt - 2_000;
    const acts = story.acts.map((act) => (act.at < beginsAt ? act : { ...act, at: act.at - earlier }));
    expect(await tookMs({ ...story, acts })).toBeLessThan(promptMs);
  },
);

test.each(told.filter(({ kind, life }) => life === 'delete' && ['ReservedAddr', 'BotUser'].includes(kind)))(
  '$kind: $life, of what somebody has deleted in the cloud',
  async ({ kind, story }) => {
    const path = `/${kind === 'BotUser' ? 'bot_users' : 'reserved_addrs'}/{{id:${kind}/team-a/x}}`;
    const byHand: Act = { at: beginsAt - 1_000, do: 'cloud', method: 'DELETE', path };
    expect(await tookMs({ ...story, acts: [...story.acts, byHand] })).toBeLessThan(witnessedMs);
  },
);

/** From the last that is done until nothing becomes of any resource any more. */
async function tookMs(story: Story): Promise<number> {
  let lastNews = 0;
  const { violations } = await tell(
    { ...story, acts: story.acts.toSorted((a, b) => a.at - b.at), calmMs: 0 },
    {
      onWorld: (world) => {
        world.onChange((change) => {
          if (isNews(change)) lastNews = world.scheduler.now;
        });
      },
    },
  );
  expect(violations).toEqual([]);
  return lastNews - Math.max(...story.acts.map(({ at }) => at));
}
