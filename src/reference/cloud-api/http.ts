import type { FastifyReply } from 'fastify';
import type { NewId } from './ids.ts';
import { ApiProblem, errorBody, problems } from './problem.ts';

/** Told of each request that failed by a fault of the server; `operationId` is what its caller was answered. */
export type OnFailure = (operationId: string, error: unknown) => void;

/** The body as JSON; undefined when it is empty. @throws ApiProblem */
export function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ApiProblem('bodyNotJson', 'the body is not valid JSON in UTF-8');
  }
}

/** Answers with the error body; what is not a refusal is reported and answered 500 without its message. */
export function answerError(
  error: unknown,
  reply: FastifyReply,
  { newId, onFailure }: { readonly newId: NewId; readonly onFailure: OnFailure },
): void {
  const operationId = newId('op');
  const problem = error instanceof ApiProblem ? error : problemOf(error);
  if (problem.problem === 'internal') onFailure(operationId, error);
  reply
    .code(problems[problem.problem].status)
    .headers(problem.headers)
    .type('application/json')
    .send(JSON.stringify(errorBody(problem.problem, problem.message, operationId)));
}

/** Refusals of the HTTP framework, by its error code. */
function problemOf(error: unknown): ApiProblem {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiProblem('bodyTypeWrong', 'header "Content-Type" must be application/json');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiProblem('bodyTooLarge', 'the body must be at most 1 MiB');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiProblem('requestMalformed', 'the path or length header is malformed');
    default:
      return new ApiProblem('internal', 'something went wrong in the server');
  }
}
