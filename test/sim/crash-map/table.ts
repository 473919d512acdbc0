import type { Crash } from './boundaries.ts';
import type { Row } from './map.ts';

const columns = ['kind', 'life', 'boundaries', 'crashes', 'pairs', 'violations', 'coverage'] as const;

/** As Markdown, which a terminal shows as well. */
export function tableOf(rows: readonly Row[]): readonly string[] {
  const present = rows.filter(({ absent }) => absent === undefined);
  const cells = [columns, ...present.map(cellsOf), totalOf(present)];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = columns, ...body] = cells;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)];
}

/** Which lives there are not. */
export function absencesOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ kind, life, absent }) => (absent === undefined ? [] : [`${kind} has no ${life}: ${absent}`]));
}

/** `5 after the act, 2 before sending`: as `--crash` takes it. */
export function crashesAsText(crashes: readonly Crash[]): string {
  return crashes.map(({ boundary, position }) => `${boundary} ${position}`).join(', ') || 'no crash';
}

function cellsOf(row: Row): readonly string[] {
  return [row.kind, row.life, ...countsOf([row])];
}

function totalOf(rows: readonly Row[]): readonly string[] {
  return ['all', '', ...countsOf(rows)];
}

function countsOf(rows: readonly Row[]): readonly string[] {
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [planned, crashed] = [sum((row) => row.planned), sum((row) => row.crashed)];
  const share = planned === 0 ? 1 : crashed / planned;
  return [
    ...[sum((row) => row.boundaries), sum((row) => row.singles), sum((row) => row.pairs)].map(String),
    String(sum((row) => row.failures.length)),
    // Never rounded up to 100%.
    `${Math.floor(share * 1_000) / 10}%`,
  ];
}
