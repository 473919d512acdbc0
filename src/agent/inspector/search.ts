import type { Capture } from '../captures/capture.ts';
import { TimeSlice } from '../time-slice.ts';
import { missingInBody } from './body-search.ts';
import { type Filter, missingInHeads, startMatches } from './filter.ts';

export interface Found {
  readonly captures: readonly Capture[];
  /** The last that was looked at, where that is not the last of all. */
  readonly upTo?: string;
}

export interface SearchLimits {
  readonly most: number;
  /** After so long it ends with what it has; default never. */
  readonly mostMs?: number;
  /** Whoever asked has gone: it ends with what it has. */
  readonly signal: AbortSignal;
}

/** Those of the captures that match, in their order; all of the work is done in slices of some milliseconds. */
export async function search(
  captures: readonly Capture[],
  filter: Filter,
  { most, mostMs = Number.POSITIVE_INFINITY, signal }: SearchLimits,
): Promise<Found> {
  const slice = new TimeSlice();
  const endsAt = performance.now() + mostMs;
  const found: Capture[] = [];
  for (const capture of captures) {
    if (slice.isOver) await slice.next();
    if (signal.aborted) break;
    if (!capture.evicted && (await matches(capture, filter, slice)) && !capture.evicted) found.push(capture);
    const isEnough = found.length === most || performance.now() > endsAt;
    if (isEnough && capture !== captures.at(-1)) return { captures: found, upTo: capture.id };
  }
  return { captures: found };
}

async function matches(capture: Capture, filter: Filter, slice: TimeSlice): Promise<boolean> {
  if (!startMatches(capture, filter)) return false;
  let missing = missingInHeads(capture, filter.texts);
  for (const message of [capture.requestMessage, capture.responseMessage]) {
    if (missing.length === 0) return true;
    missing = await missingInBody(message, missing, slice);
  }
  return missing.length === 0;
}
