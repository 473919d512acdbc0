import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'edge-operator/packages/usr/bin');

/** Path of a program of Prometheus: on the PATH, or where .ci/packages puts it. */
export function prometheusTool(name: 'prometheus' | 'promtool'): string | undefined {
  return [...(process.env.PATH ?? '').split(delimiter), cache].map((dir) => join(dir, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
