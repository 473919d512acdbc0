import type { AccountUse } from './use-record.ts';
import {
  type Earlier,
  succeeding,
  textOf,
  together,
  type UseState,
  without,
  withoutOpen,
  withPast,
  writtenIn,
} from './use-state.ts';
import type { UseStore } from './use-store.ts';

/** A process that ends, and sends nothing any more. */
interface Leaving {
  readonly by: string;
  readonly uses: readonly AccountUse[];
  readonly now: number;
  /** Characters. */
  readonly most: number;
}

interface LeaveOptions {
  readonly store: Pick<UseStore, 'read' | 'write'>;
  /** As of now. */
  readonly leaving: () => Leaving;
  /** Somebody else has written since. */
  readonly isStale: boolean;
  readonly signal: AbortSignal;
}

const mostTries = 3;

/** Leaves on record what was sent; where another process has a record there by now, beside what that one wrote. */
export async function leave(state: UseState, { store, leaving, isStale, signal }: LeaveOptions): Promise<void> {
  if (!isStale && (await store.write(leftBy(state, leaving()), signal)) !== undefined) return;
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const { texts } = await store.read(signal);
    const text = leftBeside(state, texts, leaving());
    if (text === undefined || (await store.write(text, signal)) !== undefined) return;
  }
}

/** What was sent, each by name; where that is too long, as if the process had been killed that had written what it needed. */
function leftBy(state: UseState, leaving: Leaving): string {
  const { by, now, most } = leaving;
  const sent = sentBy(leaving);
  const exact = textOf({ ...withPast(withoutOpen(state), sent), by, free: false }, now);
  if (exact.length <= most) return exact;
  const named = new Map([...sent].filter(([name]) => state.named.has(name)));
  const starts = [...state.starts, ...(state.free ? [{ endedAt: now, by }] : [])];
  return textOf({ ...withPast({ ...withoutOpen(state), starts }, named), by, free: false }, now);
}

/**
 * What is left where there may be another's record by now: beside what that one wrote. Undefined where that is too long: who wrote
 * it has taken over what may have been sent.
 */
function leftBeside(state: UseState, texts: readonly string[], leaving: Leaving): string | undefined {
  const { by, now, most } = leaving;
  const theirs = writtenIn(texts[0] ?? '', now, 0);
  if (theirs === undefined || theirs.by === by)
    return leftBy({ ...state, ...together(without(succeeding(texts, now, 0), by), state) }, leaving);
  const beside = textOf(withPast(without(theirs, by), sentBy(leaving)), now);
  return beside.length > most ? undefined : beside;
}

/** By name. */
function sentBy({ by, uses, now }: Leaving): ReadonlyMap<string, readonly Earlier[]> {
  const sent = uses.map(({ name, own, past }): [string, readonly Earlier[]] => {
    const ended = past().map((each) => ({ ...each, by }));
    const unended = { count: own - ended.reduce((sum, { count }) => sum + count, 0), endedAt: now, by };
    return [name, [...ended, unended]];
  });
  return new Map(sent);
}
