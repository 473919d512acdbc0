import { Backoff } from '../../common/backoff.ts';
import { ApiError } from '../../common/http/errors.ts';
import type { Log } from '../../common/log.ts';
import { newId, type Random } from '../ids.ts';
import type { Ticks } from '../metrics/rate.ts';
import { endpointOf, type ServedTunnel } from './endpoint.ts';
import type { LeaseClient } from './lease-client.ts';

/** How long the cloud keeps an endpoint after the last word of its agent. */
const leaseMs = 30_000;
/** Leaves room for two renewals that fail. */
const renewMs = 10_000;
/** In the end as many requests as renewals would be, twice as many at most. */
const retryMs = { minMs: 500, maxMs: renewMs };

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
  readonly #retries: Backoff;
  #dueAt = 0;
  #problem: ApiError | undefined;
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
    this.#retries = new Backoff(retryMs, options.random);
  }

  /** When there is something to do next, in ticks. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** Why the last request failed. */
  get problem(): ApiError | undefined {
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
      this.#problem = undefined;
      this.#retries.forget(this.#id);
      this.#dueAt = this.#options.ticks() + renewMs;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#problem = error;
      this.#dueAt = this.#options.ticks() + Math.max(this.#retries.next(this.#id), error.retryAfterMs ?? 0);
    }
  }

  #fields() {
    return { tunnel: this.#tunnel.key, endpoint: this.#id };
  }
}
