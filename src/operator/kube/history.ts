import type { Clock } from '../../common/clock.ts';
import type { KubeResponse } from './connection.ts';
import { KubeConnectionError } from './errors.ts';

/** No backup is restored faster; a server of several, or one that begins anew, is mostly back before. */
const longMs = 5_000;

/**
 * What all that a process asks of one API server tells of its history: whether it may be another by now, as that of a server that
 * came back from a backup. A watch that is resumed there tells nothing of what came and went.
 */
export class History {
  readonly #monotonic: Clock;
  #era = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #failingSince: number | undefined;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  /** What was begun to be read in an earlier one is to be read anew. */
  get era(): number {
    return this.#era;
  }

  /** What was read in this era is not what the server has; of an earlier one that is known. */
  doubt(era: number): void {
    if (era === this.#era) this.#era += 1;
  }

  /** Asks, and takes note of whether the server was there to answer. */
  async note(ask: () => Promise<KubeResponse>): Promise<KubeResponse> {
    const askedAt = this.#monotonic.now();
    try {
      const response = await ask();
      if (response.status >= 500) this.#failed(askedAt);
      else this.#answered();
      return response;
    } catch (error) {
      if (error instanceof KubeConnectionError) this.#failed(askedAt);
      throw error;
    }
  }

  #answered(): void {
    this.#answeredAt = this.#monotonic.now();
    this.#failingSince = undefined;
  }

  /** Until the last failure of those: what is read by a question after it is of the history that goes on. */
  #failed(askedAt: number): void {
    this.#failingSince ??= Math.max(askedAt, this.#answeredAt);
    if (this.#monotonic.now() - this.#failingSince >= longMs) this.#era += 1;
  }
}
