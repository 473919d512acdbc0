import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { apply, keySecret, manifestOf, manifestOfAccount, remove, start, stop } from '../acts.ts';
import { type Role, referents, specFor } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { type CastAccount, type CastResource, firstInstallation, type Scene, secretOf } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const namespace = 'doomed';
const account = 'doomed-account';
const edge = edgeOf.namespacesDeleted;

function users(chance: Chance, scene: Scene): readonly CastResource[] {
  const kinds = ['ReservedAddr', 'BotUser', 'HttpsRouteModules', 'TlsEdgeTrafficPolicy', 'BotUser'];
  return kinds.slice(0, chance.int(2, kinds.length)).map((kind, index): CastResource => {
    const own = index === 0 || chance.chance(0.6);
    const named = { kind, namespace, name: `doomed-${index}`, ...(own && { account }) };
    const bornAt = Math.round(someTime(chance, scene) / 2);
    return { ...named, holds: own ? 'doomed' : 'main', spec: specFor({ ...named, edge }, chance), bornAt };
  });
}

/** First some of what is in it, one by one, and then all of it: real clusters delete in an order of their own. */
function deletion(at: number, holder: CastAccount, own: readonly CastResource[], chance: Chance): readonly Act[] {
  const first = chance.shuffled([
    { kind: 'Secret', namespace, name: secretOf(holder) },
    { kind: 'CloudAccount', namespace, name: account },
    ...own,
  ]);
  return [
    ...first.slice(0, chance.int(0, first.length)).map((each, order) => remove(at + order, each)),
    { at: at + 10, do: 'delete', ref: { kind: 'Namespace', name: namespace } },
  ];
}

export const namespacesDeleted: Habit = {
  about: 'a namespace is deleted with its account, Secret and resources, in any order, while no operator runs too',
  cast: (chance, scene) => {
    const role: Role = { kind: 'CloudAccount', namespace, name: account };
    const holder: CastAccount = { namespace, name: account, holds: 'doomed', spec: specFor(role, chance), bornAt: 0 };
    return {
      ...scene,
      accounts: [...scene.accounts, holder],
      resources: [...scene.resources, ...users(chance, scene)],
    };
  },
  plan: (chance, scene) => {
    const holder = scene.accounts.find((each) => each.name === account);
    const own = scene.resources.filter((each) => each.namespace === namespace);
    if (holder === undefined) return [];
    const at = Math.max(...own.map(({ bornAt }) => bornAt), someTime(chance, scene, scene.spanMs / 4));
    const gone = deletion(at, holder, own, chance);
    const away = chance.chance(0.4)
      ? [
          stop(Math.max(0, at - chance.int(10, 3_000)), firstInstallation),
          start(at + chance.int(100, 20_000), firstInstallation),
        ]
      : [];
    if (chance.chance(0.6)) return [...gone, ...away];
    const back = after(chance, scene, at, 20_000, 200_000) + 20_000;
    const again = own.map((each) => apply(back, manifestOf(each)));
    return [
      ...gone,
      ...away,
      ...referents(namespace, chance, back),
      apply(back, keySecret(holder)),
      apply(back, manifestOfAccount(holder)),
      ...again,
    ];
  },
};
