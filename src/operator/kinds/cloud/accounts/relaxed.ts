import type { AccountUse } from './use-record.ts';
import { aheadOf, type Entry, type UseState } from './use-state.ts';

/** What is to be on record by what is used now: what is not needed is given back. */
export function relaxed(state: UseState, uses: ReadonlyMap<string, AccountUse>): UseState {
  const free = state.free || state.starts.length === 0;
  const entries = [...state.named].map(([name, entry]): [string, Entry] => [name, less(entry, uses.get(name), free)]);
  return { ...state, free, named: new Map(entries) };
}

/** Who is gone, and sent nothing in its window, needs nothing; and who sent nothing has a part in what is free, where something is. */
function less(entry: Entry, use: AccountUse | undefined, isFree: boolean): Entry {
  const { open, past } = entry;
  if (use === undefined || (isFree && use.own === 0 && past.length === 0)) return { open: 0, past };
  const ahead = aheadOf(use.own, use.limit);
  return 2 * ahead <= open ? { open: ahead, past } : entry;
}
