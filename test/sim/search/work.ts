import { performance } from 'node:perf_hooks';
import type { Violation } from '../core/run.ts';
import type { Story } from '../core/story.ts';
import { makeStory } from '../people/index.ts';
import { troubles } from '../troubles/index.ts';
import { type Hashes, hashesOf } from './check.ts';
import { shrink } from './shrink/shrink.ts';
import { sortOf } from './shrink/sort.ts';
import { tell } from './tell.ts';

interface OfSeed {
  readonly seed: number;
  /** Names of troubles and habits; default all. */
  readonly only: readonly string[] | undefined;
}

/** To tell the story of a seed. */
export interface TellJob extends OfSeed {
  readonly do: 'tell';
  readonly oracles: readonly string[] | undefined;
}

export interface Told {
  readonly seed: number;
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  readonly realMs: number;
}

/** To make the story of a seed shorter, as long as the oracle speaks. */
export interface ShrinkJob extends OfSeed {
  readonly do: 'shrink';
  readonly oracle: string;
}

export interface ShrunkenSeed {
  readonly seed: number;
  readonly story: Story;
  readonly runs: number;
  readonly violation: Violation;
}

/** To tell the story of a seed three times; see `check.ts`. */
export interface CheckJob extends OfSeed {
  readonly do: 'check';
}

export interface Checked {
  readonly seed: number;
  readonly hashes: Hashes;
}

export type Job = TellJob | ShrinkJob | CheckJob;
export type Done = Told | ShrunkenSeed | Checked;

const most = { runs: 400, realMs: 120_000 };

export async function work(job: Job): Promise<Done> {
  if (job.do === 'check') return { seed: job.seed, hashes: await hashesOf(storyOf(job)) };
  return job.do === 'tell' ? tellSeed(job) : shrinkSeed(job);
}

export function storyOf({ seed, only }: OfSeed): Story {
  return makeStory(seed, { troubles, ...(only === undefined ? {} : { only }) });
}

async function tellSeed(job: TellJob): Promise<Told> {
  const { hash, violations, virtualMs, realMs } = await tell(storyOf(job), { oracles: job.oracles });
  return { seed: job.seed, hash, violations, virtualMs, realMs };
}

async function shrinkSeed(job: ShrinkJob): Promise<ShrunkenSeed> {
  const { seed, oracle } = job;
  const ends = performance.now() + most.realMs;
  const spoken = async (story: Story) => {
    const { violations } = await tell(story, { oracles: [oracle], stopAtFirst: true });
    return violations.filter((violation) => violation.oracle === oracle);
  };
  const long = storyOf(job);
  const sorts = new Set((await spoken(long)).map(sortOf));
  const isLike = (violation: Violation) => sorts.has(sortOf(violation));
  const shows = async (story: Story) => (await spoken(story)).some(isLike);
  const bounds = { runs: most.runs, late: () => performance.now() > ends };
  const { story, runs } = await shrink(long, shows, bounds);
  const violation = (await spoken(story)).find(isLike);
  if (violation === undefined) throw new Error(`seed ${seed} shows ${oracle} only at times: run it with --check`);
  return { seed, story, runs, violation };
}
