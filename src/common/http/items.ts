import type { z } from 'zod';
import type { OddItem } from '../odd-item.ts';
import { describeIssue } from './text.ts';

/** The items of a list, read one by one; what tells an odd one from the others is for `identify` to find. */
export function readItems<Item>(
  list: readonly unknown[],
  item: z.ZodType<Item>,
  identify: (raw: unknown) => Omit<OddItem, 'problem'>,
): { readonly items: readonly Item[]; readonly odd: readonly OddItem[] } {
  const items: Item[] = [];
  const odd: OddItem[] = [];
  for (const raw of list) {
    const parsed = item.safeParse(raw);
    if (parsed.success) items.push(parsed.data);
    else odd.push({ ...identify(raw), problem: describeIssue(parsed.error.issues[0], 'the item') });
  }
  return { items, odd };
}
