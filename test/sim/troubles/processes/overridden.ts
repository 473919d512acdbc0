import type { Changed, Installation } from '../../core/installation.ts';
import type { World } from '../../core/world.ts';

export function installationOf({ installations }: World, name: string): Installation {
  const found = installations.get(name);
  if (found === undefined) throw new Error(`there is no installation ${name}`);
  return found;
}

/** Restarted with something else, until the function that it returns is called. */
export const overridden = (world: World, installation: string, changed: Changed): (() => void) =>
  installationOf(world, installation).override(changed);
