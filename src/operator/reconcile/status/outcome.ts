import { ApiError } from '../../../common/http/errors.ts';
import type { Ownership } from '../resource/resource.ts';
import type { Reason } from './reasons.ts';

/**
 * When to look again without being asked:
 * `resync` at the object's next drift check; `backoff` exponentially (1 s to 5 min), or with what else there is to do, where
 * that comes sooner, and never before `atLeastMs`.
 */
export type Retry =
  | { readonly kind: 'never' }
  | { readonly kind: 'resync' }
  | { readonly kind: 'after'; readonly ms: number }
  | { readonly kind: 'backoff'; readonly atLeastMs?: number; readonly besides?: Besides };

export type Besides = { readonly kind: 'resync' } | { readonly kind: 'after'; readonly ms: number };

/** What one reconcile came to. Everything that follows from it is done in status.ts. */
export type Outcome =
  /** Nothing is left to report: the resource may go. */
  | { readonly kind: 'finished' }
  | {
      readonly kind: 'reported';
      readonly reason: Reason;
      readonly message: string;
      /** Only a change by a person (or time) helps; else the operator is on its way. Meaningless for Available. */
      readonly stalled: boolean;
      readonly retry: Retry;
      /** The kind's own status fields; without them those that are there stay. */
      readonly fields?: Readonly<Record<string, unknown>>;
      /** Conditions of parts, beside Ready. */
      readonly parts?: readonly PartReport[];
      /** What the resource holds from now on; without it what is on record stays. */
      readonly ownership?: Ownership;
      /** Of the request that failed, as the service has it: for the log alone. */
      readonly operationID?: string;
      /** Nothing that a person should look at. */
      readonly isPending?: boolean;
      /** Another installation manages the resource: nothing but the condition is ours to write. */
      readonly isForeign?: boolean;
      /** What was attempted is in vain until something else changes: for how long it is left at first (refusals.ts); 0: there is more to do. */
      readonly pauseMs?: number;
    };

export type Report = Extract<Outcome, { kind: 'reported' }>;

/** How one part of a resource does: a condition of its own. */
export interface PartReport {
  /** Such as `SamlReady`. */
  readonly condition: string;
  /** Default True where the report says Available; a condition such as Failed is True where it does not. */
  readonly status?: 'True';
  readonly report: Report;
}

/** At most six tries an hour of what the cloud refused. */
export const rejectedRetryMs = 10 * 60_000;
/** A refused credential is not worth a call every second. */
const unauthorizedRetryMs = 10_000;
/** What may come, settle or be allowed is tried again after so long, at first. */
export const firstPauseMs = { unsettled: 5_000, forbidden: 60_000 };

const policy: Readonly<Record<Reason, { readonly stalled: boolean; readonly retry: Retry }>> = {
  Available: { stalled: false, retry: { kind: 'resync' } },
  Creating: { stalled: false, retry: { kind: 'after', ms: 1_000 } },
  Updating: { stalled: false, retry: { kind: 'backoff' } },
  Deleting: { stalled: false, retry: { kind: 'after', ms: 1_000 } },
  Paused: { stalled: true, retry: { kind: 'never' } },
  DependencyNotReady: { stalled: false, retry: { kind: 'backoff' } },
  RateLimited: { stalled: false, retry: { kind: 'backoff' } },
  Unauthorized: { stalled: true, retry: { kind: 'backoff', atLeastMs: unauthorizedRetryMs } },
  Unreachable: { stalled: false, retry: { kind: 'backoff' } },
  Rejected: { stalled: true, retry: { kind: 'after', ms: rejectedRetryMs } },
  Conflict: { stalled: true, retry: { kind: 'resync' } },
  AmbiguousCreate: { stalled: true, retry: { kind: 'resync' } },
  ExternalNotFound: { stalled: true, retry: { kind: 'resync' } },
  DriftDetected: { stalled: true, retry: { kind: 'resync' } },
  OutcomeUnknown: { stalled: true, retry: { kind: 'never' } },
};

export function report(
  reason: Reason,
  message: string,
  more: Partial<Omit<Report, 'kind' | 'reason' | 'message'>> = {},
): Report {
  return { kind: 'reported', reason, message, ...policy[reason], ...more };
}

