import { Fifo } from '../../common/fifo.ts';

/** So many at a time work; what was begun goes before what is yet to begin. */
export class Workers {
  readonly #onFree: () => void;
  readonly #returning = new Fifo<() => void>();
  #free: number;

  /** @param onFree a worker is free, and nobody returns to it */
  constructor(count: number, onFree: () => void) {
    this.#free = count;
    this.#onFree = onFree;
  }

  get isFree(): boolean {
    return this.#free > 0;
  }

  /** One that is free. */
  take(): void {
    this.#free -= 1;
  }

  /** Resolves when there is one for who had given it back. */
  async retake(): Promise<void> {
    if (this.isFree) this.take();
    else await new Promise<void>((resolve) => this.#returning.push(resolve));
  }

  /** To who returns first; else it is free. */
  give(): void {
    const next = this.#returning.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#free += 1;
    this.#onFree();
  }
}
