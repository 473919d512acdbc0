import { annotation, annotationOf, intentOf } from '../annotations.ts';
import { accountKeyOf, externalIDOf } from '../claims.ts';
import { isDeleting } from '../context.ts';
import { announce } from '../events.ts';
import { fingerprint } from '../json.ts';
import { type Report, report } from '../outcome.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import type { IdentifiedTurn } from './context.ts';
import type { Identity } from './contract.ts';
import { resolveLostCreate, type UnresolvedCreate } from './lost-create.ts';

type Resolved = { readonly object: ManagedObject } | { readonly report: Report };

/** Wait between two look-ups while a create of unknown fate may still be carried out. */
const lookAgainMs = 2_000;

/**
 * Learns the fate of a create that was begun and never recorded, before anything else is done for the resource:
 * adopts what it made, or makes sure that it made nothing. A resource without such a create comes back as it is.
 */
export async function resolveCreate<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
): Promise<Resolved> {
  const { object, writer, ledger, uid } = turn;
  const intent = intentOf(object);
  if (intent === undefined) return { object };
  // A person named the object: that settles it.
  if (annotationOf(object, annotation.externalID) !== undefined) return { object: await writer.cancelCreate(object) };
  const made = ledger.claimOf(uid);
  if (made !== undefined) return { object: await writer.recordCreated(object, made) };
  return lookUp(turn, intent.content);
}

async function lookUp<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  recordedContent: string | undefined,
): Promise<Resolved> {
  const { kind, object, uid, ledger, memory, writer } = turn;
  const content = recordedContent ?? fingerprint(kind.content(kind.spec.parse(object.spec)));
  memory.of(uid).unresolvedSince ??= turn.startedAt;
  const settledAt = (memory.of(uid).unresolvedSince ?? turn.startedAt) + turn.createSettleMs;

  const found = await ledger.observations.sweep(Math.min(turn.startedAt, settledAt), turn.call);
  const resources = await turn.listResources();
  if (ledger.isCreating(content)) return { report: wait(turn) };
  const mine = unresolvedOf(object);
  const resolution = resolveLostCreate(
    mine,
    unresolved(turn, resources, content),
    unclaimed(turn, resources, found, content),
  );

  if (resolution.kind === 'ambiguous') return { report: ambiguous(resolution.ids) };
  if (resolution.kind === 'adopt') {
    ledger.claim(uid, resolution.id);
    const recorded = await writer.recordCreated(object, resolution.id);
    announce(turn, 'Adopted', `adopted ${kind.noun} ${resolution.id}, made by a create whose answer was lost`);
    return { object: recorded };
  }
  if (turn.startedAt < settledAt) return { report: wait(turn) };
  delete memory.of(uid).unresolvedSince;
  return { object: await writer.cancelCreate(object) };
}

function unclaimed<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  resources: readonly ManagedObject[],
  found: readonly Observed[],
  content: string,
): readonly Identity[] {
  const claimed = new Set<string | undefined>([...turn.ledger.claimedIDs(), ...resources.map(externalIDOf)]);
  return found
    .filter((observed) => fingerprint(turn.kind.contentOf(observed)) === content)
    .map((observed) => turn.kind.identity(observed))
    .filter((identity) => !claimed.has(identity.id));
}

/** Every create of this content in this account that nobody knows the fate of, mine included. */
function unresolved<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  resources: readonly ManagedObject[],
  content: string,
): readonly UnresolvedCreate[] {
  const account = accountKeyOf(turn.object);
  const others = resources.filter(
    (resource) =>
      resource.metadata.uid !== turn.uid &&
      intentOf(resource)?.content === content &&
      accountKeyOf(resource) === account &&
      externalIDOf(resource) === undefined &&
      turn.ledger.claimOf(resource.metadata.uid ?? '') === undefined,
  );
  return [turn.object, ...others].map(unresolvedOf);
}

function unresolvedOf(object: ManagedObject): UnresolvedCreate {
  return { uid: object.metadata.uid ?? '', begunAt: Date.parse(intentOf(object)?.at ?? '') || 0 };
}

function wait<Spec extends ManagedSpec, Observed, Client>(turn: IdentifiedTurn<Spec, Observed, Client>): Report {
  const reason = isDeleting(turn.object) ? 'Deleting' : 'Creating';
  const message = `looking for what an unanswered create of the ${turn.kind.noun} may have made`;
  return report(reason, message, { retry: { kind: 'after', ms: lookAgainMs } });
}

function ambiguous(ids: readonly string[]): Report {
  const message =
    `an unanswered create may have made any of ${ids.join(', ')}: set the annotation ${annotation.externalID} to the ` +
    `one to keep, or remove the annotation ${annotation.createIntent} to create another`;
  return report('AmbiguousCreate', message);
}
