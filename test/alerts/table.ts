import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../observability/alerts.ts';

/** What became of one incident; times as the rules count them. */
export interface Story {
  readonly what: string;
  readonly alert: string;
  readonly named: string;
  readonly firedAfterMs: number;
  readonly resolvedAfterMs: number;
}

const page = join(projectDir, 'docs/alerts.md');
const heading = '| Incident | Alert | Names | Fires after | Is over after |';

/** The incident, alert and names of each row of docs/alerts.md. */
export function recordedRows(): readonly string[] {
  const [, table = ''] = readFileSync(page, 'utf8').split(`${heading}\n`);
  const [rows = ''] = table.split('\n\n');
  const cells = (row: string) => row.split('|').map((cell) => cell.trim());
  return rows
    .split('\n')
    .slice(1)
    .map((row) => cells(row).slice(1, 4).join(' | ').trim());
}

export function rowOf({ what, alert, named }: Omit<Story, 'firedAfterMs' | 'resolvedAfterMs'>): string {
  return [what, `\`${alert}\``, named].join(' | ').trim();
}

/** In place of the table that is there. */
export function record(stories: readonly Story[]): void {
  const text = readFileSync(page, 'utf8');
  const [before = '', rest = ''] = text.split(`${heading}\n`);
  const after = rest.slice(rest.indexOf('\n\n'));
  const rows = stories.map((story) => {
    const times = [story.firedAfterMs, story.resolvedAfterMs].map((ms) => `${(ms / 60_000).toFixed(1)} min`);
    return `| ${[story.what, `\`${story.alert}\``, story.named, ...times].join(' | ')} |`;
  });
  writeFileSync(page, `${before}${[heading, '|---|---|---|---|---|', ...rows].join('\n')}${after}`);
}
