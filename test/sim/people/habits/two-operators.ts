import type { Chance } from '../../core/random.ts';
import type { Act, InstallationSpec } from '../../core/story.ts';
import { apply, manifestOf, start, stop } from '../acts.ts';
import { otherSpec, ownText, roleOf } from '../content.ts';
import { type CastResource, firstInstallation, namespaces, type Scene } from '../scene.ts';
import { after, logBetween, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const second = 'two';

/** Of which namespaces each of them is told; undefined for all. */
function watched(chance: Chance): readonly [string | undefined, string | undefined] {
  const butB = namespaces.filter((name) => name !== 'b').join(',');
  return chance.pick([
    [undefined, undefined],
    [undefined, 'b'],
    [butB, 'b'],
    [butB, 'b'],
    [butB, 'a,b'],
  ]);
}

const release = (spec: Partial<InstallationSpec>, watchNamespaces: string | undefined): InstallationSpec => ({
  ...spec,
  name: second,
  settings: {
    ...spec.settings,
    ...(watchNamespaces && { watchNamespaces }),
  },
});

function castOf(chance: Chance, scene: Scene): readonly CastResource[] {
  return ['a', 'b', 'b'].map((namespace, index) => {
    const name = `watched-${index}`;
    const role = { kind: 'ReservedAddr', namespace, name };
    return { ...role, holds: 'main', spec: { description: ownText(role) }, bornAt: someTime(chance, scene) };
  });
}

/** Of equal content, made in the same second by one operator each, neither of which hears what became of it. */
function sameIn(chance: Chance, scene: Scene): readonly CastResource[] {
  const bornAt = someTime(chance, scene, 5_000);
  return ['a', 'b'].map((namespace, index) => {
    const spec = { description: 'the same' };
    const own = { kind: 'ReservedAddr', namespace, name: `same-${index}`, holds: 'main' } as const;
    return { ...own, spec, bornAt: bornAt + index * chance.int(0, 900) };
  });
}

const unheard = (chance: Chance, { bornAt }: CastResource): Act => ({
  ...{ at: bornAt, do: 'trouble', name: 'resets', forMs: 1_500 },
  with: { salt: chance.int(1, 1_000_000), to: 'cloud', probability: 1, carriedOut: 0.5 },
});

export const twoOperators: Habit = {
  about: 'a second installation with the same account, over the same namespaces, overlapping ones, or its own',
  cast: (chance, scene) => {
    const [one, two] = watched(chance);
    const installations = scene.installations.map((each) =>
      one === undefined ? each : { ...each, settings: { ...each.settings, watchNamespaces: one } },
    );
    const [first] = installations;
    const other = release({ settings: first?.settings ?? {}, replicas: chance.pick([1, 1, 2]) }, two);
    const resources = [...scene.resources, ...castOf(chance, scene), ...sameIn(chance, scene)];
    return { ...scene, installations: [...installations, other], resources };
  },
  plan: (chance, scene) => [
    ...scene.resources
      .filter(({ name }) => name.startsWith('watched-'))
      .map((each) => {
        const spec = otherSpec(roleOf(each), each.spec, chance);
        return apply(someTime(chance, scene, each.bornAt), manifestOf({ ...each, spec }));
      }),
    ...scene.resources.filter(({ name }) => name === 'same-0').map((each) => unheard(chance, each)),
    ...(chance.chance(0.5) ? restarted(chance, scene) : []),
  ],
};

function restarted(chance: Chance, scene: Scene) {
  const name = chance.pick([firstInstallation, second]);
  const at = someTime(chance, scene, 3_000);
  return [stop(at, name), start(after(chance, scene, at) + logBetween(chance, 1, 10_000), name)];
}
