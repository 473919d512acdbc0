import { expect, test } from '@jest/globals';
import { oracles } from './oracles/index.ts';
import { readPage, withTables } from './tables.ts';

test('docs/simulation.md has the tables as they are (node test/sim/tables.ts)', () => {
  expect(withTables(readPage())).toBe(readPage());
});

test('docs/simulation.md tells of every oracle', () => {
  for (const name of Object.keys(oracles)) expect(readPage()).toContain(`| \`${name}\` |`);
});
