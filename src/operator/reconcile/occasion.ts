import type { Priority } from '../../common/priority.ts';
import { externalIDOf, unusableID } from './ownership/ownership.ts';
import { annotation, annotationOf } from './resource/annotations.ts';
import type { Facts } from './resource/memory.ts';
import { conditionOf, isDeleting, type ManagedObject } from './resource/resource.ts';
import type { Schedule } from './schedule.ts';
import type { Reason } from './status/reasons.ts';

/** What one reconcile is to answer. */
export interface Occasion {
  /** On the monotonic clock. */
  readonly startedAt: number;
  /** A person asked for something that no reconcile has answered yet. */
  readonly requested: boolean;
  /** A difference now is drift, not a change that a person made to the spec. */
  readonly drift: boolean;
  /** The last moment at which the resource was due for a drift check. */
  lastDue(): number;
}

export function occasionOf(object: ManagedObject, facts: Facts, schedule: Schedule, startedAt: number): Occasion {
  return {
    startedAt,
    requested: isRequested(object),
    drift: isDrift(object, facts),
    lastDue: () => schedule.lastDue(object),
  };
}

/** What was observed from this moment on answers the occasion: what a person requested for is to be looked at afresh. */
export function freshSince({ occasion, facts }: { readonly occasion: Occasion; readonly facts: Facts }): number {
  if (occasion.requested) return occasion.startedAt;
  return Math.max(occasion.lastDue(), facts.failedAt ?? Number.NEGATIVE_INFINITY);
}

/** The value of reconcile-at that was not acted on yet. */
export function unhandledReconcileAt(object: ManagedObject): string | undefined {
  const wanted = annotationOf(object, annotation.reconcileAt);
  return wanted === object.status?.lastHandledReconcileAt ? undefined : wanted;
}

export function isRequested(object: ManagedObject): boolean {
  if (unhandledReconcileAt(object) !== undefined) return true;
  if (isToLookFor(object)) return true;
  const ready = conditionOf(object, 'Ready');
  return ready?.observedGeneration !== object.metadata.generation || ready?.reason === 'Paused';
}

/** Another external id is named than the last reconcile looked for. */
function isToLookFor(object: ManagedObject): boolean {
  const { lastHandledExternalID: handled, id } = object.status ?? {};
  const named = annotationOf(object, annotation.externalID);
  // What is no id is looked for by nobody.
  if ((named ?? handled) === undefined || unusableID(object) !== undefined) return false;
  // Who names none any more goes on with the one of before.
  return (named ?? externalIDOf(object)) !== (handled ?? id);
}

/** Reasons under which something that a person requested for is still to be done. */
const pending: ReadonlySet<string> = new Set<Reason>([
  'Creating',
  'Updating',
  'DependencyNotReady',
  'RateLimited',
  'Unauthorized',
  'Unreachable',
]);

/** Those under which drift checks fail too, all at once. */
const outages: ReadonlySet<string> = new Set<Reason>(['RateLimited', 'Unreachable']);

/** What has failed for so long is no news: what a person asks for now goes before it. */
const newsMs = 120_000;

export function priorityOf(object: ManagedObject, facts: Facts): Priority {
  const reason = conditionOf(object, 'Ready')?.reason ?? '';
  // What it asks for was tried, and has nothing to be done to, or is not for this key.
  const isVain = facts.refused?.values().some((refusal) => refusal.reason === reason);
  const done = isVain || (outages.has(reason) && facts.realizedGeneration === object.metadata.generation);
  const isDue = (isDeleting(object) || pending.has(reason)) && !done;
  const { since, at } = facts.failing ?? { since: 0, at: 0 };
  if (isRequested(object) || (isDue && at - since < newsMs)) return 'change';
  return facts.observed === true && !isDue ? 'resync' : 'first';
}

/** The external object was once as this generation asks: a difference now came from elsewhere. */
export function isDrift(object: ManagedObject, facts: Facts): boolean {
  const { generation } = object.metadata;
  const ready = conditionOf(object, 'Ready');
  const reported = ready?.status === 'True' && ready.observedGeneration === generation;
  return reported || facts.realizedGeneration === generation;
}
