import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { makeFolder } from '../../../common/make-folder.ts';
import { makePrivate, narrow } from '../../../common/private-file.ts';
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

/**
 * Objects in a SQLite file; what was written survives the death of the process, though not that of the machine. Everything
 * throws DataError when the file cannot be used, such as on a full disk.
 */
export class DataFile implements Persistence {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #write: StatementSync;

  /** Opens or makes `kube.db` in a folder, for one server at a time. */
  constructor(dir: string) {
    this.#file = join(dir, 'kube.db');
    [this.#database, this.#write] = this.#using(() => {
      // Secrets are in it.
      makeFolder(dir, 0o700);
      makePrivate(this.#file);
      const database = openDatabase(this.#file);
      return [database, database.prepare('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)')] as const;
    });
  }

  read(): ReturnType<Persistence['read']> {
    return this.#using(() => {
      const newest = this.#database.prepare('SELECT max(revision) AS revision FROM objects').get();
      const revision = Number(newest?.revision ?? 1);
      this.#database.prepare('DELETE FROM objects WHERE text IS NULL AND revision < ?').run(revision);
      const rows = this.#database.prepare('SELECT storage, text FROM objects WHERE text IS NOT NULL').iterate();
      return { revision, objects: this.#parsed(rows) };
    });
  }

  write({ storage, revision, type, current }: Change): void {
    this.#using(() => this.#write.run(storage, current.key, revision, type === 'DELETED' ? null : current.text));
  }

  /** A value that stays the same from one start to the next; `make` is asked for it once. */
  setting(name: string, make: () => string): string {
    return this.#using(() => {
      const row = this.#database.prepare('SELECT value FROM settings WHERE name = ?').get(name);
      if (row !== undefined) return String(row.value);
      const value = make();
      this.#database.prepare('INSERT INTO settings VALUES (?, ?)').run(name, value);
      return value;
    });
  }

  close(): void {
    this.#database.close();
  }

  *#parsed(rows: Iterator<Record<string, unknown>>): Generator<readonly [string, StoredObject]> {
    const next = () =>
      this.#using(() => {
        const { done, value } = rows.next();
        return done ? undefined : ([String(value.storage), StoredObject.parse(String(value.text))] as const);
      });
    for (let object = next(); object !== undefined; object = next()) yield object;
  }

  #using<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new DataError(`cannot use ${this.#file}: ${(error as Error).message}`, { cause: error });
    }
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
