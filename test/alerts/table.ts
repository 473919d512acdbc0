import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../observability/alerts.ts';

/** What an incident is known by in the table: what it is, its alert, what that names. */
export interface Subject {
  readonly what: string;
  readonly alert: string;
  readonly named: string;
}

/** What became of one; times as the rules count them. */
export interface Story extends Subject {
  readonly firedAfterMs: number;
  readonly resolvedAfterMs: number;
}

const page = join(projectDir, 'docs/alerts.md');
const head = '| Incident | Alert | Names | Fires after | Is over after |\n|---|---|---|---|---|\n';

/** The page in three: before the rows, the rows, after them. */
function read(): readonly [before: string, rows: readonly string[], after: string] {
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split(head);
  const end = rest.indexOf('\n\n');
  const rows = rest.slice(0, end).split('\n');
  return [before, rows.filter(Boolean), rest.slice(end)];
}

const subjectOf = ({ what, alert, named }: Subject) => `| ${what} | \`${alert}\` | ${named} |`;

/** Those of these incidents that have no row in docs/alerts.md, and the rows of others. */
export function differences(subjects: readonly Subject[]): readonly string[] {
  const [, rows] = read();
  const expected = subjects.map(subjectOf);
  const isOf = (row: string) => (subject: string) => row.startsWith(subject);
  return [
    ...expected.filter((subject) => !rows.some((row) => row.startsWith(subject))),
    ...rows.filter((row) => !expected.some(isOf(row))),
  ];
}

/** A row for each, in this order; what has no story this time keeps the row that it has. */
export function record(subjects: readonly Subject[], stories: readonly Story[]): void {
  const [before, known, after] = read();
  const rows = subjects.flatMap((subject) => {
    const story = stories.find(({ what }) => what === subject.what);
    if (story === undefined) return known.filter((row) => row.startsWith(subjectOf(subject)));
    const times = [story.firedAfterMs, story.resolvedAfterMs].map((ms) => `${(ms / 60_000).toFixed(1)} min`);
    return [`${subjectOf(story)} ${times.join(' | ')} |`];
  });
  writeFileSync(page, `${before}${head}${rows.join('\n')}${after}`);
}
