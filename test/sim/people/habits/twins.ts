import { remove } from '../acts.ts';
import type { CastResource } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const isTwin = ({ name }: CastResource): boolean => name.startsWith('twin-');

export const twins: Habit = {
  about: 'several resources of equal content are created in the same second',
  cast: (chance, scene) => {
    const kind = chance.pick(['ReservedAddr', 'BotUser']);
    const spec = kind === 'BotUser' ? { name: 'twin' } : { description: 'twin' };
    const namespaces = chance.pick([['a'], ['a', 'b'], ['a', 'b'], ['a', 'b', 'c']]);
    const bornAt = someTime(chance, scene, 1_000);
    const resources = Array.from({ length: chance.int(2, 5) }, (_, index): CastResource => {
      const namespace = namespaces[index % namespaces.length] ?? 'a';
      return { kind, namespace, name: `twin-${index}`, holds: 'main', spec, bornAt: bornAt + chance.int(0, 100) };
    });
    return { ...scene, resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) =>
    chance
      .some(scene.resources.filter(isTwin), 0.3)
      .map((each) => remove(after(chance, scene, each.bornAt, 1, 60_000), each)),
};
