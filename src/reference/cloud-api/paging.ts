import { z } from 'zod';
import type { Collection, Page } from './collection.ts';
import type { ApiRequest } from './operation.ts';
import { ApiProblem } from './problem.ts';

/** Default and maximum; neither is shown (Cloud Management API, section 8). */
const maximum = 100;

export const listQuery = z.object({
  limit: z.int().min(1).max(maximum).default(maximum).describe('items of a page'),
  before_id: z.string().min(1).optional().describe('continue after this item, as next_page_uri does'),
});

type Identified = { readonly id: string };

/** The list envelope (Cloud Management API, section 2), newest first. Query parameters but the two are ignored. */
export function listEnvelope<T extends Identified>(
  request: ApiRequest,
  collection: Collection<T>,
  uri: string,
  name: string,
  render: (item: T) => unknown,
): Readonly<Record<string, unknown>> {
  const limit = readLimit(request.query.limit);
  const page = collection.page(request.account, limit, readBefore(request, collection));
  return { uri, next_page_uri: nextPage(page, uri, limit), [name]: page.items.map(render) };
}

function readLimit(value: unknown): number {
  if (value === undefined) return maximum;
  const limit = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (limit < 1 || limit > maximum) {
    throw new ApiProblem('limitInvalid', `query parameter "limit" must be a whole number from 1 to ${maximum}`);
  }
  return limit;
}

function readBefore(request: ApiRequest, collection: Collection<Identified>): number | undefined {
  const id = request.query.before_id;
  if (id === undefined) return undefined;
  const position = typeof id === 'string' ? collection.position(request.account, id) : undefined;
  if (position === undefined) {
    throw new ApiProblem('beforeIdUnknown', 'query parameter "before_id" names no item this list ever had');
  }
  return position;
}

function nextPage(page: Page<Identified>, uri: string, limit: number): string | null {
  const last = page.items.at(-1);
  return page.more && last !== undefined ? `${uri}?before_id=${last.id}&limit=${limit}` : null;
}
