import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'edge-operator/packages/usr/bin');

/** Path of promtool: on the PATH, or where .ci/packages puts it. */
export const promtoolPath: string | undefined = [...(process.env.PATH ?? '').split(delimiter), cache]
  .map((dir) => join(dir, 'promtool'))
  .find(isExecutable);

/** Resolves with what it printed, fails with what it complained of. */
export async function promtool(args: readonly string[]): Promise<string> {
  if (promtoolPath === undefined) throw new Error('needs promtool: run .ci/packages, or install Prometheus');
  try {
    return (await run(promtoolPath, args)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}` || String(error), { cause: error });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
