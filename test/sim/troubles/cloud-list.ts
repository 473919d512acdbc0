import type { Flight } from '../core/network.ts';
import type { Answer } from '../core/server.ts';

export type Item = Readonly<Record<string, unknown>> & { readonly id: string };

/** A page of a list of the cloud. */
export interface CloudList {
  /** Such as `reserved_addrs`. */
  readonly name: string;
  /** Newest first. */
  readonly items: readonly Item[];
  readonly next: string | null;
}

export const isCloud = ({ to }: Flight): boolean => to.name === 'cloud' || to.name === 'other-cloud';

/** Asks for a page of a list: `/reserved_addrs?...`, with no id. */
export const isListing = (flight: Flight): boolean =>
  isCloud(flight) && flight.method === 'GET' && /^\/\w+(\?|$)/.test(flight.path);

export function itemsOf(answer: Answer): readonly Item[] {
  let found: readonly Item[] = [];
  changedList(answer, ({ items }) => {
    found = items;
    return {};
  });
  return found;
}

/** The answer with the page as `change` makes it; any other answer as it is. */
export function changedList(answer: Answer, change: (list: CloudList) => Partial<CloudList>): Answer {
  if (answer.status !== 200) return answer;
  const { uri, next_page_uri: next, ...lists } = JSON.parse(answer.body);
  const [name, items] = Object.entries(lists)[0] ?? [];
  if (name === undefined || !Array.isArray(items)) return answer;
  const list = { name, items, next, ...change({ name, items, next }) };
  const body = JSON.stringify({ uri, next_page_uri: list.next, [name]: list.items });
  return { ...answer, headers: { ...answer.headers, 'content-length': String(Buffer.byteLength(body)) }, body };
}
