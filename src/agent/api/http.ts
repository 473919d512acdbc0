import type { FastifyReply } from 'fastify';
import type { Log } from '../../common/log.ts';
import { AgentProblem, errorBody, problems } from '../problem.ts';

/** The body as a JSON object. @throws AgentProblem */
export function readJson(body: Buffer): object {
  const value = parse(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new AgentProblem('bodyInvalid', 'the body must be a JSON object');
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new AgentProblem('bodyInvalid', 'the body is not valid JSON in UTF-8', { cause });
  }
}

/** Answers with the error body; what is not a refusal is logged and answered 500 without its message. */
export function answerError(error: unknown, reply: FastifyReply, log: Log): void {
  const problem = error instanceof AgentProblem ? error : problemOf(error);
  if (problem.problem === 'internal') log.error('request failed', { error: String(error) });
  reply
    .code(problems[problem.problem].status)
    .type('application/json')
    .send(JSON.stringify(errorBody(problem)));
}

/** Refusals of the HTTP framework, by its error code. */
function problemOf(error: unknown): AgentProblem {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AgentProblem('bodyTypeWrong', 'header "Content-Type" must be application/json');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AgentProblem('bodyTooLarge', 'the body must be at most 1 MiB');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AgentProblem('requestMalformed', 'the path or length header is malformed');
    default:
      return new AgentProblem('internal', 'something went wrong in the agent');
  }
}
