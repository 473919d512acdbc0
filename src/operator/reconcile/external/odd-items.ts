import { ApiError } from '../../../common/http/errors.ts';
import type { OddItem } from '../cache.ts';
import type { UnresolvedCreate } from './lost-create.ts';

/**
 * Why nothing can be concluded of a lost create, though no object that can be read is its: an unclaimed one that cannot be
 * read may be. What is older than the create is somebody else's, and of no concern.
 */
export function unreadable(
  displayName: string,
  mine: UnresolvedCreate,
  unclaimed: readonly OddItem[],
): ApiError | undefined {
  const mayBeMine = unclaimed.filter(
    ({ createdAt }) => createdAt === undefined || Date.parse(createdAt) >= mine.notBefore,
  );
  const [first] = mayBeMine.toSorted((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1));
  if (first === undefined) return undefined;
  const which = first.id === undefined ? 'an item without an id' : `item ${first.id}`;
  const message = `${which} of the list may be the ${displayName} of an unanswered create, and cannot be read: ${first.problem}`;
  return new ApiError(message, { reason: 'Unreachable', definite: false });
}
