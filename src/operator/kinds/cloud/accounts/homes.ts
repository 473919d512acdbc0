import { hash } from 'node:crypto';
import { windowMs } from '../../../cloud/rolling-window.ts';
import { firstShard, type HeldShards, type Placement, type Share } from '../../../reconcile/connections/placement.ts';
import { accountKeyOf, defaultKey } from '../../../reconcile/ownership/ownership.ts';
import { keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Accounts } from './accounts.ts';

export interface HomesOptions {
  /** How many there are. */
  readonly shards: number;
  readonly held: HeldShards;
  readonly accounts: Pick<Accounts, 'entry' | 'defaultIdentity' | 'defaultRekeyedAt'>;
  /** It is another installation's, which says nothing here of where it is. */
  readonly isForeign: (object: ManagedObject) => boolean;
  /** On the monotonic clock. */
  readonly now: () => number;
}

/** What is to be done about an account that is not where its key belongs. */
export interface Relocation {
  readonly to: number;
  /** Not sooner: who gave it to this process may know of a key that this one has yet to read. */
  readonly inMs: number;
}

const secondThoughtMs = 10_000;

/**
 * In which shard accounts and what uses them are (ADR 14). One key at one address belongs to one shard, by its hash, for
 * its budget and its claims are one. Yet processes learn of a new key at different moments, so an account is where its
 * status says, or without that where the hash of its name says; and who has that shard works only on accounts whose keys
 * belong there, and gives others away. So no two ever work with one key, nor for one account.
 */
export class Homes {
  readonly #options: HomesOptions;

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  /** Of what uses accounts. */
  readonly ofUsers: Placement = {
    shareOf: (object) => this.#shareOf(accountKeyOf(object)),
    isMine: (object) => this.isMine(accountKeyOf(object)),
  };

  /** Of the accounts. */
  readonly ofAccounts: Required<Placement> = {
    shareOf: (object) => ({ shard: this.#homeOf(keyOf(object), object), connection: keyOf(object) }),
    isMine: (object) => this.#isMine(keyOf(object), object),
    isCharge: (object) => this.#options.held.has(this.#homeOf(keyOf(object), object)),
  };

  shardOf(account: string): number {
    return this.#shareOf(account).shard;
  }

  /** Whether this process may send anything for the account now. */
  isMine(account: string): boolean {
    return this.#isMine(account, this.#options.accounts.entry(account)?.object);
  }

  /** Undefined for an account that is where it belongs. */
  relocationOf(object: ManagedObject): Relocation | undefined {
    const account = keyOf(object);
    if (this.#options.isForeign(object)) return undefined;
    const to = this.#belongsTo(account);
    if (to === undefined || to === this.#homeOf(account, object)) return undefined;
    const { accounts, held, now } = this.#options;
    const { connection, placedAt = Number.NEGATIVE_INFINITY } = accounts.entry(account) ?? {};
    const { since = 0 } = connection ?? {};
    const isNews = this.#recorded(object) === undefined || since > placedAt;
    const at = Math.max(isNews ? 0 : placedAt + secondThoughtMs, held.has(to) ? 0 : this.#usedUntil(since));
    return { to, inMs: Math.max(0, at - now()) };
  }

  /** Where the operator's own key was replaced an account takes its key along, and what was sent with it stays behind. */
  #usedUntil(since: number): number {
    const { defaultRekeyedAt = 0 } = this.#options.accounts;
    return defaultRekeyedAt > since ? defaultRekeyedAt + windowMs : 0;
  }

  /** As the status has it. */
  recordOf(shard: number): string {
    return `${shard}/${this.#options.shards}`;
  }

  #shareOf(account: string): Share {
    const shard = this.#homeOf(account, this.#options.accounts.entry(account)?.object);
    return { shard, connection: account };
  }

  #isMine(account: string, object: ManagedObject | undefined): boolean {
    const home = this.#homeOf(account, object);
    return this.#options.held.has(home) && (this.#belongsTo(account) ?? home) === home;
  }

  #homeOf(account: string, object: ManagedObject | undefined): number {
    if (account === defaultKey) return firstShard;
    if (object && this.#options.isForeign(object)) return this.#belongsTo(account) ?? this.#hashed(account);
    return (object && this.#recorded(object)) ?? this.#hashed(account);
  }

  /** By its key; undefined while that is not known. What has the key of the operator's own account is where that is. */
  #belongsTo(account: string): number | undefined {
    if (account === defaultKey) return firstShard;
    const { accounts, isForeign } = this.#options;
    const entry = accounts.entry(account);
    const identity = entry?.connection?.identity;
    if (identity === undefined) return undefined;
    // Where nothing says where it is, all are to agree: also those who never read the key that is gone.
    if (entry !== undefined && isForeign(entry.object) && entry.keySecret?.isUsable !== true) return undefined;
    return identity === accounts.defaultIdentity ? firstShard : this.#hashed(identity);
  }

  /** What was written for another number of shards says nothing. */
  #recorded({ status }: ManagedObject): number | undefined {
    const [, shard = '', of] = /^(\d+)\/(\d+)$/.exec(String(status?.shard)) ?? [];
    const { shards } = this.#options;
    return Number(of) === shards && Number(shard) < shards ? Number(shard) : undefined;
  }

  #hashed(text: string): number {
    const { shards } = this.#options;
    // Asked for each event of each resource.
    return shards === 1 ? firstShard : hash('sha256', text, 'buffer').readUInt32BE() % shards;
  }
}
