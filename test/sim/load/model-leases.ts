import type { Scheduler } from '../core/scheduler.ts';

const durationMs = 15_000;

interface ModelLease {
  holder: string;
  renewedAt: number;
  wish: string | undefined;
  /** Nobody works on it since then, because its holder died. */
  orphanedAt: number | undefined;
}

/** The Leases of the shards, as the API server has them; a holder that lives renews them. */
export class ModelLeases {
  readonly gaps: number[] = [];
  readonly #leases: readonly ModelLease[];
  readonly #scheduler: Scheduler;

  constructor(count: number, scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#leases = Array.from({ length: count }, () => ({
      ...{ holder: '', renewedAt: 0, wish: undefined, orphanedAt: undefined },
    }));
  }

  /** By shard; empty where nobody has it. */
  get holders(): readonly string[] {
    const now = this.#scheduler.now;
    return this.#leases.map(({ holder, renewedAt }) => (now - renewedAt < durationMs ? holder : ''));
  }

  heldBy(name: string): readonly number[] {
    return this.holders.flatMap((holder, shard) => (holder === name ? [shard] : []));
  }

  /** Its holder takes or renews it; answers who has asked for it since. */
  hold(shard: number, name: string): string | undefined {
    const lease = this.#of(shard);
    const { wish, orphanedAt } = lease;
    if (orphanedAt !== undefined) this.gaps.push(this.#scheduler.now - orphanedAt);
    Object.assign(lease, { holder: name, renewedAt: this.#scheduler.now, wish: undefined, orphanedAt: undefined });
    return wish;
  }

  ask(shard: number, name: string): void {
    this.#of(shard).wish ??= name;
  }

  giveAway(shard: number): void {
    this.#of(shard).holder = '';
  }

  /** Its holder is dead, which nobody knows. */
  orphan(shard: number): void {
    this.#of(shard).orphanedAt = this.#scheduler.now;
  }

  #of(shard: number): ModelLease {
    return this.#leases[shard] as ModelLease;
  }
}
