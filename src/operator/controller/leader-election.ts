import { type Clock, cancelled, type WallClock } from '../../common/clock.ts';
import { JoinedSignal } from '../../common/joined-signal.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Trouble } from '../../common/trouble.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists, isConflict } from '../kube/errors.ts';
import { claimed, LeaseStore, released, wishIn } from './lease.ts';
import { ObservedLease } from './observed-lease.ts';

/** Who is to have a lease, where several leases are shared out. */
export interface LeaseShare {
  /** Nobody holds it: whether to take it. */
  mayTake(): boolean;
  /** Somebody holds it: whether to ask for it. */
  wants(): boolean;
  /** Somebody asked for it: from now on the campaign may be ended. Asked once. */
  onWish(from: string): void;
}

export interface LeaderElectorOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random'> {
  /** Not behind a guard that asks this elector: it must be able to campaign. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process; of a joint lease that of all who hold it together. */
  readonly identity: string;
  /** Processes of this identity hold it together: whoever renews it does so for all, and nobody gives it away. */
  readonly isJoint?: boolean | undefined;
  /** Default: always to be taken, and never asked for. */
  readonly share?: LeaseShare | undefined;
  /** Others wait this long after the last renewal they saw; default 15 s. */
  readonly leaseDurationMs?: number | undefined;
  /** The leader gives up this long after the start of its last successful renewal; default 10 s. */
  readonly renewDeadlineMs?: number | undefined;
  /** Between attempts, to renew as to acquire; default 2 s. */
  readonly retryPeriodMs?: number | undefined;
  readonly log: Log;
}

/** How a term of leadership is run. */
export interface Campaign {
  /** Ends the campaign; a leader first waits for `lead` to return, then gives the lease away. */
  readonly signal: AbortSignal;
  /**
   * Called while this process leads. `leading` aborts when leadership is lost, not at the campaign's own end: for an
   * orderly stop `lead` watches the campaign's signal itself, still leads while it winds up, and then returns.
   */
  readonly lead: (leading: AbortSignal) => Promise<void>;
}

/**
 * Elects one leader among processes by means of a Lease, as client-go does: clocks of different machines are never
 * compared; a lease has expired when it has not been seen to change for its duration.
 */
export class LeaderElector {
  readonly #leases: LeaseStore;
  readonly #options: LeaderElectorOptions;
  readonly #clock: WallClock;
  readonly #monotonic: Clock;
  readonly #random: () => number;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  readonly #observed: ObservedLease;
  readonly #trouble: Trouble;
  /** Who was last said to lead. */
  #told = '';
  /** Until when, on the monotonic clock, nobody else can lead. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  #isServing = false;
  /** It has tried to take it, since it gave it away last. */
  #hasClaimed = false;
  /** When the last look at a joint lease began. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#leases = new LeaseStore(options.client, options);
    this.#clock = options.clock;
    this.#monotonic = options.monotonic;
    this.#random = options.random;
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000;
    this.#observed = new ObservedLease(this.#monotonic, this.#leaseDurationMs);
    const { identity, namespace, name, log } = options;
    this.#trouble = new Trouble(log.child({ lease: `${namespace}/${name}`, identity }), this.#monotonic);
    if (this.#renewDeadlineMs >= this.#leaseDurationMs || this.#retryPeriodMs >= this.#renewDeadlineMs) {
      throw new RangeError('leader election needs retry period < renew deadline < lease duration');
    }
  }

  /** True while no other process can lead. Asked before every call, it stops even a process that was frozen meanwhile. */
  holdsLease(): boolean {
    return this.#monotonic.now() < this.#leadsUntil;
  }

  /** From the beginning of a term until nothing is led any more. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** As it was last seen; others' claims that have run out are nobody's. */
  get holder(): string {
    const { holder, expiresInMs } = this.#observed;
    return this.holdsLease() ? this.#options.identity : expiresInMs > 0 ? holder : '';
  }

  /** Looks at it once, without taking it; throws what the look throws. */
  async look(): Promise<void> {
    this.#observed.see(await this.#leases.read(this.#monotonic.timeout(this.#renewDeadlineMs / 2)));
  }

