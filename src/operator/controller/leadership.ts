import { JoinedSignal } from '../../common/joined-signal.ts';
import { LeaderElector, type LeaderElectorOptions } from './leader-election.ts';

/** Another replica holds the lease; this process can no longer be sure of what it remembers. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  constructor() {
    super('another replica took the lease over; this one must start afresh');
  }
}

/** Leads while holding the lease, or, without leader election, all the time. */
export class Leadership {
  readonly #elector: LeaderElector | undefined;

  constructor(lease: LeaderElectorOptions | undefined) {
    this.#elector = lease === undefined ? undefined : new LeaderElector(lease);
  }

  /** Throws when this process may not start a call now. */
  check(): void {
    if (this.#elector?.holdsLease() === false) throw new LeadershipLostError();
  }

  /**
   * Calls `lead` once this process leads; its signal aborts when it must stop. Resolves when `signal` aborted and
   * `lead` has returned, rejects with LeadershipLostError when the lease was lost before.
   */
  async run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#elector === undefined) return lead(signal);
    const term = async (leading: AbortSignal) => {
      using ended = new JoinedSignal(signal, leading);
      await lead(ended.signal);
    };
    if ((await this.#elector.run({ signal, lead: term })) === 'deposed') throw new LeadershipLostError();
  }
}
