import { Backoff } from './backoff.ts';
import type { Runtime } from './runtime.ts';

/** Short for the first ten or so, which together take a second. */
const delays = { minMs: 1, maxMs: 300_000 };
const defaultCalmMs = 600_000;
/** What is restored later than that is said to be contested. */
export const promisedMs = 1_000;

/**
 * When to restore what somebody else changed: at once, and later and later what is changed again and again. Two who restore
 * it, each as he knows it, would otherwise write as fast as they can, for ever.
 */
export class Restorations {
  readonly #clock: Runtime['monotonic'];
  readonly #calmMs: number;
  readonly #backoff: Backoff;
  /** By key, when what was last asked for was due. */
  readonly #dueAt = new Map<string, number>();
  /** By key, from when on what was changed may be restored, until it is. */
  readonly #awaited = new Map<string, number>();

  /** @param calmMs after which what is changed is changed for the first time; default 10 min */
  constructor({
    monotonic,
    random,
    calmMs = defaultCalmMs,
  }: Pick<Runtime, 'monotonic' | 'random'> & { readonly calmMs?: number }) {
    this.#clock = monotonic;
    this.#calmMs = calmMs;
    this.#backoff = new Backoff(delays, random);
  }

  /** Counts a change by somebody else; answers in how many milliseconds to restore it. */
  next(key: string): number {
    const now = this.#clock.now();
    if (now - (this.#dueAt.get(key) ?? now) >= this.#calmMs) this.#backoff.forget(key);
    const ms = this.#backoff.next(key);
    this.#dueAt.set(key, now + ms);
    return ms;
  }

  /**
   * As `next`, of who finds the same change again and again until it is `restored`: counts it once, and answers in how many
   * milliseconds that may be; 0 is now.
   */
  wait(key: string): number {
    const now = this.#clock.now();
    const known = this.#awaited.get(key);
    if (known !== undefined) return Math.max(0, known - now);
    const next = this.next(key);
    const ms = next < promisedMs ? 0 : next;
    this.#awaited.set(key, now + ms);
    return ms;
  }

  /** What is changed from now on is another change. */
  restored(key: string): void {
    this.#awaited.delete(key);
  }

  /** It is to be restored no more. */
  forget(key: string): void {
    this.#awaited.delete(key);
    this.#backoff.forget(key);
    this.#dueAt.delete(key);
  }
}
