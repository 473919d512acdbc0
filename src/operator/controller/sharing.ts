import type { Clock } from '../../common/clock.ts';

export interface SharingOptions {
  /** Of this process. */
  readonly identity: string;
  /** Who holds each of them now, as far as it is known; empty for nobody. */
  readonly holders: () => readonly string[];
  readonly monotonic: Clock;
}

/** What a lease will soon be, by what this process has done about it. */
interface Expected {
  readonly holder: string;
  /** Who held it when that was done. */
  readonly before: string;
  /** It was asked for, and may be refused. */
  readonly isAsked: boolean;
  readonly until: number;
}

/** A free lease that is to be taken is taken by then, or was not; who gave it away takes it again. */
const takenMs = 5_000;
/** What is under way with a lease is at its end by then. */
const windDownMs = 30_000;
/** Who is asked has answered by then. */
const answeredMs = 6_000;

/**
 * Shares leases out evenly among the processes that hold or ask for some, without any of them being in charge: what is
 * free is taken up to a fair share, who has two fewer than another asks that one for a lease, and who is asked gives
 * where that makes it more even. No lease goes to and fro.
 */
export class Sharing {
  readonly #options: SharingOptions;
  readonly #looked = new Set<number>();
  readonly #expected = new Map<number, Expected>();

  constructor(options: SharingOptions) {
    this.#options = options;
  }

  /** It is known who holds the lease. */
  saw(lease: number): void {
    this.#looked.add(lease);
  }

  /** Whether to take a lease that nobody holds. */
  mayTake(lease: number): boolean {
    this.saw(lease);
    const expected = this.#expectedOf(lease);
    if (expected !== undefined && expected.holder !== this.#me) return false;
    this.#expected.delete(lease);
    // Not what was asked for: nobody may have answered, and nothing is to wait for that.
    const soon = this.#options.holders().map((holder, other) => this.#promisedTo(other) ?? holder);
    if (this.#looked.size < soon.length || countOf(soon, this.#me) >= fairShare(soon, this.#me)) return false;
    this.#expect(lease, this.#me, takenMs);
    return true;
  }

  /** Whether to ask who holds the lease for it. */
  wants(lease: number): boolean {
    this.saw(lease);
    const holder = this.#options.holders()[lease] ?? '';
    // What is free is to be had for less.
    if (this.#soon().includes('')) return false;
    if (this.#expectedOf(lease) !== undefined || !this.#isMoreEven(holder, this.#me)) return false;
    this.#expect(lease, this.#me, answeredMs, true);
    return true;
  }

  /** Whether to give a lease of this process to who asked for it; `gave` is to follow. */
  yields(lease: number, to: string): boolean {
    if (this.#expectedOf(lease) !== undefined || !this.#isMoreEven(this.#me, to)) return false;
    // First what is under way there is seen through.
    this.#expect(lease, to, windDownMs);
    return true;
  }

  /** The lease is this process's no more: who it was to go to can take it only now. */
  gave(lease: number): void {
    const to = this.#promisedTo(lease);
    if (to !== undefined && to !== this.#me) this.#expect(lease, to, takenMs);
  }

  get #me(): string {
    return this.#options.identity;
  }

  #isMoreEven(from: string, to: string): boolean {
    const soon = this.#soon();
    return countOf(soon, from) >= countOf(soon, to) + 2;
  }

  /** Who it was given to, or this process where it is taking it. */
  #promisedTo(lease: number): string | undefined {
    const { holder, isAsked } = this.#expectedOf(lease) ?? {};
    return isAsked === true ? undefined : holder;
  }

  /** Who will hold each of them. */
  #soon(): readonly string[] {
    return this.#options.holders().map((holder, lease) => this.#expectedOf(lease)?.holder ?? holder);
  }

  #expect(lease: number, holder: string, ms: number, isAsked = false): void {
    const before = this.#options.holders()[lease] ?? '';
    this.#expected.set(lease, { holder, before, isAsked, until: this.#options.monotonic.now() + ms });
  }

  /** Undefined once it has come about, or cannot any more. */
  #expectedOf(lease: number): Expected | undefined {
    const expected = this.#expected.get(lease);
    const holder = this.#options.holders()[lease] ?? '';
    if (expected === undefined) return undefined;
    const isOpen = holder === '' || holder === expected.before;
    if (isOpen && this.#options.monotonic.now() < expected.until) return expected;
    this.#expected.delete(lease);
    return undefined;
  }
}

function countOf(holders: readonly string[], holder: string): number {
  return holders.filter((each) => each === holder).length;
}

/** How many each may have, of all who hold some and this one. */
function fairShare(holders: readonly string[], me: string): number {
  const sharers = new Set([...holders.filter((holder) => holder !== ''), me]);
  return Math.ceil(holders.length / sharers.size);
}
