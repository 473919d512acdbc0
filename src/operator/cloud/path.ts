import { CloudRefusalError } from '../../common/http/errors.ts';
import { encodedPath } from '../../common/http/path.ts';

/** Joins path segments, encoding each; refuses an id that would change which resource is addressed. */
export function pathOf(operation: string, ...segments: readonly string[]): string {
  const path = encodedPath(segments);
  if (path !== undefined) return path;
  throw new CloudRefusalError('not sent, an id is empty, "." or ".."', {
    operation,
    reason: 'Rejected',
    definite: true,
  });
}
