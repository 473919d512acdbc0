import { Backoff } from '../../../../common/backoff.ts';
import type { Clock } from '../../../../common/clock.ts';
import { JoinedSignal } from '../../../../common/joined-signal.ts';
import type { Log } from '../../../../common/log.ts';
import type { Runtime } from '../../../../common/runtime.ts';
import { Trouble } from '../../../../common/trouble.ts';
import type { RequestReport } from '../../../cloud/transport.ts';

/** So many requests in a row without a usable answer are an outage, and no bad luck. */
const inARow = 3;
const soonestMs = 10_000;
const latestMs = 30_000;
/** Of a budget, what finding out may take. */
const share = 1 / 8;
/** What comes and goes does not have everyone try again each time it comes. */
const apartMs = 5 * 60_000;

export interface OutageOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly log: Log;
  readonly requestsPerMinute: () => number;
  /** One cheap request, whose report comes here like any other. */
  readonly probe: () => Promise<unknown>;
  /** Nothing is to be sent for the account for now. */
  readonly isIdle: () => boolean;
  /** The service answers again: whoever failed for its sake need not wait any longer. */
  readonly onOver: () => void;
  /** The account is closed. */
  readonly closed: AbortSignal;
}

/**
 * Notices that a service does not answer an account, finds out when it does again, every 10 to 30 s by one request (later
 * where the budget is small, or the service asks for that), and tells then: resources that failed meanwhile would wait for up to five minutes.
 */
export class Outage {
  readonly #options: OutageOptions;
  readonly #clock: Clock;
  readonly #trouble: Trouble;
  #failures = 0;
  /** Until when the service asked not to be asked again. */
  #quietUntil = Number.NEGATIVE_INFINITY;
  /** Aborted when it is over. */
  #outage: AbortController | undefined;
  /** The probe was not answered either: it is not some operations alone that fail. */
  #isWhole = false;
  #overAt = Number.NEGATIVE_INFINITY;

  constructor(options: OutageOptions) {
    this.#options = options;
    this.#clock = options.monotonic;
    this.#trouble = new Trouble(options.log, options.monotonic);
  }

  /** Of each request of the account. */
  heard({ operation, outcome, retryAfterMs = 0 }: Pick<RequestReport, 'operation' | 'outcome' | 'retryAfterMs'>): void {
    if (outcome !== 'Unreachable') {
      this.#answered();
      return;
    }
    this.#quietUntil = Math.max(this.#quietUntil, this.#clock.now() + retryAfterMs);
    this.#failures += 1;
    if (this.#failures < inARow) return;
    this.#trouble.failed('the cloud does not answer', { operation });
    if (this.#outage !== undefined) return;
    this.#outage = new AbortController();
    this.#isWhole = false;
    void this.#findOut(this.#outage.signal);
  }

  get #quietMs(): number {
    return this.#quietUntil - this.#clock.now();
  }

  #answered(): void {
    this.#failures = 0;
    this.#quietUntil = Number.NEGATIVE_INFINITY;
    if (this.#outage === undefined) return;
    this.#outage.abort();
    this.#outage = undefined;
    this.#trouble.over('the cloud answers again');
    const now = this.#clock.now();
    // Whoever failed before the first probe does not wait for long; one operation that fails stays as it is.
    if (!this.#isWhole || now - this.#overAt < apartMs) return;
    this.#overAt = now;
    this.#options.onOver();
  }

  async #findOut(ended: AbortSignal): Promise<void> {
    using either = new JoinedSignal(this.#options.closed, ended);
    const over = either.signal;
    const { requestsPerMinute, random, probe, isIdle } = this.#options;
    const maxMs = Math.max(latestMs, 60_000 / (requestsPerMinute() * share));
    const backoff = new Backoff({ minMs: Math.min(soonestMs, maxMs), maxMs }, random);
    while (!over.aborted) {
      await this.#clock.sleep(Math.max(backoff.next(), this.#quietMs), over).catch(() => {});
      if (over.aborted || isIdle() || this.#quietMs > 0) continue;
      await probe().catch(() => {});
      if (!over.aborted) this.#isWhole = true;
    }
  }
}
