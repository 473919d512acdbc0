import type { Clock } from '../../common/clock.ts';
import { isEmptied, type Lease, type LeaseSpec } from './lease.ts';

/** A lease as this process sees it: clocks of others are not trusted, only for how long its holder has not renewed it. */
export class ObservedLease {
  readonly #monotonic: Clock;
  readonly #defaultDurationMs: number;
  #lease: Lease | undefined;
  /** Outlives a Lease that somebody deletes or empties: its holder goes on until it hears of that. */
  #spec: LeaseSpec | undefined;
  /** What its holder wrote last: somebody who asks for the lease writes too, and renews nothing by that. */
  #claim: string | undefined;
  #changedAt = 0;

  constructor(monotonic: Clock, defaultDurationMs: number) {
    this.#monotonic = monotonic;
    this.#defaultDurationMs = defaultDurationMs;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Empty when nobody holds it. */
  get holder(): string {
    return this.#spec?.holderIdentity ?? '';
  }

  /** How long the holder's claim still stands; 0 when it may be taken. */
  get expiresInMs(): number {
    if (this.holder === '') return 0;
    const seconds = this.#spec?.leaseDurationSeconds ?? this.#defaultDurationMs / 1_000;
    return Math.max(0, this.#changedAt + seconds * 1_000 - this.#monotonic.now());
  }

  /** Answers whether its holder has written since it was seen last. */
  see(lease: Lease | undefined): boolean {
    this.#lease = lease;
    if (lease === undefined || isEmptied(lease)) return false;
    const claim = JSON.stringify(lease.spec);
    const isNew = claim !== this.#claim;
    if (isNew) this.#changedAt = this.#monotonic.now();
    this.#claim = claim;
    this.#spec = lease.spec;
    return isNew;
  }

  /** What was seen can no longer be relied on; it must be read again. */
  forget(): void {
    this.#lease = undefined;
    this.#spec = undefined;
  }
}
