/** The condition reason that an error becomes; what `NotFound` means is for the caller to say. */
export type AgentErrorReason = 'RateLimited' | 'Unauthorized' | 'Unreachable' | 'Rejected' | 'Conflict' | 'NotFound';

export interface AgentErrorOptions {
  readonly operation: string;
  readonly reason: AgentErrorReason;
  readonly definite: boolean;
  readonly status?: number | undefined;
  readonly code?: number | undefined;
  readonly cause?: unknown;
}

/** Why an operation of the Local Agent API failed. Messages are stable and one line. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  /** Such as `tunnels.start`. */
  readonly operation: string;
  readonly reason: AgentErrorReason;
  /** The agent certainly did not carry the request out: it was not sent, or answered with a 4xx. */
  readonly definite: boolean;
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** The agent's `error_code`. */
  readonly code: number | undefined;

  constructor(message: string, { operation, reason, definite, status, code, cause }: AgentErrorOptions) {
    super(`${operation}: ${message}`, cause === undefined ? {} : { cause });
    this.operation = operation;
    this.reason = reason;
    this.definite = definite;
    this.status = status;
    this.code = code;
  }
}
