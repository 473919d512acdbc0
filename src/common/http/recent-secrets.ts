const mostSecrets = 32;
const mostCharacters = 64 * 1024;

/**
 * The secrets that were sent last, at most 32 of them and 64 KiB, so that looking for them takes milliseconds: a service
 * may repeat one in an answer about something else.
 */
export class RecentSecrets {
  /** The oldest first. */
  readonly #known = new Set<string>();
  #characters = 0;

  add(secrets: readonly string[]): void {
    for (const secret of secrets) {
      this.#remove(secret);
      this.#known.add(secret);
      this.#characters += secret.length;
    }
    for (const oldest of this.#known) {
      if (this.#characters <= mostCharacters && this.#known.size <= mostSecrets) return;
      this.#remove(oldest);
    }
  }

  all(): readonly string[] {
    return [...this.#known];
  }

  #remove(secret: string): void {
    if (this.#known.delete(secret)) this.#characters -= secret.length;
  }
}
