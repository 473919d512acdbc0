import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { problems } from './problem.ts';

test('docs/reference-cloud.md lists every error number with its status and meaning, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference-cloud.md'), 'utf8');
  const [, section = ''] = page.split('### Error numbers');
  const rows = section.split('\n## ', 1)[0]?.match(/^\| \d.*$/gm);
  const status = (problem: (typeof problems)[keyof typeof problems]) =>
    problem.number === 900 ? 'any' : problem.status;
  expect(rows).toEqual(
    Object.values(problems).map((problem) => `| ${problem.number} | ${status(problem)} | ${problem.means} |`),
  );
  expect(new Set(Object.values(problems).map(({ number }) => number)).size).toBe(Object.keys(problems).length);
});
