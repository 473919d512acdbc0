import type { Refusal, Unforeseen } from '../../common/http-server/refusal.ts';
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

/** What is not a refusal is reported and answered 500 without its message. */
export function refusal(
  error: unknown,
  unforeseen: Unforeseen,
  { newId, onFailure }: { readonly newId: NewId; readonly onFailure: OnFailure },
): Refusal {
  const operationId = newId('op');
  const { problem, message, headers } =
    error instanceof ApiProblem ? error : new ApiProblem(unforeseen.cause, unforeseen.message);
  if (problem === 'internal') onFailure(operationId, error);
  return { status: problems[problem].status, headers, body: errorBody(problem, message, operationId) };
}
