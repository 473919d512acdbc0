import type { Trouble } from '../core/run.ts';
import type { World } from '../core/world.ts';
import { Boundaries, type Crash } from './boundaries.ts';

/** The name under which a story plans crashes. */
export const crashAtName = 'crash-at';

const counted = new WeakMap<World, Boundaries>();

/** `with: { crashes: [{ boundary, position }] }`: a crash at each of these, counted from its beginning. */
export const crashAt: Trouble = (world, { crashes = [] }) => {
  const boundaries = new Boundaries(world, crashes as readonly Crash[]);
  counted.set(world, boundaries);
  return () => boundaries.stop();
};

/** What it counted in a world. */
export const boundariesOf = (world: World): Boundaries | undefined => counted.get(world);
