import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { apply, edit, manifestOf, remove } from '../acts.ts';
import { parentIn, type Role } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { byRef, type CastResource, type Scene } from '../scene.ts';
import type { JsonMap } from '../specs/schemas.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const parts: Readonly<Record<string, readonly JsonMap[]>> = {
  HttpsRouteModules: [
    { compression: { enabled: true } },
    { compression: { enabled: false } },
    { ipRestriction: { ipPolicyIDs: [] } },
    { webhookVerification: { provider: 'sns' } },
  ],
  HttpsEdgeModules: [
    { tlsTermination: { minVersion: '1.2' } },
    { tlsTermination: { minVersion: '1.3' } },
    { mutualTLS: { certificateAuthorityIDs: [] } },
  ],
};

/** What the second asks for, beside the `one` part of the first: the same part otherwise, another, or both. */
function secondSpec(one: JsonMap, others: readonly JsonMap[], chance: Chance): JsonMap {
  const [part = ''] = Object.keys(one);
  const same = { [part]: { ...(part === 'webhookVerification' && { provider: 'SNS' }), enabled: chance.chance(0.5) } };
  const foreign = others.find((each) => !(part in each)) ?? {};
  return chance.pick([same, { ...same, ...foreign }, foreign]);
}

/** The first is there long before the second. It stays, and then a rival has to stand back, or it leaves to an heir. */
function pair(index: number, chance: Chance, scene: Scene): readonly CastResource[] {
  const kind = chance.pick(Object.keys(parts));
  const [one = {}, ...others] = chance.shuffled(parts[kind] ?? []);
  const second = secondSpec(one, others, chance);
  const isRival = Object.keys(one).some((part) => part in second);
  const names = chance.chance(0.5) ? ['leaver', 'heir'] : ['first', isRival ? 'rival' : 'neighbour'];
  const bornAt = Math.round(someTime(chance, scene) / 2);
  return [one, second].map((own, order) => {
    const role: Role = {
      kind,
      namespace: order === 0 ? 'a' : chance.pick(['a', 'b']),
      name: `${names[order]}-${index}`,
    };
    const spec = { ...parentIn(kind, edgeOf.sharedParents + index), ...own };
    return { ...role, holds: 'main', spec, bornAt: bornAt + order * 25_000 };
  });
}

const pairsIn = ({ resources }: Scene) =>
  resources.filter(({ name }) => /^(first|rival|neighbour|leaver|heir)-\d$/.test(name));

function leaves(resource: CastResource, at: number, chance: Chance): Act {
  const parts = Object.keys(resource.spec).filter((field) => !field.endsWith('ID'));
  if (chance.chance(0.6)) return remove(at, resource);
  return edit(at, resource, Object.fromEntries(parts.map((part) => [part, null])));
}

export const sharedParents: Habit = {
  about: 'two sets of modules on one route or edge, with equal or different parts, in one or two namespaces',
  cast: (chance, scene) => {
    const resources = Array.from({ length: chance.int(1, 2) }, (_, index) => pair(index, chance, scene)).flat();
    return { ...scene, resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) =>
    pairsIn(scene).flatMap((resource): readonly Act[] => {
      const at = Math.max(resource.bornAt + 30_000, someTime(chance, scene, resource.bornAt));
      const { name } = resource;
      if (name.startsWith('leaver')) return [leaves(resource, at + 25_000, chance)];
      if (name.startsWith('first') || chance.chance(0.4)) return [];
      if (chance.chance(0.5)) return [remove(at, resource)];
      return [remove(at, resource), apply(after(chance, scene, at, 2_000) + 2_000, manifestOf(resource))];
    }),
  expect: (scene) => byRef(pairsIn(scene), ({ name }) => (name.startsWith('rival') ? 'Conflict' : undefined)),
};
