import { Backoff } from '../../../../common/backoff.ts';
import type { Clock } from '../../../../common/clock.ts';
import { ApiError } from '../../../../common/http/errors.ts';

export interface AwayOptions {
  readonly clock: Clock;
  /** In 0..1, for jitter. */
  readonly random: () => number;
  /** Longest pause, in milliseconds, before an agent that is away is tried again. */
  readonly retryMs: number;
}

const minRetryMs = 500;
const key = '';

/** Remembers that an agent is away, for all who would ask it: one finds out for them whether it is back. */
export class Away {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #retryMs: number;
  #failure: { readonly error: ApiError; readonly until: number } | undefined;
  #lastAt = 0;
  #trying = 0;

  constructor({ clock, random, retryMs }: AwayOptions) {
    this.#clock = clock;
    this.#retryMs = retryMs;
    this.#backoff = new Backoff({ minMs: Math.min(minRetryMs, retryMs), maxMs: retryMs }, random);
  }

  get isAway(): boolean {
    return this.#failure !== undefined;
  }

  /** When the agent was last found to be away: what was seen before may have ended with it. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** When the agent is to be tried again; a clock that was set back does not put it off. */
  retryInMs(): number {
    return Math.min(this.#retryMs, Math.max(0, (this.#failure?.until ?? 0) - this.#clock.now()));
  }

  /** Throws what the last attempt threw, unless it is time for another and nobody is at it. */
  check(): void {
    if (this.#failure !== undefined && (this.#trying > 0 || this.retryInMs() > 0)) throw this.#failure.error;
  }

  /** Learns from an attempt whether the agent is away. */
  async try<T>(attempt: () => Promise<T>): Promise<T> {
    this.#trying += 1;
    try {
      const result = await attempt();
      this.#failure = undefined;
      this.#backoff.forget(key);
      return result;
    } catch (error) {
      throw error instanceof ApiError ? this.#failed(error) : error;
    } finally {
      this.#trying -= 1;
    }
  }

  #failed(cause: ApiError): ApiError {
    const now = this.#clock.now();
    const error = asAway(cause);
    this.#lastAt = now;
    // Once for all who tried meanwhile.
    if (this.retryInMs() === 0) this.#failure = { error, until: now + this.#backoff.next(key) };
    return error;
  }
}

/** What has no status and no tunnels is no agent. */
function asAway(error: ApiError): ApiError {
  if (error.reason !== 'NotFound') return error;
  return new ApiError('this is no Local Agent API; check the address of the agent', {
    ...error,
    reason: 'Unreachable',
    cause: error,
  });
}
