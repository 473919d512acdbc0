export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The Retry-After header in milliseconds from now, at most `longestMs`: seconds or an HTTP date, which is read against
 * the answer's own Date so that a wrong clock on either side does no harm. Undefined when absent or not understood, and for a
 * date that has passed by our clock, which may be wrong.
 *
 * @param now for an answer without a Date
 */
export function retryAfterMs(headers: Headers, now: number, longestMs: number): number | undefined {
  const value = single(headers['retry-after'])?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, longestMs);
  // Of what has no time of day anything is taken for a date: `-1` for one in 2001.
  if (!/\d:\d\d/.test(value)) return undefined;
  const at = Date.parse(value);
  const sent = Date.parse(single(headers.date) ?? '');
  if (Number.isNaN(at) || (Number.isNaN(sent) && at < now)) return undefined;
  return Math.min(Math.max(0, at - (Number.isNaN(sent) ? now : sent)), longestMs);
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
