import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { apply, keySecret, remove, secret } from '../acts.ts';
import { referentNames, referents } from '../content.ts';
import { type CastAccount, type Scene, secretOf } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

function lostKey(account: CastAccount, chance: Chance, scene: Scene): readonly Act[] {
  const { namespace } = account;
  const ref = { kind: 'Secret', namespace, name: secretOf(account) };
  const at = someTime(chance, scene, account.bornAt);
  const back = after(chance, scene, at, 10, 120_000);
  const users = scene.resources.filter((each) => each.namespace === namespace && each.account === account.name);
  const meanwhile = users.length > 0 && chance.chance(0.4) ? [remove(chance.int(at, back), chance.pick(users))] : [];
  const gone = chance.chance(0.7) ? remove(at, ref) : apply(at, secret(ref, { 'api-key': '' }));
  return [gone, ...meanwhile, apply(back, keySecret(account))];
}

/** What module kinds read, with another content afterwards. */
function lostReferents(namespace: string, chance: Chance, scene: Scene): readonly Act[] {
  const at = someTime(chance, scene);
  const lost = chance.some(Object.entries(referentNames), 0.7);
  return [
    ...lost.map(([kind, name]) => remove(at, { kind, namespace, name })),
    ...referents(namespace, chance, after(chance, scene, at, 10, 120_000)),
  ];
}

export const lostSecrets: Habit = {
  about: 'Secrets and ConfigMaps that something reads are deleted, or emptied, and made again',
  plan: (chance, scene) => {
    const namespaces = [...new Set(scene.resources.map(({ namespace }) => namespace))];
    return [
      ...chance
        .shuffled(scene.accounts)
        .slice(0, chance.int(1, 2))
        .flatMap((account) => lostKey(account, chance, scene)),
      ...(chance.chance(0.5) ? lostReferents(chance.pick(namespaces), chance, scene) : []),
    ];
  },
};
