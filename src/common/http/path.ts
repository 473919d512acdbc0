/**
 * Joins path segments, encoding each. Undefined for a segment that would change which resource is addressed (empty,
 * `.` or `..`, which URLs resolve even when encoded).
 */
export function encodedPath(segments: readonly string[]): string | undefined {
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) return undefined;
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
