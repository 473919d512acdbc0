import { execFile } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/**
 * Before the first test: a folder for all that the run makes, and in it the product as it is shipped, whose processes
 * start in half the time.
 */
export default async function setUp(): Promise<void> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'test-'));
  const temporary = join(folder, 'tmp');
  await Promise.all([
    mkdir(temporary),
    run(process.execPath, ['scripts/build.ts', join(folder, 'dist')], { cwd: root }),
  ]);
  Object.assign(process.env, { TEST_RUN: folder, TMPDIR: temporary, OUTER_TMPDIR: tmpdir() });
}
