import { beforeAll, expect, test } from '@jest/globals';
import type { Flight } from '../core/network.ts';
import { run } from '../core/run.ts';
import type { Answer } from '../core/server.ts';
import type { Act, Manifest, Story } from '../core/story.ts';
import type { World } from '../core/world.ts';
import { troubles } from './index.ts';

/** What became of one request. */
export interface Passage {
  readonly flight: Flight;
  /** What its process saw, and when. */
  seen?: Answer;
  seenAt?: number;
  /** Of the error that it saw instead. */
  code?: string;
  brokeAt?: number;
}

export interface Told {
  readonly lines: readonly string[];
  readonly passages: readonly Passage[];
  readonly hash: string;
}

export const reservedAddr = (name: string, description = name): Manifest => ({
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'ReservedAddr',
  metadata: { name, namespace: 'apps' },
  spec: { description, resyncIntervalSeconds: 30 },
});

/** A trouble in a story. */
export const trouble = (
  name: string,
  at: number,
  forMs: number,
  given: Readonly<Record<string, unknown>> = {},
): Act => ({
  ...{ at, do: 'trouble', name, forMs, with: given },
});

/** Tells of one installation, `op`, and what becomes of its requests. */
export async function tell(
  acts: readonly Act[],
  more: Partial<Story> = {},
  onWorld: (world: World) => void = () => {},
): Promise<Told> {
  const lines: string[] = [];
  const passages = new Map<number, Passage>();
  const start: Act = { at: 0, do: 'start', installation: 'op' };
  const story: Story = {
    seed: 1,
    installations: [{ name: 'op' }],
    settleMs: 20_000,
    calmMs: 0,
    ...more,
    acts: [start, ...acts],
  };
  let now = () => 0;
  const { hash } = await run(story, {
    oracles: [],
    troubles: beginnings,
    print: (line) => {
      lines.push(line);
      noteError(line, passages, now());
    },
    onWorld: (world) => {
      now = () => world.scheduler.now;
      record(world, passages);
      onWorld(world);
    },
  });
  return { lines, passages: [...passages.values()], hash };
}

const beginnings = Object.fromEntries(Object.entries(troubles).map(([name, { begin }]) => [name, begin]));

function record({ network, scheduler }: World, passages: Map<number, Passage>): void {
  network.sendings.add((flight) => passages.set(flight.id, { flight }));
  network.arrivals.add((flight, seen) => Object.assign(passages.get(flight.id) ?? {}, { seen, seenAt: scheduler.now }));
}

function noteError(line: string, passages: Map<number, Passage>, brokeAt: number): void {
  const [, id, code] = /<x #(\d+) (\w+)/.exec(line) ?? [];
  if (id !== undefined) Object.assign(passages.get(Number(id)) ?? {}, { code, brokeAt });
}

/** A trouble, its options, and what shows it. */
export type Row = readonly [
  name: string,
  given: Readonly<Record<string, unknown>>,
  shows: (passage: Passage) => boolean,
];

const lastsMs = 40_000;
const turnMs = 2 * lastsMs;

/**
 * Tests that each trouble shows in requests that are sent while it lasts, and in none after that. One world has them in
 * turn: many worlds take longer.
 */
export function testInTurn(rows: readonly Row[]): void {
  let passages: readonly Passage[] = [];
  beforeAll(async () => {
    ({ passages } = await tell(rows.flatMap(([name, given], turn) => actsOf(name, given, turn))));
  });
  test.each(rows.map((row, turn) => ({ title: `${row[0]} ${JSON.stringify(row[1])}`, row, turn })))(
    '$title',
    ({ row: [, , shows], turn }) => {
      const begins = (turn + 1) * turnMs;
      const moments = passages.map(({ flight }) => flight.sentAt - begins);
      const own = passages.filter((_, index) => (moments[index] ?? -1) >= 0 && (moments[index] ?? -1) < turnMs);
      const shown = own.filter(shows).map(({ flight }) => flight.sentAt - begins);
      expect(shown).not.toHaveLength(0);
      expect(shown.filter((at) => at > lastsMs)).toEqual([]);
    },
  );
}

/** One address that is edited now and then, and one that comes, is edited and goes while there is trouble. */
function actsOf(name: string, given: Readonly<Record<string, unknown>>, turn: number): readonly Act[] {
  const at = (turn + 1) * turnMs;
  const other = `b${turn}`;
  const edits = [2_000, 12_000, 22_000, 32_000, 45_000, 65_000].map((after) => at + after);
  return [
    trouble(name, at, lastsMs, given),
    ...[2_000 + turn, ...edits].map((at): Act => ({ at, do: 'apply', object: reservedAddr('a', `as of ${at}`) })),
    { at: at + 5_000, do: 'apply', object: reservedAddr(other) },
    { at: at + 15_000, do: 'apply', object: reservedAddr(other, `as of ${at}`) },
    { at: at + 28_000, do: 'delete', ref: { kind: 'ReservedAddr', namespace: 'apps', name: other } },
  ];
}

export const isTo = ({ flight }: Passage, service: string): boolean => flight.to.name === service;

/** Seen by its process, and by no service. */
export const isInstead = ({ flight, seen }: Passage, ...statuses: readonly number[]): boolean =>
  flight.arrivedAt === undefined && seen !== undefined && statuses.includes(seen.status);
