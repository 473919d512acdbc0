import type { ReconcileContext } from '../context.ts';
import { annotation } from '../resource/annotations.ts';
import { isDeleting, type ManagedObject } from '../resource/resource.ts';
import { type Report, report } from '../status/outcome.ts';

/** A cache that is behind hears within minutes of what has gone. */
const keeperGoneMs = 5_000;

/**
 * Leaves what a claim names to another resource, which has it too: from now on that one does not leave it to this one. Reports
 * where that one is not known to stay: nobody would have it.
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
  const fate = await resource.fateOf(keeper);
  if (fate === 'stays') return undefined;
  facts.left.delete(claim);
  const message = `who has the ${what} too ${found[fate]}`;
  const retry = { kind: 'after', ms: keeperGoneMs } as const;
  if (!isDeleting(resource.object)) return report('Updating', message, { retry });
  const orElse = `: set the annotation ${annotation.forceOrphan} to "true" to leave all that this resource made behind`;
  return report('Deleting', fate === 'unknown' ? message + orElse : message, { retry });
}

const found = { changed: 'has just changed, or is about to go: looking again', unknown: 'cannot be read' };
