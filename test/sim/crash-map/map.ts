import { type Position, positions } from '../core/network.ts';
import type { Violation } from '../core/run.ts';
import type { Crash } from './boundaries.ts';
import { type Life, type Subject, subjects } from './subjects.ts';
import type { LifeJob, ToldLife } from './tell-life.ts';

/** How many pairs of crashes: none, of each pair of boundaries one, or all positions of both. */
export type Pairs = 'none' | 'some' | 'all';

/** Lives with more boundaries have no pairs. */
const mostForPairs = 39;

/** What became of one life. */
export interface Row {
  readonly kind: string;
  readonly life: Life;
  /** Why there is no such life; all else is 0 then. */
  readonly absent?: string;
  readonly boundaries: number;
  readonly singles: number;
  readonly pairs: number;
  /** Crashes that were planned, and those of them that happened. */
  readonly planned: number;
  readonly crashed: number;
  readonly failures: readonly Failure[];
  /** Plans that did not come about. */
  readonly missed: readonly (readonly Crash[])[];
}

/** Crashes after which something was wrong. */
export interface Failure {
  readonly crashes: readonly Crash[];
  readonly violations: readonly Violation[];
}

export type TellLife = (job: LifeJob) => Promise<ToldLife>;

/** Crashes everywhere in one life, and pairs of crashes. */
export async function mapLife(kind: string, life: Life, pairs: Pairs, tellLife: TellLife): Promise<Row> {
  const absent = subjectOf(kind).without[life];
  if (absent !== undefined) return { ...emptyRow(kind, life), absent };
  const undisturbed = { crashes: [], ...(await tellLife({ kind, life, crashes: [] })) };
  const told = async (crashes: readonly Crash[]) => {
    const crashed = await tellLife({ kind, life, crashes });
    return { crashes, ...crashed, violations: [...crashed.violations, ...tooMany(crashed, undisturbed)] };
  };
  const singles = await Promise.all(singlesOf(undisturbed.boundaries).map((crash) => told([crash])));
  const wanted = undisturbed.boundaries > mostForPairs ? 'none' : pairs;
  const couples = await Promise.all(pairsOf(singles, wanted).map(told));
  const all = [undisturbed, ...singles, ...couples];
  return {
    kind,
    life,
    boundaries: undisturbed.boundaries,
    singles: singles.length,
    pairs: couples.length,
    planned: sum(all.map(({ crashes }) => crashes.length)),
    crashed: sum(all.map(({ crashed }) => crashed)),
    failures: all.filter(({ violations }) => violations.length > 0),
    missed: all.filter(({ crashes, crashed }) => crashed < crashes.length).map(({ crashes }) => crashes),
  };
}

/** What a crash may cost is, of each thing, the one request of which nobody knows any more whether it was carried out. */
function tooMany(told: ToldLife, undisturbed: ToldLife): readonly Violation[] {
  return Object.entries(told.changes).flatMap(([path, times]) => {
    const allowed = (undisturbed.changes[path] ?? 0) + told.crashed;
    const message = `${path} is changed ${times} times, where ${allowed} would do`;
    return times > allowed ? [{ oracle: 'no-more-than-needed', at: 0, message }] : [];
  });
}

export function subjectOf(kind: string): Subject {
  const subject = subjects.find((each) => each.kind === kind);
  if (subject === undefined) throw new Error(`the crash map does not know the kind ${kind}`);
  return subject;
}

function emptyRow(kind: string, life: Life): Row {
  return { kind, life, boundaries: 0, singles: 0, pairs: 0, planned: 0, crashed: 0, failures: [], missed: [] };
}

function singlesOf(boundaries: number): readonly Crash[] {
  return upTo(boundaries).flatMap((boundary) => positions.map((position) => ({ boundary, position })));
}

interface Single {
  readonly crashes: readonly Crash[];
  /** Of the process that takes over. */
  readonly boundaries: number;
}

/**
 * The second crash is counted in the requests of the process that takes over, so that each of its boundaries has its
 * turn however the first crash was. Of a pair of boundaries the positions rotate, unless all are wanted.
 */
function pairsOf(singles: readonly Single[], pairs: Pairs): readonly (readonly Crash[])[] {
  if (pairs === 'none') return [];
  return singles.flatMap(({ crashes: [first], boundaries }) =>
    first === undefined
      ? []
      : upTo(boundaries).flatMap((boundary) =>
          secondPositions(first, boundary, pairs).map((position) => [first, { boundary, position }]),
        ),
  );
}

function secondPositions(first: Crash, boundary: number, pairs: Pairs): readonly Position[] {
  if (pairs === 'all') return positions;
  const turn = (first.boundary + boundary) % positions.length;
  if (positions[turn] !== first.position) return [];
  const second = positions[(first.boundary + Math.floor(boundary / positions.length)) % positions.length];
  return second === undefined ? [] : [second];
}

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
