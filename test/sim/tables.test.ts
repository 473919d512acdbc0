import { expect, test } from '@jest/globals';
import { known } from './known.ts';
import { oracles } from './oracles/index.ts';
import { habits } from './people/index.ts';
import { readKept, storyFiles } from './regressions/story-file.ts';
import { readPage, withTables } from './tables.ts';
import { troubles } from './troubles/index.ts';

test('docs/simulation.md has the tables as they are (node test/sim/tables.ts)', () => {
  expect(withTables(readPage())).toBe(readPage());
});

test('docs/simulation.md tells of every oracle', () => {
  for (const name of Object.keys(oracles)) expect(readPage()).toContain(`| \`${name}\` |`);
});

test('what is known to show a finding is a trouble or a habit', () => {
  expect(Object.keys(known).filter((name) => !(name in troubles) && !(name in habits))).toEqual([]);
});

test('every story that shows a known defect was found by something that is known to show it', () => {
  const shown = storyFiles().map(readKept);
  const stories = shown.filter(({ fails, finding }) => fails === true && finding !== undefined);
  for (const { finding = '', only = [] } of stories)
    expect(only.flatMap((name) => known[name] ?? [])).toContain(finding);
});
