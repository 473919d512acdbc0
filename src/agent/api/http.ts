import type { Refusal, Unforeseen } from '../../common/http-server/refusal.ts';
import type { Log } from '../../common/log.ts';
import { isExhaustion } from '../descriptors/exhausted.ts';
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

/** What is not a refusal is logged and answered 500 without its message. */
export function refusal(error: unknown, unforeseen: Unforeseen, log: Log): Refusal {
  const problem = error instanceof AgentProblem ? error : problemOf(error, unforeseen);
  if (problem.problem === 'internal') log.error('request failed', { error: String(error) });
  return { status: problems[problem.problem].status, body: errorBody(problem) };
}

function problemOf(error: unknown, { cause, message }: Unforeseen): AgentProblem {
  if (!(error instanceof Error && isExhaustion(error))) return new AgentProblem(cause, message);
  return new AgentProblem('noDescriptors', `the agent can open nothing for it: ${error.message}`, { cause: error });
}
