import { timestamp } from '../api/wire.ts';
import type { Capture } from '../captures/capture.ts';

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
  const { id, startedAt, ended, durationNs, replayOf, error } = capture;
  const { method, target } = startOf(capture);
  return {
    id,
    tunnel: tunnelKey(capture),
    method,
    uri: target,
    start: timestamp(startedAt),
    ended,
    duration: durationNs,
    status: statusOf(capture) ?? null,
    ...(replayOf === undefined ? {} : { replayOf }),
    ...(error === undefined ? {} : { error }),
  };
}

/** What the list shows of thousands is read without their headers. */
export function startOf({ requestMessage }: Capture): { readonly method: string; readonly target: string } {
  const [method = '', target = ''] = requestMessage.startLine.split(' ', 2);
  return { method, target };
}

export function statusOf({ responseMessage }: Capture): number | undefined {
  return responseMessage && Number(responseMessage.startLine.split(' ', 2)[1]);
}
