/** Admits `limit` holders at a time, the rest in order of arrival. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async acquire(): Promise<void> {
    if (this.#held < this.#limit) {
      this.#held++;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#held--;
    else next();
  }
}
