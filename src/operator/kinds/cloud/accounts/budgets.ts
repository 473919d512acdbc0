import type { Runtime } from '../../../../common/runtime.ts';
import { KeyGate } from '../../../cloud/key-gate.ts';
import { Limiter } from '../../../cloud/limiter.ts';
import { credentialOf } from './credential.ts';
import { Recording, type RecordingOptions } from './recording.ts';

/** An account, as far as it shares a credential with others. */
export interface BudgetUser {
  /** Unique in this operator. */
  readonly account: string;
  /** As {@link canonicalURL} has it. */
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
  /** It is the operator's own. */
  readonly isDefault: boolean;
  /** Resources of several namespaces may use it. */
  readonly isShared: boolean;
}

export interface BudgetsOptions extends Pick<Runtime, 'monotonic'> {
  /** By the operator's settings: of all that share a credential. */
  readonly requestsPerMinute: number;
}

/** What all accounts of one key at one address share, because the service knows no other difference. */
export interface Credential {
  readonly limiter: Limiter;
  readonly gate: KeyGate;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so whose budget it is is found anew for each request. `requestsPerMinute` of an account bounds what it uses itself,
 * and nothing else, for tenants write it: of several together only the operator's settings say how much.
 */
export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #recording: Recording | undefined;
  readonly #credentials = new Map<string, Credential>();
  /** Those that nobody uses, and that go when nothing of them counts any more: somebody may come back to them. */
  readonly #unused = new Set<string>();
  /** The credential that each was last seen with: to ask each of thousands for its key takes longer than a request. */
  readonly #users = new Map<BudgetUser, string | undefined>();
  /** By the account; of two that follow one another, as after a change of its address, the later. */
  readonly #byAccount = new Map<string, BudgetUser>();
  readonly #holders = new Holders();

  /** @param record where what is sent is recorded; without it, a restart begins with fresh budgets */
  constructor(options: BudgetsOptions, record?: RecordingOptions) {
    this.#options = options;
    const limitOf = (account: string) => this.#byAccount.get(account)?.requestsPerMinute ?? 0;
    this.#recording = record && new Recording(record, { limitOf, onChange: () => this.#recordChanged() });
  }

  /** What is sent for the accounts of the shard is recorded from now on, and allowed, until it is closed. */
  async run(shard: number): Promise<void> {
    await this.#recording?.run(shard);
  }

  /** To be called when nothing is sent for them any more. */
  async close(shard: number): Promise<void> {
    await this.#recording?.close(shard);
  }

  join(user: BudgetUser): void {
    this.#users.set(user, undefined);
    this.#byAccount.set(user.account, user);
    this.keyed(user);
  }

  /** To be called when another key is in force: who has it is bounded with the others before it sends anything. */
  keyed(user: BudgetUser): void {
    const credential = credentialOf(user);
    if (!this.#users.has(user)) return;
    this.#holders.put(user, credential);
    const limiter = this.#limiterOf(credential);
    if (limiter !== undefined && credential !== undefined) this.#bound(limiter, user, credential);
  }

  leave(user: BudgetUser): void {
    const credential = this.#users.get(user);
    this.#users.delete(user);
    this.#holders.put(user, undefined);
    if (this.#byAccount.get(user.account) === user) this.#byAccount.delete(user.account);
    this.#recording?.leave(user);
    if (credential === undefined) return;
    this.#parted(user, credential, this.#limiterOf(credential));
    this.#unused.add(credential);
    this.#dropUnused();
  }

  of(user: BudgetUser): Credential {
    const credential = credentialOf(user);
    // Without a key nothing is sent, nor by one that has left.
    if (credential === undefined || !this.#users.has(user)) return this.#fresh(user);
    const found = this.#find(user, credential);
    this.#holders.put(user, credential);
    const limit = this.#bound(found.limiter, user, credential);
    found.limiter.bound(user.account, user.requestsPerMinute);
    this.#recording?.follow(user, found.limiter.ledger, limit);
    return found;
  }

  /** See {@link Recording.keyMarkOf}. */
  keyMarkOf(user: BudgetUser): string | undefined {
    return this.#recording?.keyMarkOf(user);
  }

  /** All of its credential together; answers how many requests a minute that are. */
  #bound(limiter: Limiter, user: BudgetUser, credential: string): number {
    const isShared = this.#holders.areSeveral(credential);
    const limit = isShared ? this.#options.requestsPerMinute : user.requestsPerMinute;
    limiter.setRequestsPerMinute(limit);
    limiter.share(isShared || user.isShared);
    return limit;
  }

  #recordChanged(): void {
    for (const [user, credential] of this.#users) if (credential !== undefined) this.of(user);
  }

  /** With a key that replaces another, which nobody uses any more, it goes on as if what was used had been with that. */
  #find(user: BudgetUser, credential: string): Credential {
    const before = this.#users.get(user);
    this.#users.set(user, credential);
    if (before === credential) return this.#credentials.get(credential) ?? this.#add(credential, this.#fresh(user));
    const limiter = this.#limiterOf(before);
    const found = this.#goOn(user, before, credential);
    if (before !== undefined) this.#parted(user, before, limiter);
    return found;
  }

  /** With another credential than before, if there was one. */
  #goOn(user: BudgetUser, before: string | undefined, credential: string): Credential {
    if (before !== undefined) this.#unused.add(before);
    const known = this.#credentials.get(credential);
    if (known !== undefined) return known;
    const fresh = this.#fresh(user);
    const replaced = before === undefined || this.#isUsed(before) ? undefined : this.#limiterOf(before);
    if (replaced !== undefined) this.#goOnFrom(replaced, fresh.limiter, user);
    if (user.isDefault && this.#isUsedElsewhere(user, credential)) this.#carryAll(fresh.limiter, user);
    return this.#add(credential, fresh);
  }

  /** What was asked of the old key is the old one's: a pause, and what was sent, for whoever has it next. */
  #goOnFrom(before: Limiter, limiter: Limiter, { account }: BudgetUser): void {
    limiter.ledger.goOnFrom(before.ledger, account);
    this.#recording?.inherit(before.ledger, limiter.ledger);
  }

