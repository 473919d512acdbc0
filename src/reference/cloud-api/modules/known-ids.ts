import { Collection } from '../collection.ts';
import { ApiProblem } from '../problem.ts';
import type { Context } from './module.ts';

/** The ids, each once. @throws ApiProblem 400 naming the one that is unknown. */
export function knownIds(ids: readonly string[], field: string, kind: string, context: Context): readonly string[] {
  const collection = new Collection(context.world.database, kind);
  for (const [index, id] of ids.entries()) {
    if (collection.get(context.call.account, id) === undefined) {
      throw new ApiProblem('referenceUnknown', `invalid field "${field}[${index}]": no such id: "${id}"`);
    }
  }
  return [...new Set(ids)];
}
