import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { apply, edit, keySecret, remove } from '../acts.ts';
import { cloudKeys, keyOf, revokedKey } from '../cloud-keys.ts';
import type { CastAccount, Scene } from '../scene.ts';
import { isOfCloud } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

type Way = (account: CastAccount, chance: Chance, scene: Scene) => readonly Act[];

/** For a time the account has a key of another account, or one that the cloud refuses. */
const anotherKey: Way = (account, chance, scene) => {
  const key = chance.pick(
    [keyOf('main'), keyOf('green'), keyOf('narrow'), revokedKey].filter((each) => each !== keyOf(account.holds)),
  );
  const at = someTime(chance, scene, account.bornAt);
  return [apply(at, keySecret(account, key)), apply(after(chance, scene, at, 100, 120_000), keySecret(account))];
};

/** Two keys of one account: nothing changes by it. */
const rotated: Way = (account, chance, scene) => {
  const [first, second = first] = cloudKeys[account.holds];
  const at = someTime(chance, scene, account.bornAt);
  const back = chance.chance(0.5) ? [apply(after(chance, scene, at), keySecret(account, first))] : [];
  return [apply(at, keySecret(account, second)), ...back];
};

const anotherAddress: Way = (account, chance, scene) => {
  const ref = { kind: 'CloudAccount', ...account };
  const at = someTime(chance, scene, account.bornAt);
  const url = chance.pick(['http://other-cloud.sim', 'http://other-cloud.sim', 'http://nobody.sim']);
  const { apiURL = null } = account.spec;
  return [edit(at, ref, { apiURL: url }), edit(after(chance, scene, at, 100, 120_000), ref, { apiURL })];
};

/** Resources name another account, or none, also while they are being made, and then theirs again, or go. */
const anotherAccount: Way = ({ namespace, name, bornAt }, chance, scene) => {
  const here = chance
    .shuffled(scene.resources.filter((each) => isOfCloud(each) && each.namespace === namespace))
    .slice(0, 2);
  return here.flatMap((resource) => {
    const own = resource.account === undefined ? null : { name: resource.account };
    const others = [null, { name }, { name: 'missing' }].filter((each) => each?.name !== own?.name);
    const from = Math.max(bornAt, resource.bornAt);
    const at = chance.chance(0.4) ? after(chance, scene, from, 1, 300) : someTime(chance, scene, from);
    const end = after(chance, scene, at, 10, 120_000);
    const back = chance.chance(0.3) ? remove(end, resource) : edit(end, resource, { accountRef: own });
    return [edit(at, resource, { accountRef: chance.pick(others) }), back];
  });
};

const ways = [anotherKey, anotherKey, rotated, anotherAddress, anotherAccount, anotherAccount];

export const accountSwaps: Habit = {
  about: 'accounts get another key, address or user for a time; keys are rotated',
  plan: (chance, scene) =>
    Array.from({ length: chance.int(1, 3) }, () =>
      chance.pick(ways)(chance.pick(scene.accounts), chance, scene),
    ).flat(),
};
