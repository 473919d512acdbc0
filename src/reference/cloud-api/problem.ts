/**
 * Every cause of refusal: its number (`ERR_EDGE_<n>`) and status. The reference (section 7) does not show error
 * bodies; this table is what this server answers, one number per cause, never reused for another.
 */
export const problems = {
  credentialsMissing: { number: 100, status: 401 },
  credentialsMalformed: { number: 101, status: 401 },
  credentialsUnknown: { number: 102, status: 403 },
  versionMissing: { number: 110, status: 400 },
  versionUnknown: { number: 111, status: 400 },
  rateLimited: { number: 120, status: 429 },
  pathUnknown: { number: 200, status: 404 },
  methodNotAllowed: { number: 201, status: 405 },
  resourceUnknown: { number: 202, status: 404 },
  moduleUnset: { number: 203, status: 404 },
  requestMalformed: { number: 204, status: 400 },
  bodyTypeWrong: { number: 300, status: 415 },
  bodyTooLarge: { number: 301, status: 413 },
  bodyNotJson: { number: 302, status: 400 },
  bodyNotObject: { number: 303, status: 400 },
  fieldUnknown: { number: 304, status: 400 },
  fieldMissing: { number: 305, status: 400 },
  fieldInvalid: { number: 306, status: 400 },
  metadataTooLong: { number: 307, status: 400 },
  regionUnknown: { number: 308, status: 400 },
  referenceUnknown: { number: 309, status: 400 },
  limitInvalid: { number: 320, status: 400 },
  beforeIdUnknown: { number: 321, status: 400 },
  secretRequired: { number: 400, status: 400 },
  policyInvalid: { number: 401, status: 400 },
  upstreamMinVersion: { number: 402, status: 400 },
  upstreamDisallows: { number: 403, status: 400 },
  internal: { number: 500, status: 500 },
  faultInjected: { number: 900, status: 500 },
} as const;

export type Cause = keyof typeof problems;

/** A refusal with its cause; the message names the field, header or id and is sent to the caller. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly problem: Cause;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Cause, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.problem = problem;
    this.headers = headers;
  }
}

export interface ErrorBody {
  readonly error_code: string;
  readonly status_code: number;
  readonly msg: string;
  readonly details: { readonly operation_id: string };
}

/** The error body. A status of its own is for injected faults, which answer with any. */
export function errorBody(cause: Cause, message: string, operationId: string, status?: number): ErrorBody {
  const { number, status: usual } = problems[cause];
  return {
    error_code: `ERR_EDGE_${number}`,
    status_code: status ?? usual,
    msg: message,
    details: { operation_id: operationId },
  };
}
