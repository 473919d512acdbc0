import { ownText } from '../content.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const crowd = { kind: 'ReservedAddr', namespace: 'crowd', name: 'crowd-{{n}}', holds: 'main' } as const;
const lonely = { kind: 'ReservedAddr', namespace: 'b', name: 'lonely', holds: 'main' } as const;

export const crowdedNamespace: Habit = {
  about: 'hundreds of objects of one namespace are pending when one of another namespace is made',
  cast: (chance, scene) => {
    const bornAt = someTime(chance, scene, 3_000);
    const many = { ...crowd, bornAt, times: chance.pick([300, 400]), spec: { description: ownText(crowd) } };
    const one = { ...lonely, bornAt: bornAt + chance.int(500, 5_000), spec: { description: ownText(lonely) } };
    return { ...scene, resources: [...scene.resources, many, one] };
  },
  plan: () => [],
};
