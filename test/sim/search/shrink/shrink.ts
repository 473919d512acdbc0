import type { Story } from '../../core/story.ts';
import { fewerActs } from './acts.ts';
import { Attempts, type Bounds, type Shows } from './attempts.ts';
import { plainerManifests } from './manifests.ts';
import { plainerSurroundings } from './surroundings.ts';
import { shorterTimes } from './times.ts';

export interface Shrunken {
  readonly story: Story;
  readonly runs: number;
}

/** The shortest and plainest story that still shows it, as far as the bounds allow. */
export async function shrink(story: Story, shows: Shows, bounds: Bounds): Promise<Shrunken> {
  const attempts = new Attempts(story, shows, bounds);
  for (;;) {
    const before = attempts.story;
    await fewerActs(attempts);
    await plainerSurroundings(attempts);
    await plainerManifests(attempts);
    await shorterTimes(attempts);
    if (attempts.story === before || attempts.spent) return { story: attempts.story, runs: attempts.runs };
  }
}
