import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { annotate, apply, edit, idOf, keySecret, manifestOf, note, remove } from '../acts.ts';
import { secretWithinMs } from '../births.ts';
import { cloudKeys, keyOf, revokedKey } from '../cloud-keys.ts';
import { otherSpec, ownText, type Role, roleOf, specFor } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { type CastAccount, type CastResource, isExternal, type Scene, secretOf } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const edge = edgeOf.sharedKey;
const names = ['shared-one', 'shared-two'] as const;

/** One of them asks for more than the operator gives to all of a key. */
const most = { 'shared-one': 600, 'shared-two': 120 };

function account(namespace: string, name: (typeof names)[number], bornAt: number): CastAccount {
  const spec = { apiKeySecretRef: { name: secretOf({ name }), key: 'api-key' }, requestsPerMinute: most[name] };
  return { namespace, name, holds: 'shared', bornAt, spec };
}

const sharersOf = ({ accounts }: Scene) => accounts.filter(({ holds }) => holds === 'shared');

const sharersIn = ({ resources }: Scene) => resources.filter(({ name }) => name.startsWith('sharer-'));

/** Two of a kind, each through an account of its own: the second is made to point at what the first made. */
function pair(kind: string, accounts: readonly CastAccount[], chance: Chance, scene: Scene): readonly CastResource[] {
  const start = someTime(chance, scene, 3_000);
  return accounts.map(({ namespace, name: account, holds }, index) => {
    const name = `sharer-${kind === 'ReservedAddr' ? 'addr' : 'route'}-${index}`;
    const role: Role = { kind, namespace, name, account, edge };
    const spec = {
      ...specFor(role, chance),
      ...(kind === 'ReservedAddr' && { description: ownText(role), region: 'us' }),
    };
    const bornAt = index === 0 ? start : after(chance, scene, start, 1, 20_000);
    return { ...roleOf({ ...role, holds, spec, bornAt }), holds, spec, bornAt };
  });
}

/** Ends with the resource gone, or with its own object. */
function pointing(second: CastResource, first: CastResource, chance: Chance, scene: Scene): readonly Act[] {
  const at = after(chance, scene, second.bornAt, 1_000, 60_000);
  const end = after(chance, scene, at, 1_000, 120_000);
  return [
    annotate(at, second, { [note.externalID]: idOf(first) }),
    chance.chance(0.6) ? remove(end, second) : annotate(end, second, { [note.externalID]: idOf(second, 'made') }),
  ];
}

/** One of the two gets the next key of both, and much later the other does, or it gets the first one back; or a wrong one, or none. */
function rekeyed(accounts: readonly CastAccount[], chance: Chance, scene: Scene): readonly Act[] {
  const [account, other] = chance.shuffled(accounts);
  if (account === undefined || other === undefined) return [];
  const [first, next] = cloudKeys.shared;
  // Mostly once both are in each other's way.
  const met = chance.chance(0.8) ? sharersIn(scene).map(({ bornAt }) => bornAt) : [];
  // A first Secret that came after that would leave each a key of its own.
  const keyed = accounts.map(({ bornAt }) => bornAt + secretWithinMs);
  const at = someTime(chance, scene, Math.max(...met, ...keyed));
  const end = after(chance, scene, at, 1_000, 600_000);
  const gone = remove(at, { kind: 'Secret', namespace: account.namespace, name: secretOf(account) });
  return chance.pick([
    [apply(at, keySecret(account, next)), apply(end, keySecret(other, next))],
    [apply(at, keySecret(account, next)), apply(end, keySecret(account, first))],
    [apply(at, keySecret(account, keyOf('green'))), apply(end, keySecret(account, first))],
    [apply(at, keySecret(account, revokedKey)), apply(end, keySecret(account, first))],
    [gone, apply(end, keySecret(account, first))],
  ]);
}

export const sharedKey: Habit = {
  about:
    'two CloudAccounts have the same key, one of them another for a time: their users meet at one object and one route; one has a budget of 1',
  cast: (chance, scene) => {
    // One that no installation has for itself: of the sharers in another's namespace none would know.
    const namespaces = ['a', chance.pick(['a', 'c'])];
    const accounts = names.map((name, index) => account(namespaces[index] ?? 'a', name, chance.int(0, 3_000)));
    const resources = ['ReservedAddr', 'HttpsRouteModules'].flatMap((kind) => pair(kind, accounts, chance, scene));
    return { ...scene, accounts: [...scene.accounts, ...accounts], resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) => {
    const [first, second, route] = sharersIn(scene);
    const two = scene.accounts.find(({ name }) => name === names[1]);
    if (first === undefined || second === undefined || route === undefined || two === undefined) return [];
    const at = someTime(chance, scene, two.bornAt);
    const ref = { kind: 'CloudAccount', ...two };
    return [
      ...pointing(second, first, chance, scene),
      ...sharersIn(scene)
        .filter((each) => !isExternal(each))
        .map((each) => {
          const spec = otherSpec(roleOf(each), each.spec, chance);
          return apply(someTime(chance, scene, each.bornAt), manifestOf({ ...each, spec }));
        }),
      ...(chance.chance(0.4) ? [remove(after(chance, scene, route.bornAt, 5_000, 120_000), route)] : []),
      ...(chance.chance(0.5)
        ? [
            edit(at, ref, { requestsPerMinute: 1 }),
            edit(after(chance, scene, at, 10_000, 300_000), ref, { requestsPerMinute: 120 }),
          ]
        : []),
      ...(chance.chance(0.5) ? rekeyed(sharersOf(scene), chance, scene) : []),
    ];
  },
};
