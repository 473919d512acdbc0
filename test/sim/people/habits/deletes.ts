import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { apply, manifestOf, remove } from '../acts.ts';
import { otherSpec, roleOf } from '../content.ts';
import { type CastResource, isNeeded, type Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

type Way = (resource: CastResource, at: number, chance: Chance, scene: Scene) => readonly Act[];

const forGood: Way = (resource, at) => [remove(at, resource)];

const again: Way = (resource, at, chance, scene) => [
  remove(at, resource),
  apply(after(chance, scene, at, 2_000, 60_000), manifestOf(resource)),
];

/** While the finalizer still holds the old one, which is thereby only edited; and once more when it is gone. */
const whileHeld: Way = (resource, at, chance, scene) => {
  const spec = otherSpec(roleOf(resource), resource.spec, chance);
  const held = after(chance, scene, at, 1, 500);
  return [
    remove(at, resource),
    apply(held, manifestOf({ ...resource, spec })),
    apply(after(chance, scene, held, 5_000, 60_000), manifestOf({ ...resource, spec })),
  ];
};

const twice: Way = (resource, at, chance, scene) => {
  const back = after(chance, scene, at, 100, 5_000);
  return [
    remove(at, resource),
    apply(back, manifestOf(resource)),
    ...again(resource, after(chance, scene, back, 1, 2_000), chance, scene),
  ];
};

const ways = [forGood, again, again, whileHeld, twice];

export const deletes: Habit = {
  about: 'resources are deleted, also while they are being made, and made again under the same name',
  plan: (chance, scene) => {
    const some = chance.shuffled(scene.resources.filter((each) => !isNeeded(each))).slice(0, chance.int(1, 4));
    return some.flatMap((resource) => {
      const early = chance.chance(0.4);
      const at = early ? after(chance, scene, resource.bornAt, 1, 300) : someTime(chance, scene, resource.bornAt);
      return chance.pick(ways)(resource, at, chance, scene);
    });
  },
};
