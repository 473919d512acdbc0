import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** How the stored kinds are named in the data file. Never rename one: existing files would lose their objects. */
export const kinds = {
  reservedAddr: 'reserved_addr',
  botUser: 'bot_user',
  endpoint: 'endpoint',
  endpointConfiguration: 'endpoint_configuration',
  ipPolicy: 'ip_policy',
  certificateAuthority: 'certificate_authority',
  httpsEdge: 'https_edge',
  httpsRoute: 'https_route',
  tlsEdge: 'tls_edge',
  domain: 'reserved_domain',
  module: 'module',
} as const;

export type Kind = (typeof kinds)[keyof typeof kinds];

/** A page of more ends: while it is made nobody else is answered, and it is in memory until its reader has it. */
const enoughBytes = 4 * 1024 * 1024;

export interface Page<T> {
  /** Newest first. */
  readonly items: readonly T[];
  readonly more: boolean;
}

/** The objects of one kind, by account, in the order of their making. Every write is committed when it returns. */
export class Collection<T extends { readonly id: string }> {
  readonly #kind: Kind;
  readonly #statements: Statements;

  constructor(statements: Statements, kind: Kind) {
    this.#kind = kind;
    this.#statements = statements;
  }

  get(account: string, id: string): T | undefined {
    const row = this.#statements.get.get(account, this.#kind, id);
    return typeof row?.body === 'string' ? JSON.parse(row.body) : undefined;
  }

  /** Adds the object made from the next sequence number, which no object of any kind had before. */
  insert(account: string, make: (seq: number) => T): T {
    const seq = Number(this.#statements.next.get()?.seq);
    const object = make(seq);
    this.#statements.insert.run(seq, account, this.#kind, object.id, JSON.stringify(object));
    return object;
  }

  /** Adds the object, or replaces the one of its id, which keeps its place in the order unless it was removed. */
  put(account: string, object: T): void {
    this.#statements.put.run(account, this.#kind, object.id, JSON.stringify(object));
  }

  /** False when there was none. */
  remove(account: string, id: string): boolean {
    return this.#statements.remove.run(account, this.#kind, id).changes === 1;
  }

  /** Removes those whose `expiresAt` (ms since 1970) has come. */
  expire(account: string, now: number): void {
    this.#statements.expire.run(account, this.#kind, now);
  }

  /** Where the object stands, also after it was removed; undefined when the id was never known. */
  position(account: string, id: string): number | undefined {
    const seq = this.#statements.position.get(account, this.#kind, id)?.seq;
    return seq === undefined ? undefined : Number(seq);
  }

  /** At most so many, and fewer where they are large. */
  page(account: string, limit: number, before = Number.MAX_SAFE_INTEGER): Page<T> {
    const items: T[] = [];
    let bytes = 0;
    for (const row of this.#statements.page.iterate(account, this.#kind, before, limit + 1)) {
      if (items.length === limit || bytes > enoughBytes) return { items, more: true };
      const body = String(row.body);
      bytes += Buffer.byteLength(body);
      items.push(JSON.parse(body));
    }
    return { items, more: false };
  }
}

/** Of one database, for all its collections. */
export type Statements = Readonly<
  Record<'get' | 'next' | 'insert' | 'put' | 'remove' | 'expire' | 'position' | 'page', StatementSync>
>;

export function prepare(database: DatabaseSync): Statements {
  const which = 'account = ? AND kind = ? AND id = ?';
  return {
    get: database.prepare(`SELECT body FROM objects WHERE ${which}`),
    next: database.prepare('SELECT coalesce(max(seq), 0) + 1 AS seq FROM objects'),
    insert: database.prepare('INSERT INTO objects (seq, account, kind, id, body) VALUES (?, ?, ?, ?, ?)'),
    put: database.prepare(
      `INSERT INTO objects (account, kind, id, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (account, kind, id) DO UPDATE SET body = excluded.body,
         seq = iif(body IS NULL, (SELECT max(seq) + 1 FROM objects), seq)`,
    ),
    remove: database.prepare(`UPDATE objects SET body = NULL WHERE ${which} AND body IS NOT NULL`),
    expire: database.prepare(
      "UPDATE objects SET body = NULL WHERE account = ? AND kind = ? AND body ->> 'expiresAt' <= ?",
    ),
    position: database.prepare(`SELECT seq FROM objects WHERE ${which}`),
    page: database.prepare(
      `SELECT body FROM objects WHERE account = ? AND kind = ? AND seq < ? AND body IS NOT NULL
       ORDER BY seq DESC LIMIT ?`,
    ),
  };
}
