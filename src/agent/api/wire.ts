import type { Capture } from '../captures/capture.ts';
import { type Message, pairs, type RawHeaders } from '../captures/message.ts';
import type { ConnectionMetrics, HttpMetrics, Meter } from '../metrics/tunnel-metrics.ts';
import type { Tunnel } from '../tunnels/tunnel.ts';

/** Tunnel (Local Agent API, section 2); `config` also has the further fields that the definition gave. */
export interface WireTunnel {
  readonly name: string;
  readonly uri: string;
  readonly public_url: string;
  readonly proto: string;
  readonly config: { readonly addr: string; readonly inspect: boolean };
  readonly metrics: { readonly conns: ConnectionMetrics; readonly http: HttpMetrics };
}

/** Captured request (Local Agent API, section 2). Fields of our own are there only where they say something. */
export interface WireCapture {
  readonly uri: string;
  readonly id: string;
  readonly tunnel_name: string;
  readonly remote_addr: string;
  readonly start: string;
  /** Nanoseconds. */
  readonly duration: number;
  readonly request: {
    readonly method: string;
    readonly proto: string;
    readonly headers: WireHeaders;
    readonly uri: string;
    readonly raw: string;
    readonly truncated?: true;
  };
  readonly response: {
    readonly status: string;
    readonly status_code: number;
    readonly proto: string;
    readonly headers: WireHeaders;
    readonly raw: string;
    readonly truncated?: true;
  } | null;
  /** Id of the captured request that this is a replay of. */
  readonly replay_of?: string;
  /** Why the exchange ended before its time. */
  readonly error?: string;
}

export type WireHeaders = Readonly<Record<string, readonly string[]>>;

export const tunnelURI = (key: string): string => `/api/tunnels/${encodeURIComponent(key)}`;
export const requestURI = (id: string): string => `/api/requests/http/${id}`;

export function wireTunnel({ key, definition, publicURL, metrics }: Tunnel): WireTunnel {
  const { name, proto, ...config } = definition;
  return {
    name,
    uri: tunnelURI(key),
    public_url: publicURL,
    proto,
    config,
    metrics: { conns: metrics.conns.read(), http: withoutGauge(metrics.http) },
  };
}

export function wireCapture(capture: Capture): WireCapture {
  const { id, tunnel, remoteAddr, startedAt, durationNs, requestMessage, replayOf, error } = capture;
  const { method, httpVersion, rawHeaders, target } = capture.request;
  return {
    uri: requestURI(id),
    id,
    tunnel_name: tunnel.name,
    remote_addr: remoteAddr,
    start: timestamp(startedAt),
    duration: durationNs,
    request: {
      method,
      proto: `HTTP/${httpVersion}`,
      headers: wireHeaders(rawHeaders),
      uri: target,
      ...wireMessage(requestMessage),
    },
    response: wireResponse(capture),
    ...(replayOf === undefined ? {} : { replay_of: replayOf }),
    ...(error === undefined ? {} : { error }),
  };
}

function wireResponse({ response, responseMessage }: Capture): WireCapture['response'] {
  if (response === undefined || responseMessage === undefined) return null;
  const { statusCode, statusMessage, httpVersion, rawHeaders } = response;
  return {
    status: `${statusCode} ${statusMessage}`.trimEnd(),
    status_code: statusCode,
    proto: `HTTP/${httpVersion}`,
    headers: wireHeaders(rawHeaders),
    ...wireMessage(responseMessage),
  };
}

function wireMessage(message: Message): { readonly raw: string; readonly truncated?: true } {
  return { raw: message.raw().toString('base64'), ...(message.truncated ? { truncated: true } : {}) };
}

/** Names as they were first written; the same name in another case is the same header. */
function wireHeaders(headers: RawHeaders): WireHeaders {
  const values = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of pairs(headers)) {
    const key = name.toLowerCase();
    const entry = values.get(key) ?? { name, values: [] };
    entry.values.push(value);
    values.set(key, entry);
  }
  return Object.fromEntries([...values.values()].map((entry) => [entry.name, entry.values]));
}

function withoutGauge(meter: Meter): HttpMetrics {
  const { gauge: _, ...rest } = meter.read();
  return rest;
}

/** ISO 8601 with a numeric UTC offset. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00');
}
