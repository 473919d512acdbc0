import { apply, edit, manifestOf, remove } from '../acts.ts';
import { otherSpec, roleOf } from '../content.ts';
import { isOfCloud } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

export const policies: Habit = {
  about: 'managementPolicy goes from Manage to Observe and back, deletionPolicy to Retain before some deletes',
  plan: (chance, scene) =>
    chance
      .shuffled(scene.resources.filter(isOfCloud))
      .slice(0, chance.int(1, 4))
      .flatMap((resource) => {
        const at = someTime(chance, scene, resource.bornAt);
        const later = after(chance, scene, at, 10, 120_000);
        if (chance.chance(0.4))
          return [
            edit(at, resource, { deletionPolicy: 'Retain' }),
            remove(later, resource),
            ...(chance.chance(0.5) ? [apply(after(chance, scene, later, 1_000), manifestOf(resource))] : []),
          ];
        const spec = otherSpec(roleOf(resource), resource.spec, chance);
        return [
          edit(at, resource, { managementPolicy: 'Observe' }),
          ...(chance.chance(0.5)
            ? [
                apply(
                  chance.int(at, later),
                  manifestOf({ ...resource, spec: { ...spec, managementPolicy: 'Observe' } }),
                ),
              ]
            : []),
          ...(chance.chance(0.2) ? [remove(chance.int(at, later), resource)] : []),
          edit(later, resource, { managementPolicy: 'Manage' }),
        ];
      }),
};
