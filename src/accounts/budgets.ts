import { Limiter } from '../cloud/limiter.ts';

/** An account, as far as it shares a budget with others of the same credential. */
export interface Sharer {
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so who shares is found anew for each request; the lowest `requestsPerMinute` of those that share holds.
 */
export class Budgets {
  /** In the order in which they came: the first of a credential has the limiter that holds. */
  readonly #limiters = new Map<Sharer, Limiter>();

  join(sharer: Sharer): void {
    this.#limiters.set(sharer, new Limiter(sharer));
  }

  /** The limiter goes to the next of the same credential: what was sent still counts. */
  leave(sharer: Sharer): void {
    const [first, next] = this.#sharing(sharer);
    const limiter = this.#limiters.get(sharer);
    if (first === sharer && next !== undefined && limiter !== undefined) this.#limiters.set(next, limiter);
    this.#limiters.delete(sharer);
  }

  of(sharer: Sharer): Limiter {
    const sharing = this.#sharing(sharer);
    // One that has left has a client that is closed: its calls fail there.
    const limiter = this.#limiters.get(sharing[0] ?? sharer) ?? new Limiter(sharer);
    limiter.setRequestsPerMinute(Math.min(...sharing.map(({ requestsPerMinute }) => requestsPerMinute)));
    return limiter;
  }

  /** All of the same credential; without a key an account is on its own. */
  #sharing(sharer: Sharer): readonly Sharer[] {
    const credential = credentialOf(sharer);
    if (credential === undefined) return [sharer];
    return [...this.#limiters.keys()].filter((other) => other === sharer || credentialOf(other) === credential);
  }
}

function credentialOf({ url, apiKey }: Sharer): string | undefined {
  try {
    return `${url.replace(/\/+$/, '')} ${apiKey()}`;
  } catch {
    return undefined;
  }
}
