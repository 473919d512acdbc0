import { start, stop, wipeStatus } from '../acts.ts';
import { firstInstallation } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

export const statusesWiped: Habit = {
  about: 'the status of some or all is emptied, as by a restore from a backup; some while no operator runs',
  plan: (chance, scene) => {
    const at = someTime(chance, scene, 5_000);
    const some = chance.chance(0.4) ? scene.resources : chance.some(scene.resources, 0.5);
    const wiped = some.map((resource) => wipeStatus(at, resource));
    if (chance.chance(0.5)) return wiped;
    const away = Math.max(0, at - chance.int(100, 5_000));
    return [stop(away, firstInstallation), ...wiped, start(after(chance, scene, at, 10, 10_000), firstInstallation)];
  },
};
