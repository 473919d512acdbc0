import { STATUS_CODES } from 'node:http';
import { KubeError, type Refusal, type StatusCause } from './errors.ts';

interface StatusBody {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number };
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

function refusalOf(body: StatusBody, status: number): Refusal {
  const seconds = body.details?.retryAfterSeconds;
  return {
    status: typeof body.code === 'number' ? body.code : status,
    reason: body.reason,
    message: body.message || body.reason || `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
    causes: body.details?.causes ?? [],
    retryAfterMs: seconds ? Math.min(seconds * 1_000, longestRetryAfterMs) : undefined,
  };
}

function foreignRefusal(status: number, text: string): Refusal {
  const gist = text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
  const title = `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  return { status, message: gist === '' ? title : `${title}: ${gist}` };
}

/** `Retry-After` is in seconds here; API servers never send a date. */
function withRetryAfter(refusal: Refusal, header: string | undefined): Refusal {
  const seconds = Number(header ?? Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0) return refusal;
  return { ...refusal, retryAfterMs: Math.min(seconds * 1_000, longestRetryAfterMs) };
}

function parseStatus(text: string): StatusBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && body.kind === 'Status' ? (body as StatusBody) : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
