import type { Connection } from '../connection.ts';

/** Of the objects that resources of one kind own in an account. */
export interface Count {
  readonly present: number;
  readonly missing: number;
}

/**
 * How many of the objects that resources own are there, by the last list of each kind. When most of an account is gone at
 * once, it is more likely another account: nothing is concluded from that.
 */
export class Census {
  readonly #counts = new WeakMap<Connection<unknown>, Map<object, () => Count>>();

  /** From now on the kind, by whatever stands for it, counts too, as it then is; answers the count of all. */
  add(connection: Connection<unknown>, kind: object, count: () => Count): Count {
    const byKind = this.#counts.get(connection) ?? new Map<object, () => Count>();
    this.#counts.set(connection, byKind.set(kind, count));
    const all = [...byKind.values()].map((each) => each());
    return {
      present: all.reduce((sum, { present }) => sum + present, 0),
      missing: all.reduce((sum, { missing }) => sum + missing, 0),
    };
  }
}
