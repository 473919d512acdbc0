import { isUsableID } from '../../../common/cloud-id.ts';
import type { ReconcileResult } from '../../controller/controller.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/types.ts';
import type { Time } from '../context.ts';
import type { Installation } from '../ownership/installation.ts';
import { annotation, annotationOf } from '../resource/annotations.ts';
import {
  conditionOf,
  isOlder,
  type ManagedObject,
  type ManagedStatus,
  managedStatus,
  type Ownership,
  type ResourceCache,
} from '../resource/resource.ts';
import type { Schedule } from '../schedule.ts';
import { conditionsFor, shown } from './conditions.ts';
import { emit, type Telling } from './events.ts';
import type { Outcome, Report, Retry } from './outcome.ts';
import type { Reason } from './reasons.ts';
import type { Unkept } from './unkept.ts';

export interface StatusOptions extends Telling {
  readonly cache: Pick<ResourceCache, 'get'>;
  readonly writer: {
    /** As ObjectWriter does. */
    writeStatus(object: ManagedObject, next: Readonly<Record<string, unknown>>): Promise<Pick<ManagedObject, 'status'>>;
    isThere(object: ManagedObject): Promise<boolean>;
  };
  readonly unkept: Unkept;
  readonly time: Pick<Time, 'wall'>;
  readonly schedule: Pick<Schedule, 'msUntilDue'>;
  readonly installation: Pick<Installation, 'name' | 'wrote'>;
  /** Types of the conditions beside Ready that are this kind's. */
  readonly conditions: readonly string[];
  /** Of those, what a resource has by its spec. */
  readonly conditionsOf: (object: ManagedObject) => readonly string[];
  /** What is on record of a resource of which nothing was found out. */
  readonly ownershipOf: (object: ManagedObject) => Ownership;
  /** This reconcile has told of something that it did. */
  readonly hasTold: () => boolean;
}

/** Kubernetes has the resource, and nothing by which its status could be written. */
class NoStatusError extends Error {
  override readonly name = 'NoStatusError';

  constructor(object: ManagedObject, options: ErrorOptions) {
    super(
      `writing the status of ${object.kind} ${keyOf(object)}: the resource is there, and has no status subresource; ` +
        'are the definitions of this release installed?',
      options,
    );
  }
}

/** The one place where an outcome becomes status, conditions, an event and the next time to look. */
export async function conclude(
  options: StatusOptions,
  key: string,
  object: ManagedObject,
  outcome: Outcome,
): Promise<ReconcileResult> {
  if (outcome.kind === 'finished') return { kind: 'done' };
  const latest = options.cache.get(key);
  if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return { kind: 'done' };
  if (isOlder(latest, object)) return { kind: 'backoff' };
  tell(options, latest, outcome);
  const { writer, installation, unkept, log } = options;
  try {
    const next = statusOf(options, object, latest, outcome);
    const { status } = await writer.writeStatus(latest, next);
    if (outcome.isForeign !== true) installation.wrote(latest);
    const result = resultOf(options, object, outcome.retry);
    const isUnkept = status !== latest.status && unkept.look({ ...status }, next, object.kind, log);
    // What waits for nothing but its record would wait for ever, and ask all the time.
    return isUnkept && result.kind === 'after' && result.ms === 0 ? { kind: 'backoff' } : result;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (await writer.isThere(latest)) throw new NoStatusError(latest, { cause: error });
    return { kind: 'done' };
  }
}

/** Whatever else is waited for, drift is looked for when it is due. */
function resultOf(options: StatusOptions, object: ManagedObject, retry: Retry): ReconcileResult {
  if (retry.kind === 'never') return { kind: 'done' };
  if (retry.kind !== 'backoff') return { kind: 'after', ms: msUntil(options, object, retry), priority: 'resync' };
  const { atLeastMs, besides } = retry;
  return { kind: 'backoff', atLeastMs, atMostMs: besides && Math.max(soonestMs, msUntil(options, object, besides)) };
}

/** What is in trouble is tried again with the rest, and not over and over. */
const soonestMs = 10_000;

function msUntil({ schedule }: StatusOptions, object: ManagedObject, retry: Retry): number {
  const due = schedule.msUntilDue(object);
  return retry.kind === 'after' ? Math.min(retry.ms, due) : due;
}

function statusOf(
  options: StatusOptions,
  object: ManagedObject,
  latest: ManagedObject,
  outcome: Report,
): Readonly<Record<string, unknown>> {
  const generation = object.metadata.generation ?? 0;
  const before = latest.status ?? {};
  const kept = Object.entries(before).filter(([field]) => !(field in managedStatus));
  const fields = outcome.fields ?? Object.fromEntries(kept);
  const ownership = outcome.ownership ?? options.ownershipOf({ ...object, status: before });
  return {
    ...fields,
    observedGeneration: generation,
    ...handledIn(object, latest, outcome, fields.id),
    ownership:
      outcome.isForeign === true ? before.ownership : { ...ownership, installation: options.installation.name },
    conditions: conditionsFor(outcome, generation, {
      ...{ own: options.conditions, asked: options.conditionsOf(object) },
      ...{ previous: before.conditions ?? [], now: new Date(options.time.wall()) },
    }),
  };
}

/** What a person asked for: nobody has looked at that while it is paused, and where it is another installation's only that one does. */
function handledIn(
  object: ManagedObject,
  latest: ManagedObject,
  { reason, isForeign }: Report,
  id: unknown,
): ManagedStatus {
  const { lastHandledReconcileAt, lastHandledExternalID } = latest.status ?? {};
  if (reason === 'Paused' || isForeign === true) return { lastHandledReconcileAt, lastHandledExternalID };
  return {
    lastHandledReconcileAt: annotationOf(object, annotation.reconcileAt) ?? lastHandledReconcileAt,
    lastHandledExternalID: lookedFor(object, latest, id),
  };
}

/** The external id that was named and looked for; none where the id says so, as after it was recorded. */
function lookedFor(object: ManagedObject, latest: ManagedObject, id: unknown): string | undefined {
  const named = annotationOf(object, annotation.externalID);
  const isRecorded = [object, latest].some((each) => annotationOf(each, annotation.externalID) === id);
  // What is no id was looked for by nobody, and may be as long as an annotation.
  return isRecorded || named === undefined || !isUsableID(named) ? undefined : named;
}

const onTheirWay: ReadonlySet<string> = new Set<Reason>(['Available', 'Paused', 'Creating', 'Updating', 'Deleting']);

/** Only what a person should look at, and only when it changed; and when it is over, where nothing else says so. */
function tell(options: StatusOptions, latest: ManagedObject, outcome: Report): void {
  const before = conditionOf(latest, 'Ready');
  const { reason, message, operationID, isPending } = outcome;
  if (reason === 'Available' && before?.status === 'False' && !onTheirWay.has(before.reason)) {
    if (!options.hasTold()) emit(options, latest, 'Recovered', `Ready again, after ${before.reason}`);
    return;
  }
  if (onTheirWay.has(reason) || isPending === true) return;
  if (before?.reason === reason && before.message === shown(message)) return;
  emit(options, latest, 'Failed', `${reason}: ${message}`, operationID === undefined ? {} : { operationID });
}
