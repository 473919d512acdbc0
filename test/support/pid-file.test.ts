import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pidIn } from './pid-file.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pid-'));
});
afterEach(() => rm(dir, { recursive: true }));

test.each([
  ['a process', '4711\n', 4711],
  ['nothing yet', '', undefined],
  ['half a line', '47', undefined],
  ['our own group', '0\n', undefined],
  ['a group of processes', '-4711\n', undefined],
])('of a file with %s', (_, text, pid) => {
  const file = join(dir, 'pid');
  writeFileSync(file, text);
  expect(pidIn(file)).toBe(pid);
});

test('of a file that is not there', () => {
  expect(pidIn(join(dir, 'pid'))).toBeUndefined();
});
