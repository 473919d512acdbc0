import type { ServerResponse } from 'node:http';
import { timestamp } from '../api/wire.ts';
import type { Capture } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';

const flushMs = 150;
const heartbeatMs = 15_000;
const newest = 500;

/** A captured request as a line of the page's list. */
export interface Summary {
  readonly id: string;
  readonly tunnel: string;
  readonly method: string;
  readonly uri: string;
  readonly start: string;
  readonly ended: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  readonly status: number | null;
  readonly replayOf?: string;
  readonly error?: string;
}

/** The tunnel's name; of one that has none its id. */
export const tunnelKey = ({ tunnel }: Capture): string => tunnel.name || tunnel.key;

export function summary(capture: Capture): Summary {
  const { id, request, startedAt, ended, durationNs, response, replayOf, error } = capture;
  return {
    id,
    tunnel: tunnelKey(capture),
    method: request.method,
    uri: request.target,
    start: timestamp(startedAt),
    ended,
    duration: durationNs,
    status: response?.statusCode ?? null,
    ...(replayOf === undefined ? {} : { replayOf }),
    ...(error === undefined ? {} : { error }),
  };
}

/**
 * Server-sent events for as long as the page is there: `snapshot` (the newest 500, newest first), then `changed` (those
 * that are new or have changed, oldest first) at most every 150 ms, and again `snapshot` when all were cleared.
 */
export function feed(captures: Captures, response: ServerResponse): void {
  const changed = new Map<string, Capture>();
  let timer: NodeJS.Timeout | undefined;
  /** A page that does not keep up starts over with one snapshot, instead of an ever longer queue. */
  let isBehind = false;
  const write = (text: string) => {
    isBehind ||= response.writableNeedDrain;
    if (!isBehind) response.write(text);
  };
  const send = (event: string, data: readonly Summary[]) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const snapshot = () => send('snapshot', captures.list({ limit: newest }).map(summary));
  const flush = () => {
    timer = undefined;
    send('changed', [...changed.values()].slice(-newest).map(summary));
    changed.clear();
  };
  const unsubscribe = captures.subscribe((capture) => {
    if (capture === undefined) {
      changed.clear();
      snapshot();
      return;
    }
    changed.set(capture.id, capture);
    timer ??= setTimeout(flush, flushMs);
  });
  const heartbeat = setInterval(() => write(': alive\n\n'), heartbeatMs);
  response.on('drain', () => {
    if (!isBehind) return;
    isBehind = false;
    snapshot();
  });
  response.on('close', () => {
    unsubscribe();
    clearTimeout(timer);
    clearInterval(heartbeat);
  });
  snapshot();
}
