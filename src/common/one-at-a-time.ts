import { unlessAborted } from './unless-aborted.ts';

/** Of what is done under one name, each piece begins when the one before has ended, well or not; those of other names hold up none. */
export class OneAtATime {
  /** By name: resolves when all that was asked for has ended. */
  readonly #last = new Map<string, Promise<void>>();

  /** @param signal ends the wait, after which the work is not done */
  async run<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const ended = before.then(() => promise);
    this.#last.set(name, ended);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      resolve();
      if (this.#last.get(name) === ended) this.#last.delete(name);
    }
  }
}
