import type { z } from 'zod';
import { ApiError, type ApiErrorReason } from './errors.ts';
import { redaction, replaceAll, withoutDocuments } from './redact.ts';
import { type Headers, retryAfterMs } from './retry-after.ts';
import type { ErrorBody, Service } from './service.ts';
import { clipped, describeIssue, oneLine, parseJSON } from './text.ts';

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
  /** What was sent but for its secrets: whoever reads a message may have said that. Default nothing. */
  readonly said?: () => readonly string[];
  /** A message repeats nothing of it but its status and its code. */
  readonly isSecret?: boolean;
}

/** More of a text than this is not even looked at. */
const longestText = 4_096;
const longestCode = 64;
const mostMessages = 2;

/** What an answer means to an operation; throws an ApiError for every other answer. */
export type Read<T> = (answer: Answer) => T;

/** What an operation makes of a status, where it is not what the service or HTTP make of it. */
export interface Meaning {
  /** Default those of the service. */
  readonly success?: readonly number[];
  /** A 404. Default `NotFound`. */
  readonly missing?: ApiErrorReason;
  /**
   * Other 4xx that are about what was asked. Default `Rejected`: whoever asked has to ask otherwise; `Unreachable` in other words
   * than the service's, unless they may be about the content.
   */
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
    const { messages } = harmless(answer, { messages: [describeIssue(result.error.issues[0])] });
    throw malformed(answer, messages[0] || 'a field is invalid');
  };
}

/** As {@link body}, with undefined for what is absent. */
export function bodyOrAbsent<T>(schema: z.ZodType<T>): Read<T | undefined> {
  return (answer) => (isAbsent(answer) ? undefined : body(schema, withoutContent(answer))(answer));
}

/** 204 */
export function done(answer: Answer, meaning: Meaning = {}): void {
  if (answer.status !== 204) throw unexpected(answer, meaning);
}

/** 204, which `result` is for, or a 404 where there was nothing to take away. */
export function doneOrAbsent<T extends string>(result: T): Read<T | 'absent'> {
  return (answer) => {
    if (isAbsent(answer)) return 'absent';
    done(answer, withoutContent(answer));
    return result;
  };
}

/** Nothing was sent that could be otherwise: who refuses that in other words than the service's refuses nothing that anybody wishes. */
const withoutContent = (answer: Answer): Meaning => (isOwn(answer) ? {} : { refused: 'Unreachable' });

/** The service answered, and did not do what was asked. */
export function refusal(answer: Answer, meaning: Meaning = {}): ApiError {
  const { service, operation, at, status, headers } = answer;
  const given = service.errorBody(parseJSON(answer.text));
  // A 429 may count down the seconds to wait, and would be news each time.
  const { code, requestID, messages } = harmless(answer, status === 429 ? { ...given, messages: [] } : given);
  const said = messages.filter((message) => message !== '').slice(0, mostMessages);
  const codeText = code === undefined ? '' : (service.codeText?.(code) ?? '');
  const message = [`${service.answered} ${status}${codeText}`, ...(said.length === 0 ? hints(answer, meaning) : said)];
  const { longestRetryAfterMs = 0 } = service;
  return new ApiError(message.join(': '), {
    operation,
    reason: reasonOf(answer, meaning),
    definite: isDefinite(answer, meaning),
    status,
    code,
    isForbidden: status === service.forbidden?.status,
    operationID: requestID,
    retryAfterMs: longestRetryAfterMs === 0 ? undefined : retryAfterMs(headers, at, longestRetryAfterMs),
  });
}

export function malformed(
  { operation, status }: Pick<Answer, 'operation' | 'status'>,
  problem: string,
  { isTooLarge = false } = {},
): ApiError {
  const message = `the response is malformed: ${problem}`;
  return new ApiError(message, { operation, reason: 'Unreachable', definite: false, status, isTooLarge });
}

/** What a message, or the log, may repeat of an answer. */
interface Harmless {
  readonly code: ErrorBody['code'];
  /** The first that is harmless. */
  readonly requestID: string | undefined;
  readonly messages: readonly string[];
}

/**
 * The one place where words of a service become words of ours: lines of at most 300 characters, without secrets, and
 * none at all where the answer may tell one that is not known here. A code is a word of the service's own, and an id is as
 * it writes them: one that has part of a secret in it is none.
 */
function harmless({ service, secrets, said, isSecret }: Answer, body: ErrorBody): Harmless {
  const { redacted: mark = '[redacted]', codeForm, requestIDForm, plainText } = service;
  const { code, messages, requestIDs = [] } = body;
  const lines = isSecret === true ? [] : messages.map((message) => oneLine(message.slice(0, longestText)));
  const isCode = (text: string) => text.length <= longestCode && codeForm?.test(text) !== false;
  const codes = code === undefined ? [] : [`${code}`].filter(isCode);
  const ids = requestIDs.filter((id) => requestIDForm?.test(id) === true);
  const { redacted, isClean } = redaction([...codes, ...ids, ...lines], secrets, said);
  return {
    code: codes.some((text) => !secrets.includes(text) && isClean(text)) ? code : undefined,
    requestID: ids.find(isClean),
    messages: lines.map((line) => {
      const told = redacted(line, mark);
      const plain = plainText === true ? withoutDocuments(told, mark) : told;
      return clipped(replaceAll(plain, requestIDs, '[id]'));
    }),
  };
}

/** Only the service itself may say that something is gone: another server's 404 would duplicate resources. */
function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && isOwn(answer);
}

/** In the service's own form of errors: what stands in between, as a gateway, answers in others. */
function isOwn({ service, status, text }: Answer): boolean {
  const { code, saysStatus } = service.errorBody(parseJSON(text));
  return code !== undefined || saysStatus === status;
}

/** These are about the connection: what was sent may be under way. */
const aboutConnection = [408, 425, 460, 499];

/** Certainly not carried out. Where nothing that was asked for can be missing, a 404 is of an address that is wrong for now. */
function isDefinite(answer: Answer, { missing }: Meaning): boolean {
  const { status } = answer;
  // Whoever answers counts before it lets anything in.
  if (status === 429) return true;
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

/** What may be refused for its content by whoever reads it on its way: a form, a size. */
const aboutContent = [400, 413, 422];

function reasonOf(answer: Answer, meaning: Meaning): ApiErrorReason {
  const { status } = answer;
  const isRejected = isOwn(answer) || aboutContent.includes(status);
  const { missing = 'NotFound', refused = isRejected ? 'Rejected' : 'Unreachable' } = meaning;
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 404) return missing;
  if (status === 409) return 'Conflict';
  if (status === 429) return 'RateLimited';
  const isRefused = status >= 400 && status < 500 && !aboutConnection.includes(status);
  return isRefused ? refused : 'Unreachable';
}

function hints({ service, status }: Answer, { missing }: Meaning): readonly string[] {
  if (status === service.forbidden?.status) return [service.forbidden.cure];
  if (status >= 300 && status < 400) return [`redirects are not followed; check the ${service.urlName}`];
  return status === 404 && missing === 'Unreachable' ? [`check the ${service.urlName}`] : [];
}
