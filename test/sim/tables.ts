/**
 * The tables of docs/simulation.md: `node test/sim/tables.ts` writes them between their marks. A test keeps them so.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { virtualTime } from './core/trace.ts';
import { habits } from './people/index.ts';
import { readKept, storyFiles } from './regressions/story-file.ts';
import { troubles } from './troubles/index.ts';

const page = join(import.meta.dirname, '../../docs/simulation.md');

const tables: Readonly<Record<string, () => readonly string[]>> = {
  troubles: () => namesAndMeanings(troubles),
  habits: () => namesAndMeanings(habits),
  findings: findings,
};

function namesAndMeanings(all: Readonly<Record<string, { readonly about: string }>>): readonly string[] {
  const rows = Object.entries(all).map(([name, { about }]) => `| \`${name}\` | ${about} |`);
  return ['| Name | What happens |', '|---|---|', ...rows];
}

function findings(): readonly string[] {
  const rows = storyFiles().flatMap((name) => {
    const { finding, oracle, seed, only = [], foundVirtualMs, foundRealMs, story, about } = readKept(name);
    if (finding === undefined || foundVirtualMs === undefined || foundRealMs === undefined) return [];
    const how = `\`--only ${only.join(',')}\``;
    const took = `${(foundRealMs / 1_000).toFixed(1)} s`;
    const when = virtualTime(foundVirtualMs).slice(0, -4);
    return [`| ${finding} | ${about} | ${how} | ${seed} | \`${oracle}\` | ${when} | ${took} | ${story.acts.length} |`];
  });
  const head = ['Finding', 'What happens', 'Found with', 'Seed', 'By', 'Virtual time', 'Real time', 'Acts left'];
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows];
}

/** The page with its tables as they are now. */
export function withTables(text: string): string {
  return Object.entries(tables).reduce((before, [name, rows]) => {
    const mark = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!mark.test(before)) throw new Error(`docs/simulation.md has no marks for the table of ${name}`);
    return before.replace(mark, (_, begin: string, end: string) => `${begin}${rows().join('\n')}\n${end}`);
  }, text);
}

export const readPage = (): string => readFileSync(page, 'utf8');

if (import.meta.main) writeFileSync(page, withTables(readPage()));
