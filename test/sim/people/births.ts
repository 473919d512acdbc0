import type { Chance } from '../core/random.ts';
import type { Act } from '../core/story.ts';
import { apply, keySecret, manifestOf, manifestOfAccount, start } from './acts.ts';
import { referents } from './content.ts';
import type { Scene } from './scene.ts';

/** Everything of the scene comes to be, and the operators begin their work. */
export function births(scene: Scene, chance: Chance): readonly Act[] {
  const { accounts, resources, installations } = scene;
  const namespaces = [...new Set([...accounts, ...resources].map(({ namespace }) => namespace))].sort();
  const firstIn = (namespace: string) =>
    Math.min(...[...accounts, ...resources].flatMap((each) => (each.namespace === namespace ? [each.bornAt] : [])));
  return [
    ...ownNamespaces(scene).map((name) => apply(0, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...installations.map(({ name }) => start(chance.of('start', name).int(0, 2_000), name)),
    ...namespaces.flatMap((name) => referents(name, chance.of('referents', name), firstIn(name))),
    ...accounts.flatMap((account) => accountActs(account, chance.of('account', account.namespace, account.name))),
    ...resources.map((resource) => birth(resource)),
  ];
}

/** How much later than the account that reads it the Secret may come. */
export const secretWithinMs = 3_000;

function accountActs(account: Scene['accounts'][number], chance: Chance): readonly Act[] {
  const late = chance.chance(0.3) ? chance.int(1, secretWithinMs) : 0;
  return [apply(account.bornAt + late, keySecret(account)), apply(account.bornAt, manifestOfAccount(account))];
}

function birth(resource: Scene['resources'][number]): Act {
  const { bornAt: at, times } = resource;
  const object = manifestOf(resource);
  return times === undefined ? apply(at, object) : { at, do: 'apply', object, times };
}

/** Where operators keep their Leases and mirrors. */
function ownNamespaces({ installations }: Scene): readonly string[] {
  const named = installations.flatMap(({ settings = {} }) => [settings.leaderElectNamespace, settings.mirrorNamespace]);
  return [...new Set(named.filter((name) => name !== undefined))];
}
