import type { z } from 'zod';
import { errorBody } from './error-body.ts';
import type { CloudErrorReason } from './errors.ts';
import { CloudRefusalError, CloudResponseError } from './errors.ts';
import type { Headers } from './retry-after.ts';
import { retryAfterMs } from './retry-after.ts';
import { describeIssue, parseJSON } from './text.ts';

/** One HTTP answer, with what is needed to judge it. */
export interface Answer {
  readonly operation: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What an error message must not repeat. */
  readonly secrets: readonly string[];
}

/** What an answer means to an operation; throws a CloudError for every other answer. */
export type Read<T> = (answer: Answer) => T;

/** What the operation makes of a 404, and of other 4xx that are about what was asked. */
export interface Meaning {
  readonly missing: CloudErrorReason;
  /** Default `Rejected`: whoever asked has to ask otherwise. */
  readonly refused?: CloudErrorReason;
}

/** 200 or 201 with a body of this shape. */
export function body<T>(schema: z.ZodType<T>, meaning: Meaning): Read<T> {
  return (answer) => {
    if (answer.status !== 200 && answer.status !== 201) throw refusal(answer, meaning);
    const result = schema.safeParse(json(answer));
    if (result.success) return result.data;
    throw malformed(answer, describeIssue(result.error.issues[0]));
  };
}

/** As {@link body}, with undefined for a 404. */
export function bodyOrAbsent<T>(schema: z.ZodType<T>): Read<T | undefined> {
  const present = body(schema, { missing: 'NotFound' });
  return (answer) => (isAbsent(answer) ? undefined : present(answer));
}

/** 204, or 404 where there was nothing to delete. */
export const deleted: Read<'deleted' | 'absent'> = (answer) => {
  if (answer.status === 204) return 'deleted';
  if (isAbsent(answer)) return 'absent';
  throw refusal(answer, { missing: 'NotFound' });
};

export function malformed(answer: Pick<Answer, 'operation' | 'status'>, problem: string): CloudResponseError {
  return new CloudResponseError(`the response is malformed: ${problem}`, {
    operation: answer.operation,
    reason: 'Unreachable',
    definite: false,
    status: answer.status,
  });
}

/** Only the service itself may say that something is gone; another server's 404 page would duplicate resources. */
function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && isOwn404(answer);
}

function isOwn404(answer: Answer): boolean {
  return answer.text.trim() === '' || parseJSON(answer.text) !== undefined;
}

function refusal(answer: Answer, meaning: Meaning): Error {
  const { operation, status } = answer;
  if (status < 300) return malformed(answer, `unexpected status ${status}`);
  if (status === 404 && !isOwn404(answer)) return malformed(answer, 'a 404 that is not JSON; check the API URL');
  const { code, msg } = errorBody(parseJSON(answer.text), answer.secrets);
  const said = [`the API answered ${status}`, code, msg ?? hint(status, meaning)].filter((part) => part !== undefined);
  return new CloudRefusalError(said.join(': '), {
    operation,
    reason: reasonOf(status, meaning),
    definite: status >= 400 && status < 500,
    status,
    code,
    retryAfterMs: retryAfterMs(answer.headers, Date.now()),
  });
}

function reasonOf(status: number, { missing, refused = 'Rejected' }: Meaning): CloudErrorReason {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 404) return missing;
  if (status === 409) return 'Conflict';
  if (status === 429) return 'RateLimited';
  // 408 is about the connection, not about what was asked.
  return status >= 400 && status < 500 && status !== 408 ? refused : 'Unreachable';
}

function hint(status: number, { missing }: Meaning): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed; check the API URL';
  return status === 404 && missing === 'Unreachable' ? 'check the API URL' : undefined;
}

function json(answer: Answer): unknown {
  const value = parseJSON(answer.text);
  if (value === undefined) throw malformed(answer, answer.text.trim() === '' ? 'the body is empty' : 'not JSON');
  return value;
}
