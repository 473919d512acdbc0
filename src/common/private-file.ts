import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** What SQLite puts beside a database; made by it, they get the mode of the file itself. */
const beside = ['-wal', '-shm', '-journal'];

/** Makes the file where there is none, and its folder, for this user alone. */
export function makePrivate(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
}

/** Of a file that is known to be ours, as what another program left there stays as it is. */
export function narrow(file: string): void {
  for (const each of ['', ...beside].map((suffix) => file + suffix)) if (existsSync(each)) chmodSync(each, 0o600);
}
