/** No account's key is replaced often; of what is older nobody is sure. */
const kept = 16;

/** Which key an account had when, at whatever address. Lives in memory alone. */
export class KeyHistory {
  /** The last one is in force. */
  readonly #keys: { readonly identity: string | undefined; readonly at: number }[] = [];
  #rekeyedAt: number | undefined;

  /**
   * @param identity the same for one key at one address; undefined for no key
   * @param at from when it is in force, on the monotonic clock
   */
  begin(identity: string | undefined, at: number): void {
    const last = this.#keys.at(-1);
    if (last !== undefined && last.identity === identity) return;
    if (last !== undefined) this.#rekeyedAt = at;
    this.#keys.push({ identity, at });
    if (this.#keys.length > kept) this.#keys.shift();
  }

  /** Of every key that it had, the one in force included. */
  get identities(): readonly string[] {
    return this.#keys.flatMap(({ identity }) => identity ?? []);
  }

  /** When the key in force took the place of another one; undefined where it took no other's. */
  get rekeyedAt(): number | undefined {
    return this.#rekeyedAt;
  }

  /** Another key than the one in force was in force at that time. */
  wasAnother(at: number): boolean {
    // In the very moment of a change it was the one before, where there was one.
    const then = this.#keys.findLast((each) => each.at < at) ?? this.#keys.find((each) => each.at === at);
    return then?.identity !== this.#keys.at(-1)?.identity;
  }
}
