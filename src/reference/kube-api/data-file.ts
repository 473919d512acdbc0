import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../common/make-folder.ts';
import { makePrivate, narrow } from '../../common/private-file.ts';
import { DataError } from './data-error.ts';
import type { Change } from './history.ts';
import type { Persistence } from './store.ts';
import { StoredObject } from './stored-object.ts';

const version = 1;

/*
 * A removed object leaves its row without text until the next start: the highest revision of all rows is that of the
 * newest change.
 */
const schema = `
  CREATE TABLE objects (
    storage TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    text TEXT,
    PRIMARY KEY (storage, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${version};
`;

/** Objects in a SQLite file; what was written survives the death of the process, though not that of the machine. */
export class DataFile implements Persistence {
  readonly #database: DatabaseSync;
  readonly #write;

  /** Opens or makes `kube.db` in a folder. Throws DataError when it cannot be used, also because another server has it open. */
  constructor(dir: string) {
    const file = join(dir, 'kube.db');
    try {
      // Secrets are in it.
      makeFolder(dir, 0o700);
      makePrivate(file);
      this.#database = openDatabase(file);
    } catch (error) {
      throw new DataError(`cannot use ${file}: ${(error as Error).message}`, { cause: error });
    }
    this.#write = this.#database.prepare('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)');
  }

  read(): ReturnType<Persistence['read']> {
    const newest = this.#database.prepare('SELECT max(revision) AS revision FROM objects').get();
    const revision = Number(newest?.revision ?? 1);
    this.#database.prepare('DELETE FROM objects WHERE text IS NULL AND revision < ?').run(revision);
    const rows = this.#database.prepare('SELECT storage, text FROM objects WHERE text IS NOT NULL').iterate();
    return { revision, objects: parsed(rows) };
  }

  write({ storage, revision, type, current }: Change): void {
    this.#write.run(storage, current.key, revision, type === 'DELETED' ? null : current.text);
  }

  /** A value that stays the same from one start to the next; `make` is asked for it once. */
  setting(name: string, make: () => string): string {
    const row = this.#database.prepare('SELECT value FROM settings WHERE name = ?').get(name);
    if (row !== undefined) return String(row.value);
    const value = make();
    this.#database.prepare('INSERT INTO settings VALUES (?, ?)').run(name, value);
    return value;
  }

  close(): void {
    this.#database.close();
  }
}

function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    const found = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    if (found === 0) database.exec(schema);
    else if (found !== version) throw new Error(`it is of version ${found}, this server reads version ${version}`);
    narrow(file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function* parsed(rows: Iterable<Record<string, unknown>>): Generator<readonly [string, StoredObject]> {
  for (const { storage, text } of rows) yield [String(storage), StoredObject.parse(String(text))];
}
