import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A path that the checkout has, and the bundle beside its code: the nearest one above this file. */
export function packageFile(...path: readonly string[]): string {
  const name = join(...path);
  for (let dir = import.meta.dirname; ; dir = dirname(dir)) {
    if (existsSync(join(dir, name))) return join(dir, name);
    if (dir === dirname(dir))
      throw new Error(`${name} is not beside ${import.meta.dirname}: it belongs to this program`);
  }
}
