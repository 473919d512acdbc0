import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { byHand, edit, foreignID, note, remove } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { ownText, parentIn, type Role, specFor } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { routePath } from '../paths.ts';
import { byRef, type CastResource, isExternal, type Scene } from '../scene.ts';
import type { JsonMap } from '../specs/schemas.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const edge = edgeOf.imports;

/** Managed at once, only observed, or observed first and managed later. */
const ways = ['managed', 'observed', 'adopted'] as const;

/** Each of an object of its own, which somebody made without saying where: in us. */
function imported(index: number, scene: Scene, chance: Chance): CastResource {
  const way = chance.pick(ways);
  const kind = chance.pick(['ReservedAddr', 'ReservedAddr', 'BotUser']);
  const role: Role = { kind, namespace: chance.pick(['a', 'b']), name: `import-${way}-${index}` };
  const spec: JsonMap = {
    ...specFor(role, chance),
    ...(kind === 'ReservedAddr' && { description: ownText(role), region: chance.pick(['us', 'us', 'us', 'eu']) }),
    ...(way !== 'managed' && { managementPolicy: 'Observe' }),
    ...(chance.chance(0.3) && { deletionPolicy: 'Retain' }),
  };
  const bornAt = someTime(chance, scene, 1_000);
  return { ...role, holds: 'main', spec, bornAt, annotations: { [note.externalID]: foreignID(role.name) } };
}

function made({ kind, name, bornAt }: CastResource, chance: Chance): Act {
  const call = { key: keyOf('main'), method: 'POST', name } as const;
  const at = Math.max(0, bornAt - chance.int(1, 60_000));
  if (kind === 'BotUser') return byHand(at, { ...call, path: '/bot_users', body: { name: `foreign ${name}` } });
  return byHand(at, { ...call, path: '/reserved_addrs', body: { description: `foreign ${name}` } });
}

/** A module that somebody set by hand before there was a resource for it. */
function route(chance: Chance, scene: Scene): CastResource {
  const role: Role = { kind: 'HttpsRouteModules', namespace: 'a', name: 'import-route' };
  const spec = { ...parentIn(role.kind, edge), compression: { enabled: chance.chance(0.5) } };
  return { ...role, holds: 'main', spec, bornAt: someTime(chance, scene, 1_000) };
}

const importsIn = ({ resources }: Scene) => resources.filter(({ name }) => name.startsWith('import-'));

export const imports: Habit = {
  about: 'objects that somebody made by hand are imported by their id, as they are or to be changed, and deleted',
  cast: (chance, scene) => {
    const resources = Array.from({ length: chance.int(1, 3) }, (_, index) => imported(index, scene, chance));
    return { ...scene, resources: [...scene.resources, ...resources, route(chance, scene)] };
  },
  plan: (chance, scene) =>
    importsIn(scene).flatMap((resource): readonly Act[] => {
      const { name, bornAt } = resource;
      if (!isExternal(resource)) {
        const call = { key: keyOf('main'), method: 'PUT', path: `${routePath(edge)}/compression` } as const;
        return [byHand(bornAt - 500, { ...call, body: { enabled: true } })];
      }
      const later = someTime(chance, scene, bornAt);
      return [
        made(resource, chance),
        ...(name.includes('adopted') ? [edit(later, resource, { managementPolicy: 'Manage' })] : []),
        ...(chance.chance(0.3) ? [remove(after(chance, scene, later), resource)] : []),
      ];
    }),
  expect: (scene) =>
    byRef(importsIn(scene).filter(isExternal), ({ name, spec }) => {
      if (name.includes('observed')) return 'DriftDetected';
      return spec.region === 'eu' ? 'Rejected' : undefined;
    }),
};
