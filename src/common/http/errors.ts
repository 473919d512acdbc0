/** The condition reason that an error becomes; what `NotFound` means is for the caller to say. */
export type ApiErrorReason = 'RateLimited' | 'Unauthorized' | 'Unreachable' | 'Rejected' | 'Conflict' | 'NotFound';

export interface ApiErrorOptions {
  readonly operation?: string | undefined;
  readonly reason: ApiErrorReason;
  readonly definite: boolean;
  readonly status?: number | undefined;
  readonly code?: string | number | undefined;
  readonly operationID?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly isForbidden?: boolean;
  readonly isTooLarge?: boolean;
  readonly cause?: unknown;
}

/** Why a call of a service failed. Messages are stable, one line, and free of secrets. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Such as `reserved_addrs.create`; the message begins with it. */
  readonly operation: string | undefined;
  readonly reason: ApiErrorReason;
  /** The service certainly did not carry the request out: it was not sent, or refused it in words of its own. */
  readonly definite: boolean;
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** The service's own, its `error_code`. */
  readonly code: string | number | undefined;
  /** By which the service's people find the request; another one each time, so for logs alone. */
  readonly operationID?: string;
  /** How long the service wants to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The service takes the credential, but not for this. */
  readonly isForbidden: boolean;
  /** The answer is more than is read of one. */
  readonly isTooLarge: boolean;

  constructor(message: string, options: ApiErrorOptions) {
    const { operation, reason, definite, status, code, operationID, retryAfterMs, cause } = options;
    super(operation === undefined ? message : `${operation}: ${message}`, cause === undefined ? {} : { cause });
    this.operation = operation;
    this.reason = reason;
    this.definite = definite;
    this.status = status;
    this.code = code;
    this.isForbidden = options.isForbidden === true;
    this.isTooLarge = options.isTooLarge === true;
    if (operationID !== undefined) this.operationID = operationID;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}
