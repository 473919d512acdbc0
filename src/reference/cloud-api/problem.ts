import { z } from 'zod';

/**
 * Every cause of refusal: its number (`ERR_EDGE_<n>`), status and meaning. Error bodies are not shown
 * (Cloud Management API, section 7); this table is what this server answers, one number per cause, never reused.
 */
export const problems = {
  credentialsMissing: { number: 100, status: 401, means: 'no `Authorization` header' },
  credentialsMalformed: { number: 101, status: 401, means: '`Authorization` is not `Bearer <key>`' },
  credentialsUnknown: { number: 102, status: 403, means: 'unknown API key' },
  versionMissing: { number: 110, status: 400, means: 'no `Service-Version`' },
  versionUnknown: { number: 111, status: 400, means: '`Service-Version` is not 2' },
  rateLimited: { number: 120, status: 429, means: 'too many requests; `Retry-After` says how many seconds to wait' },
  pathUnknown: { number: 200, status: 404, means: 'no such path' },
  methodNotAllowed: { number: 201, status: 405, means: 'no such method there; `Allow` lists those there are' },
  resourceUnknown: { number: 202, status: 404, means: 'no object with that id' },
  moduleUnset: { number: 203, status: 404, means: 'the module is not set on that parent' },
  requestMalformed: { number: 204, status: 400, means: 'the request, its path or a header is malformed' },
  headTooLarge: { number: 205, status: 431, means: 'path and headers are too long' },
  requestLate: { number: 206, status: 408, means: 'the request did not come in time' },
  bodyTypeWrong: {
    number: 300,
    status: 415,
    means: '`Content-Type` is not `application/json`, or the body is encoded',
  },
  bodyTooLarge: { number: 301, status: 413, means: 'the body is over 1 MiB' },
  bodyNotJson: { number: 302, status: 400, means: 'the body is not JSON in UTF-8' },
  bodyNotObject: { number: 303, status: 400, means: 'the body is not an object' },
  fieldUnknown: { number: 304, status: 400, means: 'unknown field, named' },
  fieldMissing: { number: 305, status: 400, means: 'missing field, named' },
  fieldInvalid: { number: 306, status: 400, means: 'invalid field, named' },
  metadataTooLong: { number: 307, status: 400, means: '`metadata` is over 4096 bytes of UTF-8' },
  regionUnknown: { number: 308, status: 400, means: '`region` is none of the seven' },
  referenceUnknown: { number: 309, status: 400, means: 'a field names an id that does not exist' },
  limitInvalid: { number: 320, status: 400, means: '`limit` is not 1 to 100' },
  beforeIdUnknown: { number: 321, status: 400, means: '`before_id` is unknown' },
  secretRequired: { number: 400, status: 400, means: '`secret` is missing for a provider that needs one' },
  policyInvalid: { number: 401, status: 400, means: '`value` is no traffic policy; the path in it is named' },
  upstreamMinVersion: { number: 402, status: 400, means: '`min_version` on an edge that terminates upstream' },
  upstreamDisallows: { number: 403, status: 400, means: 'the module cannot be on an edge that terminates upstream' },
  leaseTaken: { number: 410, status: 409, means: 'the endpoint is not of an agent' },
  internal: { number: 500, status: 500, means: 'a fault of the server' },
  faultInjected: { number: 900, status: 500, means: 'an injected fault' },
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

export const errorShape = z.strictObject({
  error_code: z.string().regex(/^ERR_EDGE_\d+$/),
  status_code: z.int().min(200).max(599),
  msg: z.string().describe('names the field, header or id, and what to do'),
  details: z.strictObject({ operation_id: z.string().describe('unique to the request') }),
});

/** The error body. A status of its own is for injected faults, which answer with any. */
export function errorBody(
  cause: Cause,
  message: string,
  operationId: string,
  status?: number,
): z.output<typeof errorShape> {
  const { number, status: usual } = problems[cause];
  return {
    error_code: `ERR_EDGE_${number}`,
    status_code: status ?? usual,
    msg: message,
    details: { operation_id: operationId },
  };
}
