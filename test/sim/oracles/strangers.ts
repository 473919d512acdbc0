import { accountsOf } from './accounts.ts';
import { pathsOf } from './excuses.ts';
import { kubeModelOf } from './kube-model.ts';
import { idsNamedBy } from './ownership.ts';
import type { Resource } from './resource.ts';
import type { Witness } from './witness.ts';

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

/** The ids and paths that strangers name both, now. */
export function contested(world: Witness): ReadonlySet<string> {
  const naming = new Map<string, Resource[]>();
  for (const resource of kubeModelOf(world).live.values()) {
    for (const name of namedBy(resource)) naming.set(name, [...(naming.get(name) ?? []), resource]);
  }
  const isContested = (all: readonly Resource[]) =>
    all.some((one) => all.some((other) => one !== other && areStrangers(world, one, other)));
  return new Set([...naming].filter(([, all]) => isContested(all)).map(([name]) => name));
}

export const namedBy = (resource: Resource): readonly string[] => [...idsNamedBy(resource), ...pathsOf(resource)];
