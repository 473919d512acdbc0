import { Backoff } from '../../common/backoff.ts';
import { ApiError } from '../../common/http/errors.ts';
import { JoinedSignal } from '../../common/joined-signal.ts';
import type { Runtime } from '../../common/runtime.ts';

export interface SweepsOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random'> {
  /** Rejects when it could not read everything. */
  readonly sweep: (startedAt: number, signal: AbortSignal) => Promise<void>;
  /** Changes are to be seen within this time. */
  readonly intervalMs: number;
  /** The last sweep ended; with `error`, why it failed. */
  readonly onEnd: (error: Error | undefined) => void;
}

/** Of the interval; the rest is for reading the pages and for the writes that come of them. */
const period = 0.8;
const maxStartDelayMs = 1_000;
const minRetryMs = 1_000;
/** Of what a failed one took: with less between them, those that fail late would take most of the account's budget. */
const restsPerFailure = 4;

/**
 * Sweeps, one after the other, often enough to see every change within the interval, beginning at a random moment of
 * the first second. A failed one is repeated sooner, unless it took long, but never before the time that the service named.
 */
export class Sweeps {
  readonly #options: SweepsOptions;
  readonly #backoff: Backoff;
  #pause = new AbortController();

  constructor(options: SweepsOptions) {
    const { intervalMs, random } = options;
    this.#options = options;
    this.#backoff = new Backoff({ minMs: Math.min(minRetryMs, intervalMs), maxMs: intervalMs }, random);
  }

  /** Until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, intervalMs } = this.#options;
    await this.#sleep(random() * Math.min(maxStartDelayMs, intervalMs), signal);
    while (!signal.aborted) await this.#sleep(await this.#next(signal), signal);
  }

  /** Ends the pause that is under way, or leaves out the one after the sweep that is; not what the service asked for. */
  now(): void {
    this.#pause.abort();
  }

  /** One sweep; resolves to how long to pause. */
  async #next(signal: AbortSignal): Promise<number> {
    const { sweep, clock, monotonic, intervalMs, onEnd } = this.#options;
    const startedAt = monotonic.now();
    this.#pause = new AbortController();
    try {
      await sweep(clock.now(), signal);
    } catch (error) {
      const stretch = Math.max(1, (restsPerFailure * (monotonic.now() - startedAt)) / intervalMs);
      if (!signal.aborted) onEnd(error instanceof Error ? error : new Error(String(error)));
      const askedMs = askedPauseOf(error);
      if (askedMs > 0) await monotonic.sleep(askedMs, signal).catch(() => {});
      return this.#backoff.next() * stretch - askedMs;
    }
    this.#backoff.forget();
    onEnd(undefined);
    return intervalMs * period - (monotonic.now() - startedAt);
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    using ended = new JoinedSignal(signal, this.#pause.signal);
    await this.#options.monotonic.sleep(Math.max(0, ms), ended.signal).catch(() => {});
  }
}

/** A key that was refused may be replaced at any moment, and is then to be tried at once. */
function askedPauseOf(error: unknown): number {
  if (!(error instanceof ApiError) || error.reason === 'Unauthorized') return 0;
  return error.retryAfterMs ?? 0;
}
