import { STATUS_CODES } from 'node:http';
import { KubeError, type Refusal, type StatusCause } from './errors.ts';

/** As it comes: whatever stands in front of an API server may answer in its place. */
interface StatusBody {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
}

/** An API server asks for a second or so; whatever stands in front of it is not believed for longer than this. */
const longestRetryAfterMs = 60_000;

/** Reads a refusal from an HTTP answer, whose body may be a Status, HTML of a proxy, or nothing. */
export function errorFromResponse(doing: string, status: number, retryAfter: string | undefined, text: string) {
  const body = parseStatus(text);
  if (body === undefined) return new KubeError(doing, withRetryAfter(foreignRefusal(status, text), retryAfter));
  return new KubeError(doing, withRetryAfter(refusalOf(body, status), retryAfter));
}

/** The object of a watch's ERROR event. */
export function errorFromStatus(doing: string, object: unknown): KubeError {
  const body = isRecord(object) ? (object as StatusBody) : {};
  return new KubeError(doing, refusalOf(body, 500));
}

function refusalOf({ code, reason, message, details }: StatusBody, status: number): Refusal {
  const { causes, retryAfterSeconds } = isRecord(details) ? details : {};
  return {
    status: typeof code === 'number' ? code : status,
    reason: textOf(reason),
    message: textOf(message) || textOf(reason) || titleOf(status),
    causes: Array.isArray(causes) ? causes.filter(isRecord<StatusCause>) : [],
    // 0 where nothing is asked for.
    retryAfterMs: retryAfterMsOf(retryAfterSeconds) || undefined,
  };
}

function foreignRefusal(status: number, text: string): Refusal {
  const gist = text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
  const title = titleOf(status);
  return { status, message: gist === '' ? title : `${title}: ${gist}` };
}

function titleOf(status: number): string {
  return `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** `Retry-After` is in seconds here; API servers never send a date. */
function withRetryAfter(refusal: Refusal, header: string | undefined): Refusal {
  const retryAfterMs = retryAfterMsOf(header);
  return retryAfterMs === undefined ? refusal : { ...refusal, retryAfterMs };
}

/** Undefined for what is no time to wait. */
function retryAfterMsOf(seconds: unknown): number | undefined {
  const ms = Number(seconds ?? Number.NaN) * 1_000;
  return ms >= 0 ? Math.min(ms, longestRetryAfterMs) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parseStatus(text: string): StatusBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && body.kind === 'Status' ? (body as StatusBody) : undefined;
  } catch {
    return undefined;
  }
}

function isRecord<T = Record<string, unknown>>(value: unknown): value is T {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
