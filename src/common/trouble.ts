import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';

const apartMs = 5 * 60_000;

/**
 * Tells of what fails again and again without a line each time: one when it begins, one in five minutes that says how
 * often, and one when it is over. What comes and goes has no more lines than that either.
 */
export class Trouble {
  readonly #log: Log;
  readonly #monotonic: Pick<Clock, 'now'>;
  #toldAt = Number.NEGATIVE_INFINITY;
  #open: { readonly since: number; failures: number; isTold: boolean; overAt?: number } | undefined;

  constructor(log: Log, monotonic: Pick<Clock, 'now'>) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  failed(message: string, fields: LogFields = {}): void {
    const now = this.#monotonic.now();
    if (now - (this.#open?.overAt ?? now) >= apartMs) this.#open = undefined;
    this.#open ??= { since: now, failures: 0, isTold: false };
    this.#open.failures += 1;
    if (now - this.#toldAt < apartMs) {
      this.#log.debug(message, fields);
      return;
    }
    this.#toldAt = now;
    this.#open.isTold = true;
    this.#log.warn(message, this.#open.failures === 1 ? fields : { ...fields, ...this.#extent() });
  }

  /** It works; nothing is said when no failure was told. */
  over(message: string): void {
    if (this.#open === undefined) return;
    this.#open.overAt = this.#monotonic.now();
    if (!this.#open.isTold) return;
    this.#log.info(message, this.#extent());
    this.#open = undefined;
  }

  #extent(): LogFields {
    const { since, failures } = this.#open ?? { since: 0, failures: 0 };
    return { failures, forSeconds: Math.round((this.#monotonic.now() - since) / 1_000) };
  }
}
