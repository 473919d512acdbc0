import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { main } from '../../test/support/main.ts';
import { crdsCommand } from './crds.ts';

test.each([
  [['--out', import.meta.filename], '--out: EEXIST'],
  [['--out', ''], '--out must not be empty'],
  [['--out', '', '--check'], '--out must not be empty'],
  [['--check'], '--check needs --out'],
])('%j is one clear line', async (flags, message) => {
  const error = await crdsCommand()
    .parseAsync(flags, { from: 'user' })
    .catch((reason: Error) => reason);
  expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a folder where none can be made is one clear line', () => {
  const command = [main, 'crds', '--out', '/proc/x'];
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 30_000 });
  expect(stderr).toMatch(/^error: --out: ENOENT.*\n$/);
  expect(status).toBe(2);
});
