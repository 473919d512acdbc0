import { z } from 'zod';
import { windowMs } from '../../../cloud/rolling-window.ts';
import { renewalMs } from './use-store.ts';

/** Requests that may have been sent, the last at `endedAt` (milliseconds, monotonic clock of this process). */
export interface Past {
  readonly count: number;
  readonly endedAt: number;
}

/** By another process: what one sent may be read again and again, also from what others wrote, and counts once. */
export interface Earlier extends Past {
  readonly by: string;
}

/** Another process ended that might use free shares. */
export type Start = Omit<Earlier, 'count'>;

/** What is on record of one account. */
export interface Entry {
  /** The process that wrote this may have so many in its window at any time, from then on. */
  readonly open: number;
  /** Of earlier processes, which count for a window each. */
  readonly past: readonly Earlier[];
}

/** What is on record of all that was sent with the keys of accounts. */
export interface UseState {
  /** The process that wrote this may use the free share of every key, for all its accounts together that are not named. */
  readonly free: boolean;
  /** So many free shares of each key count. */
  readonly starts: readonly Start[];
  /** By name and address of the account; nothing of its key. */
  readonly named: ReadonlyMap<string, Entry>;
}

/** What a process takes over from others. */
export type Inheritance = Pick<UseState, 'starts' | 'named'>;

/** As one process wrote it. */
export interface Written extends UseState {
  readonly by: string;
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
  return Math.max(own, Math.min(limit, Math.max(own + freeShareOf(limit), 2 * own)));
}

const figure = z.number().nonnegative();
const schema = z.object({
  by: z.string().default(''),
  free: z.boolean(),
  starts: z.array(z.union([z.tuple([figure, z.string()]), figure.transform((ago): [number, string] => [ago, ''])])),
  accounts: z.record(z.string(), z.object({ open: figure, past: z.array(z.tuple([figure, figure]).rest(z.string())) })),
});

/** What one process wrote so long ago, or since then; undefined of what is no record. */
export function writtenIn(text: string, now: number, sinceMs: number): Written | undefined {
  const record = schema.safeParse(jsonOf(text));
  if (!record.success) return undefined;
  const at = (agoMs: number) => now - agoMs - sinceMs;
  const { by, free, starts, accounts } = record.data;
  const named = Object.entries(accounts).map(([name, { open, past }]): [string, Entry] => [
    name,
    { open, past: past.map(([count, agoMs, writer = '']) => ({ count, endedAt: at(agoMs), by: writer })) },
  ]);
  return {
    by,
    free,
    starts: starts.map(([agoMs, writer]) => ({ endedAt: at(agoMs), by: writer })),
    named: new Map(named),
  };
}

/**
 * The records as who comes after their writers finds them: what those might still have sent, they may have sent until now.
 *
 * @param sinceMs since the last of them was written; at most that
 */
export function succeeding(texts: readonly string[], now: number, sinceMs: number): Inheritance {
  const all = texts.map((text) => ended(writtenIn(text, now, sinceMs), now));
  return all.reduce(together, { starts: [], named: new Map() });
}

/** What was written before the first process knows of any other. */
export function begun(from: Inheritance, now: number): UseState {
  const state = pruned({ ...from, free: true }, now);
  return { ...state, free: state.starts.length < mostStarts };
}

function ended(written: Written | undefined, now: number): Inheritance {
  if (written === undefined) return { starts: [{ endedAt: now, by: '' }], named: new Map() };
  const { by, free, starts, named } = written;
  const entries = [...named].map(([name, { open, past }]): [string, Entry] => {
    return [name, { open: 0, past: open === 0 ? past : [...past, { count: open, endedAt: now, by }] }];
  });
  return { starts: [...starts, ...(free ? [{ endedAt: now, by }] : [])], named: new Map(entries) };
}

/** Of what both know of one process the first counts. */
export function together(first: Inheritance, second: Inheritance): Inheritance {
  const names = new Set([...first.named.keys(), ...second.named.keys()]);
  const named = [...names].map((name): [string, Entry] => {
    const [one, two] = [first.named.get(name), second.named.get(name)];
    const open = Math.max(one?.open ?? 0, two?.open ?? 0);
    return [name, { open, past: eachOnce(one?.past ?? [], two?.past ?? []) }];
  });
  return { starts: eachOnce(first.starts, second.starts), named: new Map(named) };
}

function eachOnce<T extends { readonly by: string }>(first: readonly T[], second: readonly T[]): readonly T[] {
  const told = new Set(first.map(({ by }) => by));
  return [...first, ...second.filter(({ by }) => !told.has(by))];
}

/** Without what one process has sent: it knows that better itself. */
export function without<T extends Inheritance>(state: T, writer: string): T {
  const isOthers = ({ by }: { readonly by: string }) => by !== writer;
  const named = [...state.named].map(([name, { open, past }]): [string, Entry] => [
    name,
    { open, past: past.filter(isOthers) },
  ]);
  return { ...state, starts: state.starts.filter(isOthers), named: new Map(named) };
}

/** With what was sent for some besides. */
export function withPast<T extends Inheritance>(state: T, sent: ReadonlyMap<string, readonly Earlier[]>): T {
  const named = new Map(state.named);
  for (const [name, past] of sent) {
    const { open, past: before } = named.get(name) ?? { open: 0, past: [] };
    named.set(name, { open, past: [...before, ...past] });
  }
  return { ...state, named };
}

/** What the process may have in its window, of some, by name. */
export function withOpen(state: UseState, opens: ReadonlyMap<string, number>): UseState {
  const named = new Map(state.named);
  for (const [name, open] of opens) named.set(name, { open, past: named.get(name)?.past ?? [] });
  return { ...state, named };
}

/** Nothing that it has by name. */
export function withoutOpen<T extends Inheritance>(state: T): T {
  const named = [...state.named].map(([name, { past }]): [string, Entry] => [name, { open: 0, past }]);
  return { ...state, named: new Map(named) };
}

/** Without what has left the window by now, and those of whom nothing is left. */
export function pruned({ free, starts, named }: UseState, now: number): UseState {
  const counts = ({ endedAt }: { readonly endedAt: number }) => endedAt + windowMs > now;
  const entries = [...named].map(([name, { open, past }]): [string, Entry] => [
    name,
    { open, past: past.filter((each) => each.count > 0 && counts(each)) },
  ]);
  return {
    free,
    starts: starts.filter(counts),
    named: new Map(entries.filter(([, { open, past }]) => open > 0 || past.length > 0)),
  };
}

/** By the monotonic clock of its process: another in each record that is written so much later. */
export function renewalAt(now: number): number {
  return Math.floor(now / renewalMs);
}

export function textOf({ by, ...state }: Written, now: number): string {
  const { free, starts, named } = pruned(state, now);
  const ago = (endedAt: number) => Math.max(0, Math.floor((now - endedAt) / stepMs) * stepMs);
  const accounts = [...named].map(([name, { open, past }]) => {
    const sums = new Map<string, [number, number, string]>();
    for (const { count, endedAt, by: writer } of past) {
      const key = `${ago(endedAt)} ${writer}`;
      sums.set(key, [(sums.get(key)?.[0] ?? 0) + count, ago(endedAt), writer]);
    }
    return [name, { open, past: [...sums.values()] }];
  });
  const begins = starts.map(({ endedAt, by: writer }) => [ago(endedAt), writer]);
  return JSON.stringify({ by, renewal: renewalAt(now), free, starts: begins, accounts: Object.fromEntries(accounts) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