/** The one place where an error becomes a condition and a retry. Rethrows what is no failed call. */
export function reportFailure(error: unknown): Report {
  if (error instanceof RefusedError) return report('Rejected', error.message);
  if (error instanceof UnrecordedError) return report('DependencyNotReady', error.message, error.more);
  if (error instanceof DependencyError) {
    const more = error instanceof MissingError ? { pauseMs: firstPauseMs.unsettled } : {};
    return report('DependencyNotReady', error.message, error.isPending ? { ...more, isPending: true } : more);
  }
  if (!(error instanceof ApiError)) throw error;
  if (error.cause instanceof DependencyError) return reportFailure(error.cause);
  if (error.cause instanceof BehindError) return report('Updating', error.cause.message, soon);
  const { operationID } = error;
  return { ...report(reasonOf(error), error.message, retryOf(error)), ...(operationID && { operationID }) };
}

const soon = { isPending: true, retry: { kind: 'after', ms: 500 } } as const;

function reasonOf(failure: ApiError): Reason {
  return failure.reason === 'NotFound' ? 'ExternalNotFound' : failure.reason;
}

function retryOf(failure: ApiError): Partial<Report> {
  const { reason, retryAfterMs, isForbidden } = failure;
  const pause = isForbidden ? { pauseMs: firstPauseMs.forbidden } : {};
  // Gone between our look and our call, or a conflict at the cloud: looking again soon settles it, or nothing does.
  if (reason === 'NotFound' || reason === 'Conflict')
    return { stalled: false, retry: { kind: 'backoff' }, pauseMs: firstPauseMs.unsettled };
  if (retryAfterMs !== undefined && reason !== 'Rejected')
    return { retry: { kind: 'backoff', atLeastMs: retryAfterMs }, ...pause };
  return pause;
}

/** As {@link reportFailure}, of a resource that is to go. */
export function reportDeleteFailure(error: unknown): Report {
  const failure = reportFailure(error);
  return { ...failure, message: `deleting: ${failure.message}` };
}

/** Something that this resource refers to is not there or not usable yet. */
export class DependencyError extends Error {
  override readonly name: string = 'DependencyError';
  /** It comes, or goes, by the operator's own work: nobody need look at it. */
  readonly isPending: boolean;

  constructor(
    message: string,
    { isPending = false, ...options }: ErrorOptions & { readonly isPending?: boolean } = {},
  ) {
    super(message, options);
    this.isPending = isPending;
  }
}

/** The service has nothing that it could be done to. */
export class MissingError extends DependencyError {
  override readonly name = 'MissingError';
}

/** What this resource refers to is not read yet: nothing is to be said of it, for it may be there. */
export class UnreadError extends DependencyError {
  override readonly name = 'UnreadError';
}

/** Kubernetes does not keep what is to be on record of this resource: nothing may be done that relies on it. Of calls it says nothing. */
export class UnrecordedError extends Error {
  override readonly name: string = 'UnrecordedError';
  /** Of its report. */
  readonly more: Partial<Pick<Report, 'retry'>> = {};
}

/** What is on record of this resource is taken away as soon as it is there: it is put back later and later. */
export class ContestedError extends UnrecordedError {
  override readonly name = 'ContestedError';
  override readonly more: Pick<Report, 'retry'>;

  /** @param ms until it is put back */
  constructor(ms: number) {
    super(
      "somebody else takes the operator's annotations or finalizer away again and again, and so they are put back less often: stop that",
    );
    this.more = { retry: { kind: 'after', ms } };
  }
}

/** What was read of this resource is behind: nothing is to be done, or said, by it. */
export class BehindError extends Error {
  override readonly name = 'BehindError';
}

/** What this resource asks for is not for it to have: only another spec, or an administrator, helps. */
export class RefusedError extends DependencyError {
  override readonly name = 'RefusedError';
}

/** Something is not read yet, or not as it is now: soon it will be. */
export function isTooSoon(error: unknown): error is UnreadError | BehindError {
  return error instanceof UnreadError || error instanceof BehindError;
}
