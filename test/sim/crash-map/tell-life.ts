import type { Violation } from '../core/run.ts';
import type { Act, Story } from '../core/story.ts';
import type { World } from '../core/world.ts';
import { installationOf } from '../oracles/witness/who.ts';
import { tell } from '../search/tell.ts';
import type { Boundary, Crash } from './boundaries.ts';
import { boundariesOf, crashAtName } from './crash-at.ts';
import { beginsAt, livesForMs, storyOf } from './lives.ts';
import { type Life, subjects } from './subjects.ts';

/** One life, told with crashes. */
export interface LifeJob {
  readonly kind: string;
  readonly life: Life;
  readonly crashes: readonly Crash[];
}

export interface ToldLife {
  /** Crashes that happened. */
  readonly crashed: number;
  /** Boundaries from the last crash, or from the beginning, until rest. */
  readonly boundaries: number;
  /** How often operators asked a service to change something, by what it was. */
  readonly changes: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
}

/** What still belongs to what was done: a look at it. */
const lookMs = 2_000;
/** Of a process that died. */
const awayMs = 1_000;

/** The story of a life with its crashes: as good a story as any other. */
export function crashingStory({ kind, life, crashes }: LifeJob): Story | undefined {
  const subject = subjects.find((each) => each.kind === kind);
  const story = subject && storyOf(subject, life);
  if (story === undefined) return undefined;
  const planned: Act = { at: beginsAt, do: 'trouble', name: crashAtName, forMs: livesForMs, with: { crashes } };
  const before = story.acts.filter(({ at }) => at < beginsAt);
  return { ...story, acts: [...before, planned, ...story.acts.slice(before.length)] };
}

export async function tellLife(job: LifeJob): Promise<ToldLife> {
  const story = crashingStory(job);
  if (story === undefined) throw new Error(`${job.kind} has no life "${job.life}"`);
  let world: World | undefined;
  const changes: Record<string, number> = {};
  const { violations } = await tell(story, {
    onWorld: (made) => {
      world = made;
      made.network.observers.add(({ from, to, method, path }) => {
        if (to.name === 'kube' || method === 'GET' || installationOf(from.name) === undefined) return;
        changes[path] = (changes[path] ?? 0) + 1;
      });
    },
  });
  const boundaries = world && boundariesOf(world);
  if (boundaries === undefined) return { crashed: 0, boundaries: 0, changes, violations };
  const { crashedAt, stages } = boundaries;
  const lastDeed = Math.max(...story.acts.filter((act) => act.do !== 'trouble').map(({ at }) => at));
  const from = Math.max(lastDeed, (crashedAt.at(-1) ?? 0) + awayMs);
  return { crashed: crashedAt.length, boundaries: untilRest(stages.at(-1) ?? [], from), changes, violations };
}

/**
 * How many there are until rest: until shortly after all is said and done and the last of them that writes. What comes
 * later, by the clock, belongs to the process: the polls of an agent, the sweeps of a mirror.
 */
function untilRest(boundaries: readonly Boundary[], from: number): number {
  const rest = Math.max(from, boundaries.findLast(({ writes }) => writes)?.at ?? 0) + lookMs;
  return boundaries.filter(({ at }) => at <= rest).length;
}

export const work = tellLife;
