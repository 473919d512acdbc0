import type { DatabaseSync } from 'node:sqlite';

/** The modules that are set, by account, parent id and module name. Every write is committed when it returns. */
export class ModuleStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(account: string, parent: string, module: string): unknown {
    const sql = 'SELECT body FROM modules WHERE account = ? AND parent = ? AND module = ?';
    const body = this.#database.prepare(sql).get(account, parent, module)?.body;
    return typeof body === 'string' ? JSON.parse(body) : undefined;
  }

  put(account: string, parent: string, module: string, body: object): void {
    const sql = 'INSERT OR REPLACE INTO modules (account, parent, module, body) VALUES (?, ?, ?, ?)';
    this.#database.prepare(sql).run(account, parent, module, JSON.stringify(body));
  }

  /** False when it was not set. */
  remove(account: string, parent: string, module: string): boolean {
    const sql = 'DELETE FROM modules WHERE account = ? AND parent = ? AND module = ?';
    return this.#database.prepare(sql).run(account, parent, module).changes === 1;
  }

  removeAll(account: string, parent: string): void {
    this.#database.prepare('DELETE FROM modules WHERE account = ? AND parent = ?').run(account, parent);
  }
}
