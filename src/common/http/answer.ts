import type { z } from 'zod';
import { ApiError, type ApiErrorReason } from './errors.ts';
import { redact, replaceAll } from './redact.ts';
import { type Headers, retryAfterMs } from './retry-after.ts';
import type { Service } from './service.ts';
import { describeIssue, oneLine, parseJSON } from './text.ts';

/** One HTTP answer, with what is needed to judge it. */
export interface Answer {
  readonly service: Service;
  /** What was asked. */
  readonly operation: string | undefined;
  /** When it was here, in milliseconds since the epoch. */
  readonly at: number;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What a message must not repeat. */
  readonly secrets: readonly string[];
}

/** What an answer means to an operation; throws an ApiError for every other answer. */
export type Read<T> = (answer: Answer) => T;

/** What an operation makes of a status, where it is not what the service or HTTP make of it. */
export interface Meaning {
  /** Default those of the service. */
  readonly success?: readonly number[];
  /** A 404. Default `NotFound`. */
  readonly missing?: ApiErrorReason;
  /** Other 4xx that are about what was asked. Default `Rejected`: whoever asked has to ask otherwise. */
  readonly refused?: ApiErrorReason;
}

/** A success with a body of this shape. */
export function body<T>(schema: z.ZodType<T>, meaning: Meaning = {}): Read<T> {
  return (answer) => {
    const { success = answer.service.success ?? [200] } = meaning;
    if (!success.includes(answer.status)) throw unexpected(answer, meaning);
    const value = parseJSON(answer.text);
    if (value === undefined) throw malformed(answer, answer.text.trim() === '' ? 'the body is empty' : 'not JSON');
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw malformed(answer, describeIssue(result.error.issues[0]));
  };
}

/** As {@link body}, with undefined for what is absent. */
export function bodyOrAbsent<T>(schema: z.ZodType<T>): Read<T | undefined> {
  const present = body(schema);
  return (answer) => (isAbsent(answer) ? undefined : present(answer));
}

/** 204 */
export const done: Read<void> = (answer) => {
  if (answer.status !== 204) throw unexpected(answer, {});
};

/** 204, which `result` is for, or a 404 where there was nothing to take away. */
export function doneOrAbsent<T extends string>(result: T): Read<T | 'absent'> {
  return (answer) => {
    if (isAbsent(answer)) return 'absent';
    done(answer);
    return result;
  };
}

/** The service answered, and did not do what was asked. */
export function refusal(answer: Answer, meaning: Meaning = {}): ApiError {
  const { service, operation, at, status, headers, secrets } = answer;
  const { code: given, messages, requestIDs = [] } = service.errorBody(parseJSON(answer.text));
  const code = secrets.includes(String(given)) ? undefined : given;
  const said = messages
    .map((message) => redact(message, secrets, service.redacted ?? '[redacted]'))
    .map((message) => oneLine(replaceAll(message, requestIDs, '[id]')))
    .filter((message) => message !== '');
  const codeText = code === undefined ? '' : (service.codeText?.(code) ?? '');
  const message = [`${service.answered} ${status}${codeText}`, ...(said.length === 0 ? hints(answer, meaning) : said)];
  const { longestRetryAfterMs = 0 } = service;
  return new ApiError(message.join(': '), {
    operation,
    reason: reasonOf(answer, code, meaning),
    definite: isDefinite(answer, meaning),
    status,
    code,
    retryAfterMs: longestRetryAfterMs === 0 ? undefined : retryAfterMs(headers, at, longestRetryAfterMs),
  });
}

export function malformed({ operation, status }: Pick<Answer, 'operation' | 'status'>, problem: string): ApiError {
  const message = `the response is malformed: ${problem}`;
  return new ApiError(message, { operation, reason: 'Unreachable', definite: false, status });
}

/** Only the service itself may say that something is gone: another server's 404 would duplicate resources. */
function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && isOwn(answer);
}

/** In the service's own form of errors: what stands in between, as a gateway, answers in others. */
function isOwn({ service, text }: Answer): boolean {
  return service.errorBody(parseJSON(text)).code !== undefined;
}

/** By whoever answers: the request was let in by nobody. */
const notLetIn = [401, 403, 429];
/** These are about the connection: what was sent may be under way. */
const aboutConnection = [408, 425, 460, 499];

/** Certainly not carried out. Where nothing that was asked for can be missing, a 404 is of an address that is wrong for now. */
function isDefinite(answer: Answer, { missing }: Meaning): boolean {
  const { status } = answer;
  if (notLetIn.includes(status)) return true;
  if (status < 400 || status >= 500 || aboutConnection.includes(status)) return false;
  return isOwn(answer) && !(status === 404 && missing === 'Unreachable');
}

function unexpected(answer: Answer, meaning: Meaning): ApiError {
  const { service, status } = answer;
  if (status < 300) return malformed(answer, `unexpected status ${status}`);
  if (status === 404 && !isAbsent(answer))
    return malformed(answer, `a 404 that is not of the service's own form; check the ${service.urlName}`);
  return refusal(answer, meaning);
}

function reasonOf(answer: Answer, code: ApiError['code'], meaning: Meaning): ApiErrorReason {
  const { service, status } = answer;
  const { missing = 'NotFound', refused = 'Rejected' } = meaning;
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 404) return missing;
  if (status === 409) return 'Conflict';
  if (status === 429) return 'RateLimited';
  if (status === 502 && code !== undefined) return service.codedBadGateway ?? 'Unreachable';
  const isRefused = status >= 400 && status < 500 && !aboutConnection.includes(status);
  return isRefused ? refused : 'Unreachable';
}

function hints({ service, status }: Answer, { missing }: Meaning): readonly string[] {
  if (status >= 300 && status < 400) return [`redirects are not followed; check the ${service.urlName}`];
  return status === 404 && missing === 'Unreachable' ? [`check the ${service.urlName}`] : [];
}
