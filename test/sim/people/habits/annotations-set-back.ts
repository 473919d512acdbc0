import { setBack, start, stop } from '../acts.ts';
import { firstInstallation } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

export const annotationsSetBack: Habit = {
  about:
    "manifests that were saved with the operator's annotations are applied again when these are others, some while no operator runs",
  plan: (chance, scene) => {
    const set = chance.some(scene.resources, 0.6).flatMap((resource) => {
      const asOf = after(chance, scene, resource.bornAt, 5, 30_000);
      const times = Array.from({ length: chance.int(1, 3) }, () => after(chance, scene, asOf, 100, 120_000));
      return times.map((at) => setBack(at, resource, asOf));
    });
    if (chance.chance(0.5)) return set;
    const away = someTime(chance, scene, 5_000);
    const back = away + chance.int(4_000, 20_000);
    const meanwhile = set.map((act) => ({ ...act, at: Math.max(act.at, away + 3_000) }));
    return [stop(away, firstInstallation), ...meanwhile, start(back, firstInstallation)];
  },
};
