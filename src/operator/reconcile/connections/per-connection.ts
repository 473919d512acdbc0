import type { Connection } from './connection.ts';

/** What is kept of a connection for as long as it is open. */
export class PerConnection<Client, Kept> {
  readonly #byConnection = new Map<Connection<Client>, Kept>();

  /** For one that has closed, as when work with it is still under way, `make` is asked each time. */
  of(connection: Connection<Client>, make: () => Kept): Kept {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const made = make();
    if (connection.closed?.aborted === true) return made;
    this.#byConnection.set(connection, made);
    connection.closed?.addEventListener('abort', () => this.#byConnection.delete(connection), { once: true });
    return made;
  }

  all(): readonly Kept[] {
    return [...this.#byConnection.values()];
  }
}
