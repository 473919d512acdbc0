import { CloudRefusalError } from './errors.ts';

/**
 * Joins path segments, encoding each. An id that would change which resource is addressed (empty, `.` or `..`, which
 * URLs resolve even when encoded) is refused here.
 */
export function pathOf(operation: string, ...segments: readonly string[]): string {
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) {
    throw new CloudRefusalError('not sent, an id is empty, "." or ".."', {
      operation,
      reason: 'Rejected',
      definite: true,
    });
  }
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