  /**
   * Campaigns and leads once. Resolves to `deposed` when leadership was lost, else to `finished`: the signal aborted or
   * `lead` ended by itself. Either way only after `lead` has returned. Rejects with what `lead` rejects with, unless it
   * was deposed by then.
   */
  async run({ signal, lead }: Campaign): Promise<'finished' | 'deposed'> {
    return (await this.#acquire(signal)) ? this.#term(lead) : 'finished';
  }

  /** False when the signal aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    this.#log('info', 'waiting for leadership');
    while (!signal.aborted) {
      if (await this.#attempt(signal)) {
        this.#log('info', 'became the leader');
        return true;
      }
      await this.#monotonic.sleep(this.#pause(), signal).catch(() => {});
    }
    return false;
  }

  async #term(lead: Campaign['lead']): Promise<'finished' | 'deposed'> {
    const leading = new AbortController();
    const ended = new AbortController();
    this.#isServing = true;
    const renewing = this.#renewUntil(ended.signal, leading);
    try {
      await lead(leading.signal);
    } catch (error) {
      if (!leading.signal.aborted) throw error;
      this.#log('debug', 'leading ended with an error after leadership was lost', error);
    } finally {
      ended.abort(cancelled);
      await renewing;
      this.#isServing = false;
      await this.#release();
    }
    return leading.signal.aborted ? 'deposed' : 'finished';
  }

  /** Renews until `ended` aborts, or aborts `leading` at the renew deadline. */
  async #renewUntil(ended: AbortSignal, leading: AbortController): Promise<void> {
    while (!ended.aborted) {
      await this.#monotonic.sleep(Math.min(this.#retryPeriodMs, this.#remainingMs()), ended).catch(() => {});
      if (ended.aborted) return;
      // Not cut short by the end of the term: a write of unknown fate would stand in the way of the release.
      if (this.#remainingMs() > 0) await this.#attempt();
      if (this.holdsLease() || ended.aborted) continue;
      this.#log('error', `lost leadership: ${this.#loss()}`);
      leading.abort(new Error('leadership was lost'));
      return;
    }
  }

  #loss(): string {
    const { holder } = this.#observed;
    const isTaken = holder !== '' && holder !== this.#options.identity;
    return isTaken ? `${holder} has taken the lease` : 'the lease could not be renewed in time';
  }

