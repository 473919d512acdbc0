import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { prometheusTool } from '../support/prometheus-tools.ts';

const run = promisify(execFile);

export const promtoolPath = prometheusTool('promtool');

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
