import type { Act } from '../../core/story.ts';
import { ownText, type Role } from '../content.ts';
import type { CastResource } from '../scene.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const forMs = 120_000;

export const clocksSetRight: Habit = {
  about: 'clocks that were minutes ahead are set right, and then a create has no answer',
  cast: (chance, scene) => {
    const bornAt = someTime(chance, scene);
    const own = (name: string, at: number, more: object): CastResource => {
      const role: Role = { kind: 'ReservedAddr', namespace: 'a', name };
      return { ...role, holds: 'main', spec: { description: ownText(role), ...more }, bornAt: at };
    };
    const later = bornAt + forMs + chance.int(1_000, 60_000);
    // So that there is a list from the time in which clocks are ahead.
    const checked = own('checked-often', bornAt, { resyncIntervalSeconds: 30 });
    return { ...scene, resources: [...scene.resources, checked, own('made-afterwards', later, {})] };
  },
  plan: (chance, { resources }) =>
    resources.flatMap(({ name, bornAt: at }): readonly Act[] => {
      const toMs = chance.int(180, 900) * 1_000;
      if (name === 'checked-often') return [{ at, do: 'trouble', name: 'clock-jumps', forMs, with: { toMs } }];
      if (name !== 'made-afterwards') return [];
      const lost = { to: 'cloud', calls: 'mutating', probability: 1, broken: 1, breaksWithinMs: 1_000 };
      return [{ at, do: 'trouble', name: 'lost-answers', forMs: 2_000, with: lost }];
    }),
};
