import type { RawHeaders } from '../captures/message.ts';

/** Servers close idle connections after 2 s and more: one that is just being closed would cost a request. */
export const usableMs = 1_500;
/** The server counts from when it had sent the answer, and its close takes a while to arrive. */
const marginMs = 1_000;

const timeout = /(?:^|[,;\s])timeout\s*=\s*"?(\d+)/i;
const max = /(?:^|[,;\s])max\s*=\s*"?(\d+)/i;

/**
 * How long an idle connection may be used again after an answer with these headers, its `served`th; 0 is not at all.
 * Some servers count `max` down, others say with every answer how many requests they take in all: it holds both ways.
 */
export function reusableMs(headers: RawHeaders, served: number): number {
  let usable = usableMs;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length !== 'keep-alive'.length || name.toLowerCase() !== 'keep-alive') continue;
    const value = headers[at + 1] ?? '';
    usable = Math.min(usable, numberIn(value, timeout) * 1_000 - marginMs);
    if (numberIn(value, max) <= served) return 0;
  }
  return Math.max(usable, 0);
}

/** Infinite where it says nothing. */
function numberIn(value: string, parameter: RegExp): number {
  const found = parameter.exec(value);
  return found === null ? Number.POSITIVE_INFINITY : Number(found[1]);
}
