import { JoinedSignal } from '../../common/joined-signal.ts';
import { LeaderElector, type LeaderElectorOptions } from './leader-election.ts';
import { Sharing } from './sharing.ts';

/** Another replica may hold what this one held; this process can no longer be sure of what it remembers. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  constructor() {
    super('the lease was not renewed in time, or another replica has it; this one must start afresh');
  }
}

export interface LeadershipOptions {
  /** The work is divided into so many shards, from 0. */
  readonly shards: number;
  /** Undefined without leader election: this process leads all the time. */
  readonly lease: Omit<LeaderElectorOptions, 'share' | 'isJoint'> | undefined;
}

/** Works on a shard until `term` aborts, and returns when nothing of it is under way any more. */
export type Hold = (shard: number, term: AbortSignal) => Promise<void>;

/**
 * Leads in the shards whose leases it holds, or, without leader election, in all. One shard has the lease itself. Several
 * have leases of their own, and all who agree on their number hold the lease itself together: those who think it is
 * another number, and so divide the work otherwise, wait until none of these is left.
 */
export class Leadership {
  readonly #shards: number;
  readonly #joint: LeaderElector | undefined;
  /** By shard; none without leader election. */
  readonly #electors: readonly LeaderElector[];
  readonly #campaigns = new Map<number, AbortController>();
  readonly #sharing: Sharing | undefined;

  constructor({ shards, lease }: LeadershipOptions) {
    this.#shards = shards;
    this.#electors = lease === undefined ? [] : this.#electorsOf(lease);
    if (lease === undefined || shards === 1) return;
    this.#joint = new LeaderElector({ ...lease, identity: `${shards} shards`, isJoint: true });
    const holders = () => this.#electors.map(({ holder }) => holder);
    this.#sharing = new Sharing({ identity: lease.identity, holders, monotonic: lease.monotonic });
  }

  /** Throws when this process may not start a call now: one that has lost a shard may be wrong about the others too. */
  check(): void {
    if (this.#electors.length === 0) return;
    const serving = this.#electors.filter(({ isServing }) => isServing);
    const held = this.#joint === undefined ? serving : [this.#joint, ...serving];
    if (serving.length === 0 || !held.every((elector) => elector.holdsLease())) throw new LeadershipLostError();
  }

  /**
   * Calls `hold` for each shard, whenever this process leads in it; its term ends when the shard goes to another replica,
   * or when all ends. Resolves when `signal` aborted and every `hold` has returned; rejects with LeadershipLostError when
   * a lease was lost before.
   */
  async run(signal: AbortSignal, hold: Hold): Promise<void> {
    const lead = (stop: AbortSignal) => this.#serveAll(stop, hold);
    if (this.#joint === undefined) return lead(signal);
    if ((await this.#joint.run({ signal, lead: joined(signal, lead) })) === 'deposed') throw new LeadershipLostError();
  }

  #electorsOf(lease: LeaderElectorOptions): readonly LeaderElector[] {
    if (this.#shards === 1) return [new LeaderElector(lease)];
    return Array.from({ length: this.#shards }, (_, shard) => {
      const share = {
        mayTake: () => this.#sharing?.mayTake(shard) === true,
        wants: () => this.#sharing?.wants(shard) === true,
        onWish: (from: string) => {
          if (this.#sharing?.yields(shard, from) === true) this.#campaigns.get(shard)?.abort();
        },
      };
      return new LeaderElector({ ...lease, name: `${lease.name}-${shard}`, share });
    });
  }

  /** All of them end when one of them fails. */
  async #serveAll(signal: AbortSignal, hold: Hold): Promise<void> {
    const failed = new AbortController();
    using either = new JoinedSignal(signal, failed.signal);
    await this.#lookAtAll();
    const serve = (shard: number) =>
      this.#serve(shard, either.signal, hold).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
    const ends = await Promise.allSettled(Array.from({ length: this.#shards }, (_, shard) => serve(shard)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** So that the first look at each lease need not wait for the next one. */
  async #lookAtAll(): Promise<void> {
    const look = (elector: LeaderElector, shard: number) => elector.look().then(() => this.#sharing?.saw(shard));
    if (this.#sharing !== undefined) await Promise.allSettled(this.#electors.map(look));
  }

  /** Again and again: a shard that was given away may come back. */
  async #serve(shard: number, signal: AbortSignal, hold: Hold): Promise<void> {
    const elector = this.#electors[shard];
    if (elector === undefined) return hold(shard, signal);
    while (!signal.aborted) {
      const given = new AbortController();
      this.#campaigns.set(shard, given);
      using either = new JoinedSignal(signal, given.signal);
      const lead = joined(either.signal, (term) => hold(shard, term));
      if ((await elector.run({ signal: either.signal, lead })) === 'deposed') throw new LeadershipLostError();
      this.#sharing?.gave(shard);
    }
  }
}

/** For an orderly end too. */
function joined(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>) {
  return async (leading: AbortSignal): Promise<void> => {
    using ended = new JoinedSignal(signal, leading);
    await lead(ended.signal);
  };
}
