import { annotation } from './annotations.ts';
import type { ReconcileContext } from './context.ts';
import { type Report, report } from './outcome.ts';
import { isDeleting, type ManagedObject } from './resource.ts';

/** A cache that is behind hears within minutes of what has gone. */
const keeperGoneMs = 5_000;

/**
 * Leaves what a claim names to another resource, which has it too: from now on that one does not leave it to this one. Reports
 * where that one is not there, of which the cache knows nothing yet: nobody would have it.
 *
 * @param what as people call it
 */
export async function leaveTo(
  { resource, facts }: Pick<ReconcileContext<unknown>, 'resource' | 'facts'>,
  keeper: ManagedObject,
  claim: string,
  what: string,
): Promise<Report | undefined> {
  facts.left ??= new Set();
  facts.left.add(claim);
  if (await resource.isThere(keeper)) return undefined;
  facts.left.delete(claim);
  const retry = { kind: 'after', ms: keeperGoneMs } as const;
  const message = `who has the ${what} too may have gone, or be about to`;
  if (!isDeleting(resource.object)) return report('Updating', message, { retry });
  const orElse = `: where that cannot be known, set the annotation ${annotation.forceOrphan} to "true" to leave it behind`;
  return report('Deleting', message + orElse, { retry });
}
