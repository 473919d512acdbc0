import { accountsOf } from '../witness/accounts.ts';
import { fieldsOf } from '../witness/json.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { idsNamedBy } from '../witness/ownership.ts';
import type { Resource } from '../witness/resource.ts';
import { installationOf } from '../witness/who.ts';
import type { Witness } from '../witness/witness.ts';
import { pathsOf } from './excuses.ts';

/**
 * No installation may see both: what the one has in the account the other cannot know (docs/reliability.md).
 *
 * @param at default now
 */
export function areStrangers(world: Witness, one: Resource, other: Resource, at = world.scheduler.now): boolean {
  return [...accountsOf(world).installations.values()].every(
    (installation) => !installation.serves(one, at) || !installation.serves(other, at),
  );
}

/**
 * Nobody could keep them apart: they are strangers, or whoever manages the one took what the other has and he cannot
 * see, by its id, or as no older one by its path. Who sees both leaves the other what it made, and cannot keep the one from it.
 */
export function areBeyondHelp(world: Witness, one: Resource, other: Resource): boolean {
  return areStrangers(world, one, other) || tookBlindly(world, one, other) || tookBlindly(world, other, one);
}

function tookBlindly(world: Witness, one: Resource, other: Resource): boolean {
  const manager = accountsOf(world).installations.get(installationOf(one.status?.by ?? '') ?? '');
  const { how } = fieldsOf(one.status?.fields.ownership);
  const wasTaken = how === 'Imported' || (how === 'Applied' && one.createdAt >= other.createdAt);
  return wasTaken && manager?.serves(other, world.scheduler.now) === false;
}

/** The ids and paths that two name whom nobody could keep apart, now. */
export function contested(world: Witness): ReadonlySet<string> {
  const naming = new Map<string, Resource[]>();
  for (const resource of kubeModelOf(world).live.values()) {
    for (const name of namedBy(resource)) naming.set(name, [...(naming.get(name) ?? []), resource]);
  }
  const isContested = (all: readonly Resource[]) =>
    all.some((one) => all.some((other) => one !== other && areBeyondHelp(world, one, other)));
  return new Set([...naming].filter(([, all]) => isContested(all)).map(([name]) => name));
}

export const namedBy = (resource: Resource): readonly string[] => [...idsNamedBy(resource), ...pathsOf(resource)];
