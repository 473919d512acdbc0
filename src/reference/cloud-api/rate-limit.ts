const windowMs = 60_000;

/**
 * At most `limit` requests of an account in any rolling 60 s; 0 is no limit. Refused requests do not count, or an
 * eager client would never get in again.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #taken = new Map<string, number[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the request; or the whole seconds after which it would be let in. */
  take(account: string, now: number): { readonly retryAfterSeconds: number } | undefined {
    if (this.#limit === 0) return undefined;
    const times = (this.#taken.get(account) ?? []).filter((time) => time > now - windowMs);
    this.#taken.set(account, times);
    const oldest = times[0];
    if (times.length >= this.#limit && oldest !== undefined) {
      return { retryAfterSeconds: Math.max(1, Math.ceil((oldest + windowMs - now) / 1_000)) };
    }
    times.push(now);
    return undefined;
  }
}
