import type { Clock } from '../../common/clock.ts';
import type { ServedTunnel } from './endpoint.ts';
import { Lease, type LeaseOptions } from './lease.ts';

const longestWaitMs = 60_000;

export interface LeasesOptions extends LeaseOptions {
  /** Those running now. */
  readonly tunnels: () => readonly ServedTunnel[];
  readonly sleep: Clock['sleep'];
}

/** What the agent knows of its endpoints at the cloud. */
export interface LeaseStatus {
  /** Endpoints that the cloud shows. */
  readonly registered: number;
  /** What is wrong with one of the others. */
  readonly error?: string;
}

/**
 * Keeps the running tunnels registered at the cloud as endpoints: each is renewed every 10 s, and withdrawn as soon as
 * its tunnel stops. Each sync compares what runs with what is registered, whatever has changed since the last one;
 * nothing waits for it.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #leases = new Map<ServedTunnel, Lease>();
  /** Ends the wait for the next sync. */
  #wait = new AbortController();
  #problem: string | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** The next sync is due now: a tunnel has started or stopped. */
  syncNow(): void {
    this.#wait.abort();
  }

  /** What failed is tried again now: the key has changed. */
  retryFailed(): void {
    for (const lease of this.#leases.values()) lease.retry();
    this.syncNow();
  }

  /** Until `stop` aborts; then every endpoint is withdrawn, each with one attempt. */
  async run(stop: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.syncNow(), { once: true });
    while (!stop.aborted) {
      this.#wait = new AbortController();
      await this.#sync(this.#options.tunnels());
      if (!stop.aborted) await this.#options.sleep(this.#waitMs(), this.#wait.signal).catch(() => {});
    }
    await this.#sync([]);
  }

  status(): LeaseStatus {
    const registered = [...this.#leases.values()].filter(({ isShown }) => isShown).length;
    return { registered, ...(this.#problem === undefined ? {} : { error: this.#problem }) };
  }

  async #sync(running: readonly ServedTunnel[]): Promise<void> {
    for (const tunnel of running) {
      if (!this.#leases.has(tunnel)) this.#leases.set(tunnel, new Lease(tunnel, this.#options));
    }
    const wanted = new Set(running);
    const work = [...this.#leases].map(([tunnel, lease]) =>
      wanted.has(tunnel) ? lease.renewIfDue() : lease.withdraw(),
    );
    await Promise.all(work);
    for (const [tunnel, lease] of this.#leases) if (lease.isOver) this.#leases.delete(tunnel);
    this.#report([...this.#leases.values()].find(({ problem }) => problem !== undefined)?.problem?.message);
  }

  /** A problem that stays the same is one line. */
  #report(problem: string | undefined): void {
    const { log } = this.#options;
    if (problem !== undefined && problem !== this.#problem)
      log.warn('not all endpoints are registered as they should be', { error: `the cloud: ${problem}` });
    if (problem === undefined && this.#problem !== undefined) log.info('all endpoints are registered again');
    this.#problem = problem;
  }

  #waitMs(): number {
    const next = Math.min(...[...this.#leases.values()].map(({ dueAt }) => dueAt));
    return Math.min(Math.max(next - this.#options.ticks(), 0), longestWaitMs);
  }
}
