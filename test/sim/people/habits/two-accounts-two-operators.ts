import type { InstallationSpec } from '../../core/story.ts';
import { remove } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { type Role, specFor } from '../content.ts';
import { edgeOf } from '../edges.ts';
import type { CastResource } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const narrow: InstallationSpec = {
  name: 'narrow',
  apiKey: keyOf('narrow'),
  settings: {
    watchNamespaces: 'b',
    leaderElectNamespace: 'edge-operator-narrow',
    mirrorNamespace: 'edge-operator-narrow',
  },
};
const edge = edgeOf.twoAccountsTwoOperators;

const isContested = ({ name }: CastResource): boolean => name.startsWith('contested-');

export const twoAccountsTwoOperators: Habit = {
  about: 'one release for all namespaces and one for b alone, whose default accounts differ',
  cast: (chance, scene) => {
    const kinds = ['ReservedAddr', ...chance.some(['BotUser', 'HttpsRouteModules', 'ReservedAddr'], 0.5)];
    const resources = kinds.map((kind, index): CastResource => {
      const role: Role = { kind, namespace: 'b', name: `contested-${index}`, edge };
      const { edge: _, ...named } = role;
      return { ...named, holds: 'main', spec: specFor(role, chance), bornAt: someTime(chance, scene) };
    });
    return {
      ...scene,
      installations: [...scene.installations, narrow],
      resources: [...scene.resources, ...resources],
    };
  },
  plan: (chance, scene) =>
    chance
      .some(scene.resources.filter(isContested), 0.4)
      .map((each) => remove(after(chance, scene, each.bornAt, 5_000, 120_000), each)),
};
