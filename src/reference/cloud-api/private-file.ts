import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** What SQLite puts beside a database; made by it, they get the mode of the file itself. */
const beside = ['-wal', '-shm', '-journal'];

/**
 * Makes the file, and its folder where there is none, for this user alone, and narrows what is there already: it holds
 * webhook secrets. Throws where that cannot be done.
 */
export function makePrivate(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  for (const each of ['', ...beside].map((suffix) => file + suffix)) if (existsSync(each)) chmodSync(each, 0o600);
}
