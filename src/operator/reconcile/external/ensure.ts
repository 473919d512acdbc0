import { annotation, annotationOf } from '../annotations.ts';
import { externalIDOf } from '../claims.ts';
import { announce } from '../events.ts';
import { type Outcome, type Report, report, reportFailure } from '../outcome.ts';
import { notTaken } from '../refusals.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import type { IdentifiedTurn } from './context.ts';
import { createSafely } from './create.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { resolveCreate } from './resolve-create.ts';

const firstRepeatMs = 1_000;
const longestRepeatMs = 300_000;

/** Makes the external object be as the spec asks: observe, decide, act, until there is nothing left to do. */
export async function ensure<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  spec: Spec,
): Promise<Outcome> {
  const { kind, writer } = turn;
  const resolved = await resolveCreate(turn);
  if ('report' in resolved) return resolved.report;
  let object = resolved.object;
  const sent = new Set<string>();
  for (;;) {
    const id = externalIDOf(object);
    const observed = id === undefined ? undefined : await observe(turn, id);
    const differences = observed === undefined ? [] : kind.diff(spec, observed);
    const action = decide({
      noun: kind.noun,
      managementPolicy: spec.managementPolicy,
      id,
      imported: isImported(object, id),
      exists: observed !== undefined,
      differences,
    });
    switch (action.kind) {
      case 'none':
        announceImport(turn, object, id);
        object = await keepRecord(turn, object, id);
        return report('Available', `${kind.noun} ${id} is as the spec asks`, {
          fields: kind.status(observed as Observed),
        });
      case 'stop':
        return report(action.reason, action.message, { fields: observed === undefined ? {} : kind.status(observed) });
      case 'create':
        try {
          object = await createSafely(turn, object, spec);
        } catch (error) {
          // Whatever the status showed is gone: this very create was to replace it.
          return { ...laterAndLater(turn, reportFailure(error)), fields: {} };
        }
        break;
      case 'update': {
        const ignored = action.fields.filter((field) => sent.has(field)).map((field) => `spec.${field}`);
        if (ignored.length > 0) return { ...notTaken(kind.noun, ignored), fields: kind.status(observed as Observed) };
        object = await writer.addFinalizer(object);
        await update(turn, spec, id as string, action.fields);
        for (const field of action.fields) sent.add(field);
      }
    }
  }
}

/** Each create of unknown fate is looked up in short steps, which must not make the next one come as soon as the first. */
function laterAndLater<Spec extends ManagedSpec, Observed, Client>(
  { memory, uid }: IdentifiedTurn<Spec, Observed, Client>,
  failure: Report,
): Report {
  const { lostCreates = 0 } = memory.of(uid);
  if (lostCreates === 0 || failure.retry.kind !== 'backoff') return failure;
  const waitMs = Math.min(firstRepeatMs * 2 ** (lostCreates - 1), longestRepeatMs);
  return { ...failure, retry: { kind: 'backoff', atLeastMs: Math.max(waitMs, failure.retry.atLeastMs ?? 0) } };
}

async function update<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  spec: Spec,
  id: string,
  fields: readonly string[],
): Promise<void> {
  const { kind, ledger, clock } = turn;
  const observed = await kind.update(turn.account.client, id, spec, new Set(fields), turn.call);
  ledger.observations.record(observed, clock.now());
  const what = `${fields.join(', ')} of ${kind.noun} ${id}`;
  if (turn.drift) announce(turn, 'DriftCorrected', `put back ${what}`);
  else announce(turn, 'Updated', `updated ${what}`);
  if (turn.drift) turn.onDriftCorrected?.();
}

/** Whatever is managed must be held by the finalizer, and its id must be on durable record. */
async function keepRecord<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  object: ManagedObject,
  id: string | undefined,
): Promise<ManagedObject> {
  const recorded = annotationOf(object, annotation.externalID);
  const kept = recorded === undefined && id !== undefined ? await turn.writer.restoreID(object, id) : object;
  return object.spec.managementPolicy === 'Observe' ? kept : turn.writer.addFinalizer(kept);
}

function isImported(object: ManagedObject, id: string | undefined): boolean {
  return annotationOf(object, annotation.externalID) !== undefined && annotationOf(object, annotation.createdID) !== id;
}

function announceImport<Spec extends ManagedSpec, Observed, Client>(
  turn: IdentifiedTurn<Spec, Observed, Client>,
  object: ManagedObject,
  id: string | undefined,
): void {
  if (!isImported(object, id) || object.status?.id === id) return;
  announce(turn, 'Adopted', `adopted ${turn.kind.noun} ${id}, named by ${annotation.externalID}`);
}
