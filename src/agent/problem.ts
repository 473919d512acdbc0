/**
 * Every cause of refusal: its number (`error_code`), status and general message. Error bodies are not
 * shown (Local Agent API, section 7); this table is what the agent answers, one number per cause, never reused.
 */
export const problems = {
  requestMalformed: { number: 100, status: 400, msg: 'malformed request' },
  hostRefused: { number: 101, status: 403, msg: 'host not allowed' },
  pathUnknown: { number: 102, status: 404, msg: 'no such path' },
  methodNotAllowed: { number: 103, status: 405, msg: 'method not allowed' },
  bodyTypeWrong: { number: 104, status: 415, msg: 'wrong content type' },
  bodyTooLarge: { number: 105, status: 413, msg: 'body too large' },
  bodyInvalid: { number: 106, status: 400, msg: 'invalid body' },
  queryInvalid: { number: 107, status: 400, msg: 'invalid query' },
  headTooLarge: { number: 108, status: 431, msg: 'head too large' },
  requestLate: { number: 109, status: 408, msg: 'request timeout' },
  definitionInvalid: { number: 110, status: 400, msg: 'invalid tunnel definition' },
  nameTaken: { number: 111, status: 400, msg: 'tunnel name in use' },
  tunnelUnknown: { number: 112, status: 404, msg: 'no such tunnel' },
  tunnelFailed: { number: 113, status: 502, msg: 'tunnel failed to start' },
  requestUnknown: { number: 120, status: 404, msg: 'no such captured request' },
  notReplayable: { number: 121, status: 400, msg: 'request cannot be replayed' },
  internal: { number: 130, status: 500, msg: 'internal error' },
  noDescriptors: { number: 131, status: 503, msg: 'no connection left' },
} as const;

export type Cause = keyof typeof problems;

/** A refusal with its cause; the message names the field, tunnel or id and is sent to the caller. */
export class AgentProblem extends Error {
  override readonly name = 'AgentProblem';
  readonly problem: Cause;

  constructor(problem: Cause, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

export interface ErrorBody {
  readonly error_code: number;
  readonly status_code: number;
  readonly msg: string;
  readonly details: { readonly err: string };
}

export function errorBody({ problem, message }: AgentProblem): ErrorBody {
  const { number, status, msg } = problems[problem];
  return { error_code: number, status_code: status, msg, details: { err: message } };
}