  /** One try to acquire or renew; failures are logged and count as false. */
  async #attempt(signal?: AbortSignal): Promise<boolean> {
    const timeout = new AbortController();
    const limitMs = Math.min(this.#renewDeadlineMs / 2, this.#attemptLimitMs());
    const timer = this.#monotonic.sleep(limitMs, timeout.signal).then(
      () => timeout.abort(new Error(`no answer within ${Math.round(limitMs)} ms`)),
      () => {},
    );
    using either = new JoinedSignal(signal, timeout.signal);
    try {
      const holds = await this.#acquireOrRenew(either.signal);
      this.#trouble.over('the lease can be read and written again');
      return holds;
    } catch (error) {
      this.#attemptFailed(error, signal);
      return false;
    } finally {
      timeout.abort(cancelled);
      await timer;
    }
  }

  #attemptLimitMs(): number {
    return this.holdsLease() ? Math.max(1, this.#remainingMs()) : this.#renewDeadlineMs;
  }

  #attemptFailed(error: unknown, signal: AbortSignal | undefined): void {
    // The write may have been carried out all the same, so what it was based on may be stale.
    if (this.#observed.holder === this.#options.identity) this.#observed.forget();
    if (signal?.aborted) return;
    const raced = isConflict(error) || isAlreadyExists(error);
    const message = 'could not acquire or renew the lease';
    if (raced) this.#log('debug', message, error);
    else this.#trouble.failed(message, { error: error instanceof Error ? error.message : error });
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { identity, isJoint = false, share } = this.#options;
    const observed = this.#observed;
    // While we alone lead nobody else renews, so what we wrote last need not be read again.
    const isKnown = !isJoint && this.holdsLease() && observed.lease !== undefined;
    const { lookedAt, isNew } = isKnown ? { lookedAt: this.#lookedAt, isNew: false } : await this.#see(signal);
    // A Lease of a backup may name this process, from before it gave it away: somebody else may have it.
    const isOurs = observed.holder === identity && (isJoint || this.#hasClaimed);
    if (!isOurs && observed.expiresInMs > 0) {
      this.#leadsUntil = Number.NEGATIVE_INFINITY;
      this.#hasClaimed = false;
      // Of who takes it from a leader its end tells.
      if (!this.#isServing) this.#tellLeader(observed.holder);
      if (share?.wants() === true) observed.see(await this.#leases.ask(observed.lease, identity, signal));
      return false;
    }
    // One of ours has renewed it since the look before this one.
    if (isJoint && isNew && observed.holder === identity) {
      this.#leadsUntil = Math.max(this.#leadsUntil, lookedAt + this.#renewDeadlineMs);
      if (this.holdsLease()) return true;
    }
    // A lease of ours that somebody deleted is made again.
    if (observed.holder !== identity && !this.holdsLease() && share?.mayTake() === false) return false;
    const wish = wishIn(observed.lease);
    const spec = claimed(observed.lease?.spec, identity, this.#leaseDurationMs, this.#clock.now());
    const startedAt = this.#monotonic.now();
    this.#hasClaimed = true;
    observed.see(await this.#leases.write(observed.lease, spec, signal));
    this.#leadsUntil = startedAt + this.#renewDeadlineMs;
    if (this.#isServing && wish !== undefined && wish !== identity) share?.onWish(wish);
    return this.holdsLease();
  }

  /** Whether its holder has renewed it since the look before this one, and when that began. */
  async #see(signal: AbortSignal): Promise<{ readonly lookedAt: number; readonly isNew: boolean }> {
    const lookedAt = this.#lookedAt;
    const now = this.#monotonic.now();
    const isNew = this.#observed.see(await this.#leases.read(signal));
    this.#lookedAt = now;
    return { lookedAt, isNew };
  }

  /** So that the next leader need not wait for the lease to expire. */
  async #release(): Promise<void> {
    const held = this.holdsLease() && this.#options.isJoint !== true;
    this.#leadsUntil = Number.NEGATIVE_INFINITY;
    try {
      if (held && (await this.#giveAway())) {
        this.#hasClaimed = false;
        this.#log('info', 'gave up leadership');
      }
    } catch (error) {
      this.#log('warn', 'could not release the lease; others will wait for it to expire', error);
    } finally {
      this.#observed.forget();
    }
  }

  async #giveAway(): Promise<boolean> {
    const timeout = this.#monotonic.timeout(this.#renewDeadlineMs / 2);
    for (let lease = this.#observed.lease; ; lease = undefined) {
      lease ??= await this.#leases.read(timeout);
      if (lease?.spec?.holderIdentity !== this.#options.identity) return false;
      try {
        await this.#leases.write(lease, released(lease.spec, this.#clock.now()), timeout);
        return true;
      } catch (error) {
        // Who asks for it writes to it, too.
        if (!isConflict(error)) throw error;
      }
    }
  }

  /** Until the next try to acquire; not longer than the present claim stands. */
  #pause(): number {
    const jittered = this.#retryPeriodMs * (0.8 + 0.2 * this.#random());
    const { expiresInMs } = this.#observed;
    return expiresInMs > 0 ? Math.min(jittered, expiresInMs) : jittered;
  }

  #remainingMs(): number {
    return Math.max(0, this.#leadsUntil - this.#monotonic.now());
  }

  /** Another replica, or, where nothing happens for no other reason, another installation in the namespace. */
  #tellLeader(leader: string): void {
    if (leader === this.#told) return;
    this.#told = leader;
    this.#log('info', `${leader} leads; waiting for it to give that up`);
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', message: string, error?: unknown): void {
    const { identity, namespace, name, log } = this.#options;
    const cause = error instanceof Error ? error.message : error;
    log[level](message, { lease: `${namespace}/${name}`, identity, ...(cause === undefined ? {} : { error: cause }) });
  }
}
