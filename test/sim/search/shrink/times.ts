import { type Act, defaultCalmMs, defaultSettleMs } from '../../core/story.ts';
import type { Attempts } from './attempts.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** What a person would write, the shortest first. */
const niceMs = [
  0,
  second,
  2 * second,
  5 * second,
  10 * second,
  30 * second,
  minute,
  5 * minute,
  10 * minute,
  30 * minute,
  hour,
];
const niceTimes = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/**
 * Less would not be enough for a right operator: what waits longest is tried again within five minutes, and looked at
 * within ten.
 */
const shortestSettleMs = 15 * minute;

/** Earlier, shorter and rounder: the waits between acts, how long troubles last, and how long all is watched. */
export async function shorterTimes(attempts: Attempts): Promise<void> {
  const sorted = attempts.story.acts.toSorted((a, b) => a.at - b.at);
  if (JSON.stringify(sorted) !== JSON.stringify(attempts.story.acts))
    await attempts.take({ ...attempts.story, acts: sorted });
  await attempts.take({ ...attempts.story, acts: attempts.story.acts.map((act) => ({ ...act, at: rounded(act.at) })) });
  for (const at of attempts.story.acts.keys()) await shorterGap(attempts, at);
  for (const at of attempts.story.acts.keys()) await shorterDuration(attempts, at);
  for (const at of attempts.story.acts.keys()) await fewerTimes(attempts, at);
  await shorterWatch(attempts);
}

const rounded = (ms: number) => Math.round(ms / second) * second;

/** Between an act and the one before. */
async function shorterGap(attempts: Attempts, index: number): Promise<void> {
  const { acts } = attempts.story;
  const gap = (acts[index]?.at ?? 0) - (acts[index - 1]?.at ?? 0);
  const rounder = [rounded(gap), Math.round(gap)].filter((ms) => ms !== gap);
  for (const nice of [...niceMs.filter((ms) => ms < gap), ...rounder]) {
    const moved = acts.map((act, at) => (at < index ? act : { ...act, at: act.at - gap + nice }));
    if (await attempts.take({ ...attempts.story, acts: moved })) return;
  }
}

async function shorterDuration(attempts: Attempts, index: number): Promise<void> {
  const { acts } = attempts.story;
  const act = acts[index];
  if (act === undefined || !('forMs' in act)) return;
  for (const nice of niceMs) {
    if (nice >= act.forMs) return;
    const shorter: Act = { ...act, forMs: nice };
    if (await attempts.take({ ...attempts.story, acts: acts.with(index, shorter) })) return;
  }
}

async function fewerTimes(attempts: Attempts, index: number): Promise<void> {
  const { acts } = attempts.story;
  const act = acts[index];
  if (act === undefined || !('times' in act) || act.times === undefined) return;
  for (const fewer of niceTimes.filter((times) => times < (act.times ?? 1))) {
    if (await attempts.take({ ...attempts.story, acts: acts.with(index, { ...act, times: fewer }) })) return;
  }
}

async function shorterWatch(attempts: Attempts): Promise<void> {
  const { calmMs = defaultCalmMs, settleMs = defaultSettleMs } = attempts.story;
  for (const nice of niceMs.filter((ms) => ms < calmMs)) {
    if (await attempts.take({ ...attempts.story, calmMs: nice })) break;
  }
  if (settleMs > shortestSettleMs) await attempts.take({ ...attempts.story, settleMs: shortestSettleMs });
}
