import type { Act } from '../../core/story.ts';
import type { Attempts } from './attempts.ts';

/** Takes acts away, large parts first, until each that is left is needed. */
export async function fewerActs(attempts: Attempts): Promise<void> {
  await withoutTroubles(attempts);
  let size = Math.ceil(attempts.story.acts.length / 2);
  while (size >= 1 && !attempts.spent) {
    const shorter = await withoutParts(attempts, size);
    if (size > 1) size = Math.ceil(size / 2);
    else if (!shorter) return;
  }
}

/** From the last to the first, for what comes later rests on what came before. */
async function withoutParts(attempts: Attempts, size: number): Promise<boolean> {
  let shorter = false;
  for (let end = attempts.story.acts.length; end > 0; end -= size) {
    const { story } = attempts;
    const from = Math.max(0, end - size);
    const left = story.acts.filter((_, at) => at < from || at >= end);
    if (left.length < story.acts.length) shorter = (await attempts.take({ ...story, acts: left })) || shorter;
  }
  return shorter;
}

/** All at once, then all of one name. */
async function withoutTroubles(attempts: Attempts): Promise<void> {
  const isTrouble = (act: Act) => act.do === 'trouble';
  const troubles = attempts.story.acts.filter(isTrouble);
  if (troubles.length === 0 || (await without(attempts, isTrouble))) return;
  const names = new Set(troubles.flatMap((act) => (act.do === 'trouble' ? [act.name] : [])));
  if (names.size === 1) return;
  for (const name of names) await without(attempts, (act) => act.do === 'trouble' && act.name === name);
}

function without(attempts: Attempts, isUnwanted: (act: Act) => boolean): Promise<boolean> {
  const { story } = attempts;
  return attempts.take({ ...story, acts: story.acts.filter((act) => !isUnwanted(act)) });
}
