import type { Log } from '../../common/log.ts';
import { newId, type Random } from '../ids.ts';
import type { Ticks } from '../metrics/rate.ts';
import { endpointOf, type ServedTunnel } from './endpoint.ts';
import { type LeaseClient, LeaseError } from './lease-client.ts';

/** How long the cloud keeps an endpoint after the last word of its agent. */
const leaseMs = 30_000;
/** Leaves room for two renewals that fail. */
const renewMs = 10_000;
const firstRetryMs = 500;

export interface LeaseOptions {
  readonly client: Pick<LeaseClient, 'put' | 'delete'>;
  readonly region: string;
  readonly ticks: Ticks;
  readonly random: Random;
  readonly log: Log;
}

/** The endpoint of one running tunnel at the cloud, under ids of its own. */
export class Lease {
  readonly #tunnel: ServedTunnel;
  readonly #options: LeaseOptions;
  readonly #id: string;
  readonly #tunnelId: string;
  #dueAt = 0;
  #failures = 0;
  #problem: LeaseError | undefined;
  /** Ticks of the last PUT that succeeded, and of the last one that the cloud may have carried out. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #withdrawing = false;
  #over = false;

  constructor(tunnel: ServedTunnel, options: LeaseOptions) {
    this.#tunnel = tunnel;
    this.#options = options;
    this.#id = newId(options.random, 'ep');
    this.#tunnelId = newId(options.random, 'tn');
  }

  /** When there is something to do next, in ticks. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** Why the last request failed. */
  get problem(): LeaseError | undefined {
    return this.#problem;
  }

  /** The cloud does not show it any more, and will not be told of it again. */
  get isOver(): boolean {
    return this.#over;
  }

  get isShown(): boolean {
    return !this.#over && this.#options.ticks() < this.#renewedAt + leaseMs;
  }

  /** What failed is tried again now. */
  retry(): void {
    if (this.#problem !== undefined) this.#dueAt = 0;
  }

  async renewIfDue(): Promise<void> {
    const { client, region, ticks, log } = this.#options;
    if (this.#dueAt > ticks()) return;
    await this.#attempt(() => client.put(this.#id, endpointOf(this.#tunnel, region, this.#tunnelId)));
    this.#askedAt = ticks();
    if (this.#problem !== undefined) return;
    if (this.#renewedAt < 0) log.info('endpoint registered', this.#fields());
    this.#renewedAt = this.#askedAt;
  }

  async withdraw(): Promise<void> {
    const { client, ticks, log } = this.#options;
    if (!this.#withdrawing) this.#dueAt = 0;
    this.#withdrawing = true;
    // By then the cloud has forgotten it by itself.
    this.#over = ticks() >= this.#askedAt + leaseMs;
    if (this.#over || this.#dueAt > ticks()) return;
    await this.#attempt(() => client.delete(this.#id));
    if (this.#problem !== undefined) return;
    this.#over = true;
    log.info('endpoint withdrawn', this.#fields());
  }

  async #attempt(request: () => Promise<void>): Promise<void> {
    try {
      await request();
      [this.#problem, this.#failures] = [undefined, 0];
      this.#dueAt = this.#options.ticks() + renewMs;
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      [this.#problem, this.#failures] = [error, this.#failures + 1];
      this.#dueAt = this.#options.ticks() + Math.max(this.#backoff(), error.retryAfterMs);
    }
  }

  /** Jittered; in the end as many requests as renewals would be, twice as many at most. */
  #backoff(): number {
    const longest = Math.min(firstRetryMs * 2 ** Math.min(this.#failures - 1, 10), renewMs);
    return longest * (0.5 + this.#options.random() / 2);
  }

  #fields() {
    return { tunnel: this.#tunnel.key, endpoint: this.#id };
  }
}
