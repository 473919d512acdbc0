import { z } from 'zod';
import { body, malformed, type Read } from '../../common/http/answer.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The query of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

const nextSchema = z.object({ next_page_uri: z.string().nullish() }).transform((page) => page.next_page_uri ?? '');

/** A list envelope. Its array must be there, or null: an empty account and a wrong answer are not the same. */
export function page<Item>(name: string, item: z.ZodType<Item>): Read<Page<Item>> {
  const itemsSchema = z.object({ [name]: z.array(item).nullable() }).transform((envelope) => envelope[name] ?? []);
  // Nobody's wish is in a list: when it is refused, as when its cursor has just been deleted, the next may be taken.
  const meaning = { missing: 'Unreachable', refused: 'Unreachable' } as const;
  const items = body(itemsSchema, meaning);
  const next = body(nextSchema, meaning);
  return (answer) => ({ items: items(answer), next: queryOf(next(answer)) });
}

/** Every item of a list, newest first, a page at a time. A page that was asked for before is an error. */
export async function* allItems<Item>(
  operation: string,
  firstQuery: string,
  load: (query: string) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, void> {
  const seen = new Set<string>();
  for (let query: string | undefined = firstQuery; query !== undefined; ) {
    if (seen.has(query)) throw malformed({ operation, status: 200 }, 'next_page_uri: leads to a page already read');
    seen.add(query);
    const { items, next }: Page<Item> = await load(query);
    yield* items;
    query = next;
  }
}

/** Only the query is taken: a URI that names another host must never be sent the key. */
function queryOf(uri: string): string | undefined {
  if (uri === '') return undefined;
  const start = uri.indexOf('?');
  return start < 0 ? '' : new URLSearchParams(uri.slice(start + 1).replace(/#.*$/s, '')).toString();
}
