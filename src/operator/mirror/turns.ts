import { Backoff } from '../../common/backoff.ts';
import type { Runtime } from '../../common/runtime.ts';

export interface TurnsOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  /** The longest until the next has its turn. */
  readonly maxMs: number;
  /** The more wait the sooner the next has its turn, so that each waits no longer, but not sooner than this; default `maxMs`. */
  readonly paceMs?: number;
  /** Has the key tried in so many milliseconds. */
  readonly enqueue: (key: string, ms: number) => void;
}

const minMs = 1_000;

/**
 * Keys that were refused alike: one tries for all, each in its turn, later and later. When it is through the rest goes on at
 * once, until one of it is refused again.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #backoff: Backoff;
  /** Whoever was refused longest ago first. */
  readonly #waiting = new Set<string>();
  /** While it is nobody's, all may try. */
  #turn: { readonly key: string; readonly dueAt: number } | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ minMs, maxMs: options.maxMs }, options.random);
  }

  /** Whether a key that waits may try now; else it is told when it may. */
  mayTry(key: string): boolean {
    if (this.#turn?.key !== key) return this.#turn === undefined;
    const leftMs = this.#leftMs(this.#turn.dueAt);
    // It came for another reason, and the queue may not know of its time.
    if (leftMs > 0) this.#options.enqueue(key, leftMs);
    return leftMs === 0;
  }

  /** It waits from now on. */
  refused(key: string, atLeastMs = 0): void {
    this.#waiting.delete(key);
    this.#waiting.add(key);
    // Another has its turn: this one was refused beside it.
    if (this.#turn !== undefined && this.#turn.key !== key) return;
    const ms = this.#backoff.next();
    const { maxMs, paceMs = maxMs } = this.#options;
    this.#giveTurn(Math.max(Math.min(ms, paceMs), ms / this.#waiting.size, atLeastMs));
  }

  /** One that waited is not refused any more. */
  through(key: string): void {
    this.#waiting.delete(key);
    this.#backoff.forget();
    this.#turn = undefined;
    for (const other of this.#waiting) this.#options.enqueue(other, 0);
  }

  /** It has nothing to try any more; the next has its turn instead. */
  leave(key: string): void {
    this.#waiting.delete(key);
    if (this.#turn?.key === key) this.#giveTurn(this.#leftMs(this.#turn.dueAt));
  }

  #giveTurn(ms: number): void {
    const [key] = this.#waiting;
    if (key === undefined) {
      this.#turn = undefined;
      this.#backoff.forget();
      return;
    }
    this.#turn = { key, dueAt: this.#options.monotonic.now() + ms };
    this.#options.enqueue(key, ms);
  }

  #leftMs(dueAt: number): number {
    return Math.max(0, dueAt - this.#options.monotonic.now());
  }
}
