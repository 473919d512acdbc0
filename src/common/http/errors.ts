/** The condition reason that an error becomes; what `NotFound` means is for the caller to say. */
export type CloudErrorReason = 'RateLimited' | 'Unauthorized' | 'Unreachable' | 'Rejected' | 'Conflict' | 'NotFound';

export interface CloudErrorOptions {
  readonly operation: string;
  readonly reason: CloudErrorReason;
  readonly definite: boolean;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Why an operation of the Cloud Management API failed. Messages are stable, one line, and free of secrets. */
export abstract class CloudError extends Error {
  /** Such as `reserved_addrs.create`. */
  readonly operation: string;
  readonly reason: CloudErrorReason;
  /** The service certainly did not carry the request out. */
  readonly definite: boolean;
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** The service's `error_code`. */
  readonly code: string | undefined;
  /** From the answer's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: CloudErrorOptions) {
    super(`${options.operation}: ${message}`, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.operation = options.operation;
    this.reason = options.reason;
    this.definite = options.definite;
    this.status = options.status;
    this.code = options.code;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The service said no: a status that is not a success. Definite for every 4xx. */
export class CloudRefusalError extends CloudError {}

/** No answer: the request could not be sent, or the connection failed, timed out or was aborted. */
export class CloudTransportError extends CloudError {}

/** An answer that the reference document does not allow: not JSON, a wrong type, too large, a loop of pages. */
export class CloudResponseError extends CloudError {}
