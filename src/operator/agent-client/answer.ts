import { z } from 'zod';
import { describeIssue, oneLine, parseJSON } from '../../common/http/text.ts';
import { AgentError, type AgentErrorReason } from './errors.ts';

/** One HTTP answer, with what is needed to judge it. */
export interface Answer {
  readonly operation: string;
  readonly status: number;
  readonly text: string;
}

/** What an answer means to an operation; throws an AgentError for every other answer. */
export type Read<T> = (answer: Answer) => T;

/** `status` with a body of this shape. */
export function body<T>(status: 200 | 201, schema: z.ZodType<T>): Read<T> {
  return (answer) => {
    if (answer.status !== status) throw refusal(answer);
    const value = parseJSON(answer.text);
    if (value === undefined) throw malformed(answer, answer.text.trim() === '' ? 'the body is empty' : 'not JSON');
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw malformed(answer, describeIssue(result.error.issues[0]));
  };
}

/** 200 with a body of this shape; undefined for a 404 of the agent's own. */
export function bodyOrAbsent<T>(schema: z.ZodType<T>): Read<T | undefined> {
  const present = body(200, schema);
  return (answer) => (isAbsent(answer) ? undefined : present(answer));
}

/** 204 */
export const done: Read<void> = (answer) => {
  if (answer.status !== 204) throw refusal(answer);
};

/** 204, or a 404 of the agent's own where there was nothing to stop. */
export const stopped: Read<'stopped' | 'absent'> = (answer) => {
  if (isAbsent(answer)) return 'absent';
  done(answer);
  return 'stopped';
};

export function malformed({ operation, status }: Pick<Answer, 'operation' | 'status'>, problem: string): AgentError {
  const message = `the response is malformed: ${problem}`;
  return new AgentError(message, { operation, reason: 'Unreachable', definite: false, status });
}

/** Only the agent itself may say that something is gone, not the 404 page of another server at its address. */
function isAbsent({ status, text }: Answer): boolean {
  return status === 404 && (text.trim() === '' || parseJSON(text) !== undefined);
}

function refusal(answer: Answer): AgentError {
  const { operation, status } = answer;
  if (status < 300) return malformed(answer, `unexpected status ${status}`);
  if (status === 404 && !isAbsent(answer)) return malformed(answer, 'a 404 that is not JSON; check the agent URL');
  const { code, said } = errorBody(parseJSON(answer.text));
  const answered = `the agent answered ${status}${code === undefined ? '' : ` (error ${code})`}`;
  const message = [answered, ...(said.length === 0 ? hint(status) : said)].join(': ');
  const definite = status >= 400 && status < 500;
  return new AgentError(message, { operation, reason: reasonOf(status, code), definite, status, code });
}

/** A 5xx with the agent's own code is its word on what was asked (a tunnel that failed to start), else a broken path. */
function reasonOf(status: number, code: number | undefined): AgentErrorReason {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 404) return 'NotFound';
  if (status === 409) return 'Conflict';
  if (status === 429) return 'RateLimited';
  if (status === 502 && code !== undefined) return 'Rejected';
  // 408 is about the connection, not about what was asked.
  return status >= 400 && status < 500 && status !== 408 ? 'Rejected' : 'Unreachable';
}

function hint(status: number): readonly string[] {
  return status >= 300 && status < 400 ? ['redirects are not followed; check the agent URL'] : [];
}

const text = z.string().optional().catch(undefined);
const wireError = z.object({
  error_code: z.int().optional().catch(undefined),
  msg: text,
  details: z.object({ err: text }).optional().catch(undefined),
});

/** What an error body says; its shape is not shown (Local Agent API, section 7). */
function errorBody(value: unknown): { readonly code?: number | undefined; readonly said: readonly string[] } {
  const parsed = wireError.safeParse(value);
  if (!parsed.success) return { said: [] };
  const { error_code: code, msg, details } = parsed.data;
  return { code, said: [msg, details?.err].map((said) => oneLine(said ?? '')).filter((said) => said !== '') };
}
