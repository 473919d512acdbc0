import type { ReconcileContext } from './context.ts';
import type { ManagedObject } from './resource.ts';

/** A cache that is behind hears within minutes of what has gone. */
export const keeperGoneMs = 5_000;

/**
 * Leaves what a claim names to another resource, which has it too: from now on that one does not leave it to this one. False
 * where that one has gone, of which the cache knows nothing yet: nobody would have it.
 */
export async function leaveTo(
  { resource, facts }: Pick<ReconcileContext<unknown>, 'resource' | 'facts'>,
  keeper: ManagedObject,
  claim: string,
): Promise<boolean> {
  facts.letGo ??= new Set();
  facts.letGo.add(claim);
  if (await resource.isThere(keeper)) return true;
  facts.letGo.delete(claim);
  return false;
}
