/**
 * Creates of one kind on their way, and whose an object is between its creation and the record of it. Of all accounts:
 * two of them may be one, by their key.
 */
export class Claims {
  /** uid of a resource -> external id. */
  readonly #ids = new Map<string, string>();
  /** uid of a resource -> content of its create under way. */
  readonly #creating = new Map<string, string>();

  /** Runs one create, so that look-ups for lost creates of equal content know of it. */
  async creating<T>(uid: string, content: string, create: () => Promise<T>): Promise<T> {
    this.#creating.set(uid, content);
    try {
      return await create();
    } finally {
      this.#creating.delete(uid);
    }
  }

  isCreating(uid: string, content: string): boolean {
    return this.#creating.get(uid) === content;
  }

  claim(uid: string, id: string): void {
    this.#ids.set(uid, id);
  }

  unclaim(uid: string): void {
    this.#ids.delete(uid);
  }

  /** The object that a resource made or adopted and that may not be on record yet. */
  claimOf(uid: string): string | undefined {
    return this.#ids.get(uid);
  }

  claimedIDs(): ReadonlySet<string> {
    return new Set(this.#ids.values());
  }
}
