import type { ReconcileResult } from '../controller/controller.ts';
import { isNotFound } from '../kube/errors.ts';
import { annotation, annotationOf } from './annotations.ts';
import { announce } from './announce.ts';
import { conditionsOf } from './conditions.ts';
import { conditionOf, type ManagedObject, type ManagedSpec, managedStatus } from './fields.ts';
import type { Outcome, Report, Retry } from './outcome.ts';
import { lastDue, resyncIntervalOf, type Tools } from './turn.ts';

type SettleTools<Spec extends ManagedSpec, Observed, Client> = Pick<
  Tools<Spec, Observed, Client>,
  'cache' | 'kind' | 'writer' | 'clock' | 'events' | 'log' | 'epoch' | 'resyncIntervalMs'
>;

/** The one place where an outcome becomes status, conditions, an event and the next time to look. */
export async function settle<Spec extends ManagedSpec, Observed, Client>(
  tools: SettleTools<Spec, Observed, Client>,
  key: string,
  object: ManagedObject,
  outcome: Outcome<Observed>,
): Promise<ReconcileResult> {
  if (outcome.kind === 'finished') return { kind: 'done' };
  const latest = tools.cache.get(key);
  if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return { kind: 'done' };
  const next = statusOf(tools, object, latest, outcome);
  announceFailure(tools, latest, outcome);
  try {
    await tools.writer.writeStatus(latest, next);
  } catch (error) {
    if (isNotFound(error)) return { kind: 'done' };
    throw error;
  }
  return resultOf(tools, object, outcome.retry);
}

function statusOf<Spec extends ManagedSpec, Observed, Client>(
  tools: SettleTools<Spec, Observed, Client>,
  object: ManagedObject,
  latest: ManagedObject,
  outcome: Report<Observed>,
): Readonly<Record<string, unknown>> {
  const generation = object.metadata.generation ?? 0;
  const previous = latest.status?.conditions ?? [];
  const handled =
    outcome.reason === 'Paused'
      ? latest.status?.lastHandledReconcileAt
      : (annotationOf(object, annotation.reconcileAt) ?? latest.status?.lastHandledReconcileAt);
  return {
    ...kindFields(tools, latest, outcome),
    observedGeneration: generation,
    lastHandledReconcileAt: handled,
    conditions: conditionsOf(outcome, generation, previous, new Date(tools.clock.now())),
  };
}

function kindFields<Spec extends ManagedSpec, Observed, Client>(
  tools: SettleTools<Spec, Observed, Client>,
  latest: ManagedObject,
  outcome: Report<Observed>,
): Readonly<Record<string, unknown>> {
  if (outcome.observed === 'absent') return {};
  if (outcome.observed !== undefined) return tools.kind.status(outcome.observed);
  return Object.fromEntries(Object.entries(latest.status ?? {}).filter(([field]) => !(field in managedStatus)));
}

/** Only what a person should look at, and only when it changed. */
function announceFailure<Spec extends ManagedSpec, Observed, Client>(
  tools: SettleTools<Spec, Observed, Client>,
  latest: ManagedObject,
  outcome: Report<Observed>,
): void {
  const quiet = ['Available', 'Paused', 'Creating', 'Updating', 'Deleting'].includes(outcome.reason);
  const before = conditionOf(latest, 'Ready');
  if (quiet || (before?.reason === outcome.reason && before.message === outcome.message)) return;
  announce({ ...tools, object: latest }, 'Failed', `${outcome.reason}: ${outcome.message}`);
}

function resultOf<Spec extends ManagedSpec, Observed, Client>(
  tools: SettleTools<Spec, Observed, Client>,
  object: ManagedObject,
  retry: Retry,
): ReconcileResult {
  switch (retry.kind) {
    case 'never':
      return { kind: 'done' };
    case 'after':
      return retry;
    case 'backoff':
      return retry;
    case 'resync': {
      const interval = resyncIntervalOf(object, tools.resyncIntervalMs);
      const now = tools.clock.now();
      return { kind: 'after', ms: lastDue(tools.epoch, interval, now) + interval - now, priority: 'resync' };
    }
  }
}
