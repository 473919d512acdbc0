import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivate, narrow } from '../../common/private-file.ts';
import { SetupError } from './setup-error.ts';

const version = 2;

/*
 * `seq` only ever grows and rows outlive their objects (body becomes NULL): a cursor that names a deleted object
 * still says where the next page begins.
 */
const schema = `
  CREATE TABLE objects (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT,
    UNIQUE (account, kind, id)
  ) STRICT;
  CREATE INDEX objects_by_kind ON objects (account, kind, seq);
  PRAGMA user_version = ${version};
`;

/**
 * Opens the file, or memory without one, and lays the tables when they are missing. Nobody else may read it, and it is
 * held exclusively until closed: two servers on one file would hand out the same addresses.
 */
export function openDatabase(file?: string): DatabaseSync {
  // Resolved, so that no name means something else to SQLite.
  const path = file === undefined ? ':memory:' : resolve(file);
  try {
    if (file !== undefined) makePrivate(path);
    const database = new DatabaseSync(path);
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      migrate(database);
      if (file !== undefined) narrow(path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw unusable(file, error);
  }
}

/** Work on the file at start, when whoever set it learns of a disk that is full. Throws a SetupError for errors of SQLite. */
export function settingUp<T>(file: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isOfSqlite(error) ? unusable(file, error) : error;
  }
}

function unusable(file: string | undefined, error: unknown): SetupError {
  const { message } = error as Error;
  return new SetupError('data', `data file ${file ?? '(memory)'} cannot be used: ${message}`, { cause: error });
}

function isOfSqlite(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR';
}

function migrate(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (found === version) return;
  if (found !== 0) throw new Error(`it is of version ${found}, this server reads version ${version}`);
  transaction(database, () => database.exec(schema));
}

/** All of `work` is kept, or, when it throws, none of it. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Of a full disk and the like SQLite has rolled back by itself: to do it again would be an error that hides this one.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
