import type { ApiError } from '../../../../common/http/errors.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { type Report, report } from '../../../reconcile/status/outcome.ts';
import { isReason, type Reason } from '../../../reconcile/status/reasons.ts';

/** The end of a replay. Nothing follows it but the removal of its resource. */
export interface Finished {
  /** RFC 3339. */
  readonly at: string;
  /** Why it failed for good; undefined when the request was replayed. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly reason: Reason;
  readonly message: string;
}

/**
 * What the status says of it; undefined while it is not finished. Of one that somebody wrote other conditions for no success
 * is made.
 *
 * @param seen the end, where this process saw it
 */
export function finishedIn(object: ManagedObject, seen?: Finished): Finished | undefined {
  const at = object.status?.completedAt;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return undefined;
  const failed = conditionOf(object, 'Failed');
  if (failed?.status === 'True') {
    const reason = isReason(failed.reason) ? failed.reason : 'OutcomeUnknown';
    return { at, failure: { reason, message: failed.message } };
  }
  if (conditionOf(object, 'Complete')?.status === 'True') return { at };
  return seen ?? { at, failure: outcomeUnknown('the status says that the replay ended, and not how') };
}

export function reportOf({ at, failure }: Finished, requestID: string): Report {
  const fields = { completedAt: at };
  if (failure === undefined) {
    const done = report(
      'Available',
      `request ${requestID} was replayed; how it went is among the captured requests of the agent`,
      { retry: { kind: 'never' } },
    );
    return { ...done, fields, parts: [{ condition: 'Complete', status: 'True', report: done }] };
  }
  const failed = report(failure.reason, failure.message, { stalled: true, retry: { kind: 'never' } });
  return { ...failed, fields, parts: [{ condition: 'Failed', status: 'True', report: failed }] };
}

/** What is to be said of a replay whose intent is recorded and whose end nobody knows. */
export function unknown(intent: string, cause?: unknown): Failure {
  const [begunAt] = intent.split(' ', 1);
  const why = cause instanceof Error ? cause.message : 'the operator was interrupted';
  return outcomeUnknown(`it cannot be known whether the replay begun at ${begunAt} was carried out (${why})`);
}

function outcomeUnknown(why: string): Failure {
  const whatToDo = 'look at the captured requests of the agent, and create another RequestReplay to run it again';
  return { reason: 'OutcomeUnknown', message: `${why}, and it is not repeated; ${whatToDo}` };
}

/** The agent understood, and would say the same again. */
export function isFinal({ reason }: ApiError): boolean {
  return reason === 'NotFound' || reason === 'Rejected';
}

export function refusal({ reason, message }: ApiError): Failure {
  return { reason: reason === 'NotFound' ? 'ExternalNotFound' : reason, message };
}

/** Milliseconds until the resource is to be removed, 0 when it is time; undefined for never. */
export function msToRemoval({ at }: Finished, ttlSeconds: unknown, now: number): number | undefined {
  if (typeof ttlSeconds !== 'number') return undefined;
  return Math.max(0, Date.parse(at) + ttlSeconds * 1_000 - now);
}
