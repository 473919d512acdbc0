import type { Connection } from '../connection.ts';

/** Of the objects that resources of one kind own in an account. */
export interface Count {
  readonly present: number;
  readonly missing: number;
}

interface Counts {
  /** When the key was put in force that they were made with. */
  readonly since: number | undefined;
  readonly byKind: Map<object, Count>;
}

/**
 * How many of the objects that resources own are there, by the last list of each kind with the key in force. When most of
 * an account is gone at once, it is more likely another account: nothing is concluded from that.
 */
export class Census {
  readonly #counts = new WeakMap<Connection<unknown>, Counts>();

  /** Takes the count of one kind, by whatever stands for it, and answers that of all. */
  add(connection: Connection<unknown>, kind: object, count: Count): Count {
    this.#countsOf(connection).byKind.set(kind, count);
    return this.last(connection);
  }

  last(connection: Connection<unknown>): Count {
    const all = [...this.#countsOf(connection).byKind.values()];
    return {
      present: all.reduce((sum, { present }) => sum + present, 0),
      missing: all.reduce((sum, { missing }) => sum + missing, 0),
    };
  }

  #countsOf(connection: Connection<unknown>): Counts {
    const { since } = connection;
    const known = this.#counts.get(connection);
    if (known !== undefined && known.since === since) return known;
    const fresh = { since, byKind: new Map<object, Count>() };
    this.#counts.set(connection, fresh);
    return fresh;
  }
}
