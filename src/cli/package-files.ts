import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A path inside this package, whether it runs from `src/` or bundled from `dist/`. */
export function packageFile(...path: readonly string[]): string {
  let dir = import.meta.dirname;
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return join(dir, ...path);
}
