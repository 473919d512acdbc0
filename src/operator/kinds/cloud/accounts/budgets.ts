import { Limiter } from '../../../cloud/limiter.ts';

/** An account, as far as it shares a budget with others of the same credential. */
export interface Sharer {
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so whose budget it is is found anew for each request; the lowest `requestsPerMinute` of those that share holds.
 */
export class Budgets {
  readonly #limiters = new Map<string, Limiter>();
  /** The credential that each was last seen with. */
  readonly #sharers = new Map<Sharer, string | undefined>();

  join(sharer: Sharer): void {
    this.#sharers.set(sharer, undefined);
  }

  leave(sharer: Sharer): void {
    const credential = this.#sharers.get(sharer);
    this.#sharers.delete(sharer);
    this.#dropUnused(credential);
  }

  of(sharer: Sharer): Limiter {
    const credential = credentialOf(sharer);
    // Without a key nothing is sent, nor by one that has left.
    if (credential === undefined || !this.#sharers.has(sharer)) return new Limiter(sharer);
    const limiter = this.#limiterOf(sharer, credential);
    limiter.setRequestsPerMinute(Math.min(...this.#sharing(credential).map((each) => each.requestsPerMinute)));
    return limiter;
  }

  /** A key that replaces another, which nobody uses any more, goes on with what was used. */
  #limiterOf(sharer: Sharer, credential: string): Limiter {
    const before = this.#sharers.get(sharer);
    this.#sharers.set(sharer, credential);
    const replaced = before === credential ? undefined : this.#dropUnused(before);
    const limiter = this.#limiters.get(credential) ?? replaced ?? new Limiter(sharer);
    this.#limiters.set(credential, limiter);
    return limiter;
  }

  #dropUnused(credential: string | undefined): Limiter | undefined {
    if (credential === undefined || this.#sharing(credential).length > 0) return undefined;
    const limiter = this.#limiters.get(credential);
    this.#limiters.delete(credential);
    return limiter;
  }

  #sharing(credential: string): readonly Sharer[] {
    return [...this.#sharers.keys()].filter((sharer) => credentialOf(sharer) === credential);
  }
}

function credentialOf({ url, apiKey }: Sharer): string | undefined {
  try {
    return `${url.replace(/\/+$/, '')} ${apiKey()}`;
  } catch {
    return undefined;
  }
}
