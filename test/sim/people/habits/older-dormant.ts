import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { annotate, edit, idOf, note, remove } from '../acts.ts';
import { ownText, parentIn, type Role } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { type CastResource, isExternal, type Scene } from '../scene.ts';
import type { JsonMap } from '../specs/schemas.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const edge = edgeOf.olderDormant;
const ways = ['observer', 'paused', 'broken'] as const;

function content(role: Role): JsonMap {
  if (role.kind === 'BotUser') return { name: ownText(role) };
  if (role.kind === 'ReservedAddr') return { description: ownText(role) };
  return { ...parentIn(role.kind, edge), compression: { enabled: true } };
}

/** The older one cannot or may not do anything when it is made; the younger one makes something. */
function pair(index: number, chance: Chance, scene: Scene): readonly [CastResource, CastResource] {
  const way = chance.pick(ways);
  const kind = chance.pick(['ReservedAddr', 'BotUser', ...(index === 0 ? ['HttpsRouteModules'] : [])]);
  const [here, there] = chance.pick([
    ['a', 'a'],
    ['a', 'b'],
    ['b', 'a'],
  ] as const);
  const bornAt = Math.round(someTime(chance, scene, 2_000) / 2);
  const own = (name: string, namespace: string, at: number): CastResource => {
    const role: Role = { kind, namespace, name: `${name}-${index}` };
    return { ...role, holds: 'main', spec: content(role), bornAt: at };
  };
  return [dormant(own(way, here, bornAt), way), own('younger', there, bornAt + 4_000)];
}

function dormant(resource: CastResource, way: (typeof ways)[number]): CastResource {
  if (way === 'paused') return { ...resource, annotations: { [note.paused]: 'true' } };
  const spec = way === 'observer' ? { managementPolicy: 'Observe' } : { accountRef: { name: 'mistyped' } };
  return { ...resource, spec: { ...resource.spec, ...spec } };
}

function woken(at: number, older: CastResource): Act {
  if (older.name.startsWith('paused')) return annotate(at, older, { [note.paused]: null });
  return edit(at, older, { managementPolicy: 'Manage', accountRef: null });
}

export const olderDormant: Habit = {
  about: 'an older resource that is Observe, paused or broken points at what a younger one made, or names its module',
  cast: (chance, scene) => {
    const pairs = Array.from({ length: chance.int(1, 2) }, (_, index) => pair(index, chance, scene)).flat();
    return { ...scene, resources: [...scene.resources, ...pairs] };
  },
  plan: (chance, scene) =>
    scene.resources
      .filter(({ name }) => /^younger-\d$/.test(name))
      .flatMap((younger) => {
        const index = younger.name.split('-')[1];
        const older = scene.resources.find(({ name }) => ways.some((way) => name === `${way}-${index}`));
        if (older === undefined) return [];
        const pointed = after(chance, scene, younger.bornAt, 500, 30_000);
        const awake = after(chance, scene, pointed, 100, 120_000);
        const end = after(chance, scene, awake, 100, 60_000);
        const gone = chance.pick([[], [younger], [older], [older], [older, younger], [younger, older]]);
        const wakes = !older.name.startsWith('observer') || chance.chance(0.5);
        return [
          ...(isExternal(older) ? [annotate(pointed, older, { [note.externalID]: idOf(younger) })] : []),
          ...(wakes ? [woken(awake, older)] : []),
          ...gone.map((each, order) => remove(end + order * chance.int(1, 5_000), each)),
        ];
      }),
};
