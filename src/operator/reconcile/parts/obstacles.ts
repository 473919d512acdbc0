import type { ReconcileContext } from '../context.ts';
import { witnessesApartMs } from '../resource/memory.ts';
import { type Report, report } from '../status/outcome.ts';
import { isTakenOut } from './generations.ts';
import { wasThere } from './part-events.ts';
import { type AnyPart, claimThere, foundAbsent, type PartScope, sightOf } from './part-scope.ts';

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'connection' | 'time'>;

/* Why a part is left as it is, which no call is needed to know. */

export function takenOut<Spec, Client>(
  part: AnyPart<Spec, Client>,
  { resource: { object } }: Context,
  { named, applied }: PartScope<Spec>,
): Report | undefined {
  if (named || !applied || !isTakenOut(object, part)) return undefined;
  const { name, displayName } = part;
  return report(
    'DependencyNotReady',
    `the definition of ${object.kind} does not know spec.${name}, or did not, and took it out; the ${displayName} is left as it is: install the definitions of this release, and apply the resource again`,
  );
}

/** A DELETE that was sent and not answered may be carried out after the PUT, and would take what that put there. */
export function unsettledDelete<Spec, Client>(
  { displayName }: AnyPart<Spec, Client>,
  context: Context,
  scope: PartScope<Spec>,
): Report | undefined {
  const { named, applied, seen, lostDeletes, createSettleMs } = scope;
  const claim = claimThere(scope, context);
  const lostAt = named ? lostDeletes.get(claim) : undefined;
  if (lostAt === undefined) return undefined;
  const ms = lostAt + createSettleMs - context.time.now();
  if (ms > 0) {
    // What was seen there before it may be gone.
    seen.delete(scope.claim);
    const message = `an unanswered delete of the ${displayName} may still be carried out`;
    return report(underway(applied), message, { retry: { kind: 'after', ms } });
  }
  lostDeletes.delete(claim);
  return undefined;
}

/** Of a part that was there and is not found: one answer is one witness, and a PUT would reset what the spec leaves out. */
export function missedOnce<Spec, Client>(
  part: AnyPart<Spec, Client>,
  context: ReconcileContext<Client>,
  scope: PartScope<Spec>,
): Report | undefined {
  const sight = sightOf(scope, context);
  if (sight === undefined || sight.observed !== undefined || !wasThere(part, context, scope)) return undefined;
  const secondAt = foundAbsent(part, context) + witnessesApartMs;
  if (sight.at >= secondAt) return undefined;
  scope.seen.delete(scope.claim);
  const ms = Math.max(0, secondAt - context.time.now());
  const message = `the ${part.displayName} was not found: making sure that it is gone`;
  return report('Updating', message, { retry: { kind: 'after', ms } });
}

/** What is being done about a part that is not as asked. */
export const underway = (applied: boolean): 'Updating' | 'Creating' => (applied ? 'Updating' : 'Creating');