  /** As many as the other replica may have sent: no record of this one tells of them. */
  #carryAll({ ledger }: Limiter, { account, requestsPerMinute }: BudgetUser): void {
    ledger.carry(account, requestsPerMinute, this.#options.monotonic.now(), { isRecorded: false });
  }

  #fresh({ requestsPerMinute }: Pick<BudgetUser, 'requestsPerMinute'>): Credential {
    const { monotonic } = this.#options;
    const onShort = (account: string) => {
      const user = this.#byAccount.get(account);
      if (user !== undefined) this.#recording?.need(user);
    };
    const limiter = new Limiter({ monotonic, requestsPerMinute, onShort });
    return { limiter, gate: new KeyGate(() => monotonic.now()) };
  }

  #add(credential: string, found: Credential): Credential {
    this.#dropUnused();
    this.#credentials.set(credential, found);
    return found;
  }

  #dropUnused(): void {
    if (this.#unused.size === 0) return;
    const used = new Set([...this.#users.keys()].map(credentialOf));
    for (const credential of this.#unused) {
      const isUsed = used.has(credential);
      if (!isUsed && this.#credentials.get(credential)?.limiter.isIdle === false) continue;
      this.#unused.delete(credential);
      if (!isUsed) this.#credentials.delete(credential);
    }
  }

  /** By whoever has the key, also of those that have sent nothing yet. */
  #isUsed(credential: string): boolean {
    return this.#users.keys().some((user) => credentialOf(user) === credential);
  }

  /** By accounts of another replica, which come here with the key: what that one has sent with it is not known here. */
  #isUsedElsewhere({ account }: BudgetUser, credential: string): boolean {
    const recording = this.#recording;
    if (recording === undefined) return false;
    const home = recording.shardOf(account);
    const isElsewhere = (shard: number) => shard !== home && !recording.has(shard);
    return this.#users
      .keys()
      .some((user) => isElsewhere(recording.shardOf(user.account)) && credentialOf(user) === credential);
  }

  #limiterOf(credential = ''): Limiter | undefined {
    return this.#credentials.get(credential)?.limiter;
  }

  /** It goes by another credential, or by none; one that followed it in the account may go by this one. */
  #parted(user: BudgetUser, before: string, limiter: Limiter | undefined): void {
    const follower = this.#byAccount.get(user.account);
    const isFollowed = follower !== undefined && follower !== user && this.#users.get(follower) === before;
    if (!isFollowed) limiter?.leave(user.account);
  }
}

/** Who has which credential, as far as was told. */
class Holders {
  readonly #credentials = new Map<BudgetUser, string>();
  readonly #users = new Map<string, Set<BudgetUser>>();

  put(user: BudgetUser, credential: string | undefined): void {
    const before = this.#credentials.get(user);
    if (before === credential) return;
    if (before !== undefined) this.#remove(user, before);
    if (credential === undefined) return;
    const users = this.#users.get(credential) ?? new Set();
    this.#users.set(credential, users.add(user));
    this.#credentials.set(user, credential);
  }

  /** More than one account: of one there are two users while its address is written anew. */
  areSeveral(credential: string): boolean {
    let first: BudgetUser | undefined;
    for (const user of this.#users.get(credential) ?? []) {
      first ??= user;
      if (user.account !== first.account) return true;
    }
    return false;
  }

  #remove(user: BudgetUser, credential: string): void {
    this.#credentials.delete(user);
    const users = this.#users.get(credential);
    users?.delete(user);
    if (users?.size === 0) this.#users.delete(credential);
  }
}
