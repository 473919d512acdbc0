/** One entry of a Status' `details.causes`: which field is wrong and why. */
export interface StatusCause {
  readonly field?: string;
  readonly message?: string;
  readonly reason?: string;
}

/** What a KubeError is made from, whether or not the server answered with a Status. */
export interface Refusal {
  /** HTTP status code. */
  readonly status: number;
  /** A `metav1.StatusReason` such as `NotFound`; empty when the body was no Status. */
  readonly reason?: string | undefined;
  readonly message: string;
  readonly causes?: readonly StatusCause[];
  /** From `Retry-After` or `details.retryAfterSeconds`. */
  readonly retryAfterMs?: number | undefined;
}

/** The API server answered and refused: it did not do what was asked. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  /** @param doing what was being done, such as `patching ReservedAddr default/a` */
  constructor(doing: string, refusal: Refusal, options?: ErrorOptions) {
    super(`${doing}: ${refusal.message}`, options);
    this.status = refusal.status;
    this.reason = refusal.reason ?? '';
    this.causes = refusal.causes ?? [];
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

/** No usable answer: network, timeout or garbage. Whether the server acted is unknown. */
export class KubeConnectionError extends Error {
  override readonly name = 'KubeConnectionError';
  /** The server was silent for too long, as against refusing or dropping the connection. */
  readonly timedOut: boolean;

  constructor(doing: string, cause: unknown, timedOut = false) {
    super(`${doing}: ${describe(cause)}`, { cause });
    this.timedOut = timedOut;
  }
}

/** A watch ended while the process stood still: when is not known, nor how often the server began again since. */
export class StoodStillError extends KubeConnectionError {
  constructor(doing: string, cause?: unknown) {
    super(doing, new Error('the watch ended while the process stood still', { cause }));
  }
}

/** The answer was longer than was asked for; for a list, smaller pages may do. */
export class AnswerTooLargeError extends KubeConnectionError {
  constructor(doing: string, mostBytes: number) {
    super(doing, new Error(`the answer is longer than ${mostBytes} bytes`));
  }
}

/** There is no such object, by the word of the API server: a proxy without a route answers 404 too, but without a reason. */
export function isNotFound(error: unknown): error is KubeError {
  return hasStatus(error, 404) && error.reason === 'NotFound';
}

/** There is no such object, or nothing at all at that path, such as a kind that is not installed. */
export function isNothingThere(error: unknown): error is KubeError {
  return hasStatus(error, 404);
}

/** A stale resourceVersion or a field owned by another manager; an object that exists already is `isAlreadyExists`. */
export function isConflict(error: unknown): error is KubeError {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is KubeError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** The resourceVersion or continue token is too old: list again. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** The operator has no right to it. */
export function isForbidden(error: unknown): error is KubeError {
  return hasStatus(error, 403);
}

/** A write that is not admitted: by a role, a policy, a webhook or the definition, each of which answers in its own way. */
export function isDenied(error: unknown): error is KubeError {
  return error instanceof KubeError && [400, 403, 422].includes(error.status);
}

/** The namespace is being deleted, so nothing can be created in it. */
export function isNamespaceTerminating(error: unknown): error is KubeError {
  return hasStatus(error, 403) && error.causes.some((cause) => cause.reason === 'NamespaceTerminating');
}

function hasStatus(error: unknown, status: number): error is KubeError {
  return error instanceof KubeError && error.status === status;
}

/** One line; a failed connect to several addresses has an empty message of its own. */
function describe(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(describe).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
