import { z } from 'zod';
import { body, malformed, type Read } from '../../common/http/answer.ts';
import { readItems } from '../../common/http/items.ts';
import type { OddItem } from '../../common/odd-item.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly odd: readonly OddItem[];
  /** The query of the next page; undefined on the last one. */
  readonly next: string | undefined;
  /** Of the answer. */
  readonly bytes: number;
}

/** Where a list ends that does not end by itself. */
export interface ListBounds {
  readonly pages: number;
  readonly bytes: number;
  /** Pages in a row that bring nothing new. */
  readonly idlePages: number;
}

/** 100,000 objects of 100 a page; what is kept of a list is about as large as its text. */
export const listBounds: ListBounds = { pages: 1_000, bytes: 64 * 1024 * 1024, idlePages: 3 };

const legible = z.object({
  id: z.string().min(1).optional().catch(undefined),
  created_at: z
    .string()
    .refine((stamp) => !Number.isNaN(Date.parse(stamp)))
    .optional()
    .catch(undefined),
});

/**
 * A list envelope. Its array must be there, or null: an empty account and a wrong answer are not the same. Its items are
 * read one by one.
 */
export function page<Item>(name: string, item: z.ZodType<Item>): Read<Page<Item>> {
  const envelope = z.object({ [name]: z.array(z.unknown()).nullable() });
  const link = z.object({ next_page_uri: z.string().nullish() });
  // Nobody's wish is in a list: when it is refused, as when its cursor has just been deleted, the next may be taken.
  const read = body(envelope.and(link), { missing: 'Unreachable', refused: 'Unreachable' });
  return (answer) => {
    const found = read(answer);
    const { items, odd } = readItems((found[name] as readonly unknown[] | null) ?? [], item, identify);
    return { items, odd, next: queryOf(found.next_page_uri ?? ''), bytes: Buffer.byteLength(answer.text) };
  };
}

/**
 * The pages of a list, newest first, each loaded when it is asked for: leaving the loop asks for no more. A list that does
 * not end is an error that names the bound: a page that was read before, pages without anything new, too many pages or
 * bytes.
 */
export async function* allPages<Item extends { readonly id: string }>(
  operation: string,
  firstQuery: string,
  load: (query: string) => Promise<Page<Item>>,
  bounds: ListBounds = listBounds,
): AsyncGenerator<Page<Item>, void, void> {
  const queries = new Set<string>();
  const ids = new Set<string>();
  const endless = (problem: string) => malformed({ operation, status: 200 }, problem);
  let bytes = 0;
  let idle = 0;
  for (let query: string | undefined = firstQuery; query !== undefined; ) {
    if (queries.has(query)) throw endless('next_page_uri: leads to a page already read');
    if (queries.size === bounds.pages) throw endless(`the list does not end within ${bounds.pages} pages`);
    if (bytes > bounds.bytes) throw endless(`the list does not end within ${bounds.bytes / 1024 / 1024} MiB`);
    if (idle > bounds.idlePages) throw endless(`next_page_uri: leads on, with nothing new in ${idle} pages in a row`);
    queries.add(query);
    const found: Page<Item> = await load(query);
    yield found;
    const known = ids.size;
    for (const { id } of [...found.items, ...found.odd]) if (id !== undefined) ids.add(id);
    idle = ids.size === known ? idle + 1 : 0;
    bytes += found.bytes;
    query = found.next;
  }
}

/** The items of pages; of odd ones `onOdd` is told, before the other items of their page come. */
export async function* itemsOf<Item>(
  pages: AsyncIterable<Page<Item>>,
  onOdd?: (item: OddItem) => void,
): AsyncGenerator<Item, void, void> {
  for await (const { items, odd } of pages) {
    for (const item of odd) onOdd?.(item);
    yield* items;
  }
}

function identify(raw: unknown): Omit<OddItem, 'problem'> {
  const { id, created_at } = legible.catch({ id: undefined, created_at: undefined }).parse(raw);
  return { id, createdAt: created_at };
}

/** Only the query is taken: a URI that names another host must never be sent the key. */
function queryOf(uri: string): string | undefined {
  if (uri === '') return undefined;
  const start = uri.indexOf('?');
  return start < 0 ? '' : new URLSearchParams(uri.slice(start + 1).replace(/#.*$/s, '')).toString();
}
