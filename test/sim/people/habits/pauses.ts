import { annotate, apply, manifestOf, note, remove } from '../acts.ts';
import { otherSpec, roleOf } from '../content.ts';
import { isNeeded } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

export const pauses: Habit = {
  about: 'resources are paused for a time, in which they are edited or deleted',
  plan: (chance, scene) =>
    chance
      .shuffled(scene.resources)
      .slice(0, chance.int(1, 4))
      .flatMap((resource) => {
        const { bornAt, spec } = resource;
        const at = chance.chance(0.3) ? after(chance, scene, bornAt, 1, 100) : someTime(chance, scene, bornAt);
        const on = after(chance, scene, at, 10, 120_000);
        const between = () => chance.int(at, on);
        const meanwhile = [
          ...(chance.chance(0.6)
            ? [apply(between(), manifestOf({ ...resource, spec: otherSpec(roleOf(resource), spec, chance) }))]
            : []),
          ...(chance.chance(0.3) && !isNeeded(resource) ? [remove(between(), resource)] : []),
        ];
        return [
          annotate(at, resource, { [note.paused]: 'true' }),
          ...meanwhile,
          annotate(on, resource, { [note.paused]: null }),
        ];
      }),
};
