/** Runs of which those with the same key follow one another. Keeps nothing of what has ended. */
export class Successions {
  /** The end of the last run of each key, until it is over. */
  readonly #ends = new Map<string, Promise<void>>();

  /** Begins when the last run of the key has ended. `run` must not reject. */
  begin(key: string, run: () => Promise<void>): void {
    const end = this.end(key)
      .then(run)
      .finally(() => {
        if (this.#ends.get(key) === end) this.#ends.delete(key);
      });
    this.#ends.set(key, end);
  }

  /** Resolves when the last run that was begun so far has ended. */
  async end(key: string): Promise<void> {
    await this.#ends.get(key);
  }

  /** Of the runs that are not over. */
  keys(): readonly string[] {
    return [...this.#ends.keys()];
  }
}
