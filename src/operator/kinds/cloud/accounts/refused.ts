/** Whether the record can be kept: what is refused is for a while taken for something that will be put right. */
export class Refused {
  #since: number | undefined;
  #isForGood = false;

  /** It was refused the last time. */
  get isSo(): boolean {
    return this.#since !== undefined;
  }

  /** For so long at least. */
  hasLasted(ms: number, now: number): boolean {
    return this.#since !== undefined && now - this.#since >= ms;
  }

  /** For so long that there is nowhere to keep it. */
  get isForGood(): boolean {
    return this.#isForGood;
  }

  /** It was kept. */
  over(): void {
    this.#since = undefined;
    this.#isForGood = false;
  }

  /**
   * It was not, which lasts so long before it is for good; undefined where it passes by itself. Answers whether that is news.
   */
  failed(lastsMs: number | undefined, now: number): boolean {
    const [wasSo, wasForGood] = [this.isSo, this.#isForGood];
    this.#since = lastsMs === undefined ? undefined : (this.#since ?? now);
    this.#isForGood = lastsMs !== undefined && now - (this.#since ?? now) >= lastsMs;
    return !this.isSo || wasSo !== this.isSo || wasForGood !== this.#isForGood;
  }
}
