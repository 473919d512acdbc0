import { z } from 'zod';
import { windowMs } from '../../../cloud/rolling-window.ts';

/** Requests that may have been sent, the last at `endedAt` (milliseconds, monotonic clock of this process). */
export interface Past {
  readonly count: number;
  readonly endedAt: number;
}

/** What is on record of one account. */
export interface Entry {
  /** The process that wrote this may have so many in its window at any time, from then on. */
  readonly open: number;
  /** Of earlier processes, which count for a window each. */
  readonly past: readonly Past[];
}

/** What is on record of all that was sent with the keys of accounts. */
export interface UseState {
  /** The process that wrote this may use the free share of every account that is not named. */
  readonly free: boolean;
  /** When earlier processes ended that might: so many free shares of accounts that are not named count. */
  readonly starts: readonly number[];
  /** By name and address of the account; nothing of its key. */
  readonly named: ReadonlyMap<string, Entry>;
}

/** A process that finds so many free shares in use has none itself: it asks for each account by name. */
const mostStarts = 4;
const mostFree = 20;
/** Those that ended within such a time count as one. */
const stepMs = 5_000;

/** Of a limit: what a process may use without saying so first. Little, for it counts as used when the process is killed. */
export function freeShareOf(limit: number): number {
  return Math.max(1, Math.min(Math.floor(limit / 16), mostFree));
}

/** What is recorded ahead for who has so many in its window: not much more than it has, yet not for each. */
export function aheadOf(own: number, limit: number): number {
  return Math.min(limit, Math.max(own + freeShareOf(limit), 2 * own));
}

const pair = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);
const schema = z.object({
  free: z.boolean(),
  starts: z.array(z.number().nonnegative()),
  accounts: z.record(z.string(), z.object({ open: z.number().nonnegative(), past: z.array(pair) })),
});

/**
 * The records as who comes after their writers begins with: what those might still have sent, they may have sent until now.
 *
 * @param sinceMs since the last of them was written; at most that
 * @param limitOf of an account, requests a minute
 */
export function succeeding(
  texts: readonly string[],
  now: number,
  sinceMs: number,
  limitOf: (account: string) => number,
): UseState {
  const states = texts.map((text) => stateOf(text, now, sinceMs));
  const names = new Set(states.flatMap(({ named }) => [...named.keys()]));
  const pasts = (account: string) => states.flatMap((state) => pastOf(state, account, limitOf(account)));
  const named = [...names].map((account): [string, Entry] => [account, { open: 0, past: pasts(account) }]);
  return begun(
    states.flatMap(({ starts }) => starts),
    new Map(named),
    now,
  );
}

/** What one record says was sent, or may have been. */
function stateOf(text: string, now: number, sinceMs: number): Pick<UseState, 'starts' | 'named'> {
  const record = schema.safeParse(jsonOf(text));
  if (!record.success) return { starts: [now], named: new Map() };
  const at = (agoMs: number) => now - agoMs - sinceMs;
  const { free, starts, accounts } = record.data;
  const named = Object.entries(accounts).map(([account, { open, past }]): [string, Entry] => {
    const earlier = past.map(([count, agoMs]) => ({ count, endedAt: at(agoMs) }));
    return [account, { open: 0, past: open === 0 ? earlier : [...earlier, { count: open, endedAt: now }] }];
  });
  return { starts: [...starts.map(at), ...(free ? [now] : [])], named: new Map(named) };
}

function begun(starts: readonly number[], named: UseState['named'], now: number): UseState {
  const state = pruned({ free: true, starts, named }, now);
  return { ...state, free: state.starts.length < mostStarts };
}

/** Without what has left the window by now, and those that only have what anybody has. */
export function pruned({ free, starts, named }: UseState, now: number): UseState {
  const counts = (endedAt: number) => endedAt + windowMs > now;
  const entries = [...named].map(([account, { open, past }]): [string, Entry] => [
    account,
    { open, past: past.filter(({ count, endedAt }) => count > 0 && counts(endedAt)) },
  ]);
  return {
    free,
    starts: starts.filter(counts),
    named: new Map(entries.filter(([, { open, past }]) => open > 0 || past.length > 0)),
  };
}

/** What an account that is not named is charged with. */
export function pastOf(
  { starts, named }: Pick<UseState, 'starts' | 'named'>,
  account: string,
  limit: number,
): readonly Past[] {
  const entry = named.get(account);
  return entry?.past ?? starts.map((endedAt) => ({ count: freeShareOf(limit), endedAt }));
}

/** How many this process may have in its window. */
export function allowed({ free, named }: UseState, account: string, limit: number): number {
  return named.get(account)?.open ?? (free ? freeShareOf(limit) : 0);
}

export function textOf(state: UseState, now: number): string {
  const { free, starts, named } = pruned(state, now);
  const ago = (endedAt: number) => Math.max(0, Math.floor((now - endedAt) / stepMs) * stepMs);
  const accounts = [...named].map(([account, { open, past }]) => {
    const byAge = new Map<number, number>();
    for (const { count, endedAt } of past) byAge.set(ago(endedAt), (byAge.get(ago(endedAt)) ?? 0) + count);
    return [account, { open, past: [...byAge].map(([agoMs, count]) => [count, agoMs]) }];
  });
  return JSON.stringify({ free, starts: starts.map(ago), accounts: Object.fromEntries(accounts) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
