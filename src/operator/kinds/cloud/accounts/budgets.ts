import type { Runtime } from '../../../../common/runtime.ts';
import { KeyGate } from '../../../cloud/key-gate.ts';
import { Limiter } from '../../../cloud/limiter.ts';
import { keyMarkOf } from '../../../reconcile/key-mark.ts';
import { type AccountUse, UseRecord, type UseRecordOptions, type UseStore } from './use-record.ts';

/** An account, as far as it shares a credential with others. */
export interface BudgetUser {
  /** Unique in this operator. */
  readonly account: string;
  /** As {@link canonicalURL} has it. */
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
  /** It is the operator's own: what it says bounds all who share its credential. */
  readonly isDefault: boolean;
  /** Resources of several namespaces may use it. */
  readonly isShared: boolean;
}

/** What all accounts of one key at one address share, because the service knows no other difference. */
export interface Credential {
  readonly limiter: Limiter;
  readonly gate: KeyGate;
}

/** Where is recorded what is sent. */
export interface BudgetsRecord extends Pick<UseRecordOptions, 'monotonic' | 'random' | 'log'> {
  /** Of one shard. */
  readonly store: (shard: number) => UseStore;
  readonly shardOf: (account: string) => number;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so whose budget it is is found anew for each request. `requestsPerMinute` bounds what the account uses itself;
 * all together are bounded by what the operator's settings say where the default account is one of them, else by the
 * highest of theirs: nobody takes from others by asking for less.
 */
export class Budgets {
  readonly #runtime: Pick<Runtime, 'monotonic'>;
  readonly #options: BudgetsRecord | undefined;
  /** By the shard, of those that this process has. */
  readonly #records = new Map<number, UseRecord>();
  /** Those that what earlier processes sent has been counted for. */
  readonly #charged = new Set<BudgetUser>();
  readonly #credentials = new Map<string, Credential>();
  /** Those that nobody uses, and that go when nothing of them counts any more: somebody may come back to them. */
  readonly #unused = new Set<string>();
  /** The credential that each was last seen with: to ask each of thousands for its key takes longer than a request. */
  readonly #users = new Map<BudgetUser, string | undefined>();
  /** By the account; of two that follow one another, as after a change of its address, the later. */
  readonly #byAccount = new Map<string, BudgetUser>();
  /** The last mark of the key of each: every check of every resource asks for it. */
  readonly #marks = new WeakMap<BudgetUser, { readonly secret: string; readonly key: string; readonly mark: string }>();
  /** Those of each credential. */
  readonly #sharers = new Map<string, Sharers>();

  /** @param record where what is sent is recorded; without it, a restart begins with fresh budgets */
  constructor(runtime: Pick<Runtime, 'monotonic'>, record?: BudgetsRecord) {
    this.#runtime = runtime;
    this.#options = record;
  }

  /** What is sent for the accounts of the shard is recorded from now on, and allowed, until it is closed. */
  async run(shard: number): Promise<void> {
    if (this.#options === undefined) return;
    const { store, ...options } = this.#options;
    const hooks = { uses: () => this.#uses(shard), onChange: () => this.#recordChanged() };
    const record = new UseRecord({ ...options, store: store(shard), ...hooks });
    this.#records.set(shard, record);
    for (const user of this.#usersIn(shard)) this.#charged.delete(user);
    await record.run();
  }

  /** To be called when nothing is sent for them any more. */
  async close(shard: number): Promise<void> {
    await this.#records.get(shard)?.close();
    this.#records.delete(shard);
  }

  join(user: BudgetUser): void {
    this.#users.set(user, undefined);
    this.#byAccount.set(user.account, user);
  }

  leave(user: BudgetUser): void {
    const credential = this.#users.get(user);
    this.#users.delete(user);
    if (this.#byAccount.get(user.account) === user) this.#byAccount.delete(user.account);
    this.#charged.delete(user);
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
    const sharers = this.#sharersOf(credential);
    sharers.add(user);
    found.limiter.setRequestsPerMinute(sharers.limit);
    found.limiter.share(sharers.size > 1 || user.isShared);
    found.limiter.bound(user.account, user.requestsPerMinute);
    this.#followRecord(user, found);
    return found;
  }

  /** Undefined without a key, and where nothing can be recorded. */
  keyMarkOf(user: BudgetUser): string | undefined {
    const secret = this.#records.get(this.#options?.shardOf(user.account) ?? 0)?.secret;
    const key = keyOf(user.apiKey);
    if (secret === undefined || key === undefined) return undefined;
    const known = this.#marks.get(user);
    if (known?.secret === secret && known.key === key) return known.mark;
    const mark = keyMarkOf(secret, user.account, key);
    this.#marks.set(user, { secret, key, mark });
    return mark;
  }

  /** What is on record is what may be used. */
  #followRecord(user: BudgetUser, { limiter }: Credential): void {
    if (this.#options === undefined) return;
    const record = this.#records.get(this.#options.shardOf(user.account));
    if (record === undefined) {
      limiter.record(user.account, 0);
      return;
    }
    const [name, limit] = [recordedName(user), user.requestsPerMinute];
    const past = this.#charged.has(user) ? [] : record.pastOf(name, limit);
    if (past !== undefined) this.#charged.add(user);
    for (const { count, endedAt } of past ?? []) limiter.carry(user.account, Math.min(count, limit), endedAt);
    limiter.record(user.account, record.allowed(name, limit));
  }

  #recordChanged(): void {
    for (const [user, credential] of this.#users) if (credential !== undefined) this.of(user);
  }

  #uses(shard: number): readonly AccountUse[] {
    return this.#usersIn(shard).map((user) => this.#useOf(user));
  }

  #usersIn(shard: number): readonly BudgetUser[] {
    return [...this.#users.keys()].filter(({ account }) => this.#options?.shardOf(account) === shard);
  }

  #useOf(user: BudgetUser): AccountUse {
    const limiter = this.#limiterOf(this.#users.get(user));
    const past = () => (limiter?.endedAt(user.account) ?? []).map((endedAt) => ({ count: 1, endedAt }));
    const own = limiter?.ownUse(user.account) ?? 0;
    return { account: recordedName(user), limit: user.requestsPerMinute, own, past };
  }

  #needMore(account: string): void {
    const user = this.#byAccount.get(account);
    const record = this.#records.get(this.#options?.shardOf(account) ?? 0);
    if (user !== undefined) record?.need(this.#useOf(user));
  }

  /** A key that replaces another, which nobody uses any more, goes on with what was used. */
  #find(user: BudgetUser, credential: string): Credential {
    const before = this.#users.get(user);
    this.#users.set(user, credential);
    if (before === credential) return this.#credentials.get(credential) ?? this.#add(credential, this.#fresh(user));
    const limiter = this.#limiterOf(before);
    const found = this.#goOn(user, before, credential);
    if (before !== undefined) this.#parted(user, before, found.limiter === limiter ? undefined : limiter);
    return found;
  }

  /** With another credential than before, if there was one. */
  #goOn(user: BudgetUser, before: string | undefined, credential: string): Credential {
    if (before !== undefined) this.#unused.add(before);
    const known = this.#credentials.get(credential);
    if (known !== undefined) return known;
    const replaced = before === undefined || this.#isUsed(before) ? undefined : this.#credentials.get(before);
    if (replaced !== undefined && before !== undefined) this.#credentials.set(before, this.#usedUp(replaced, user));
    const fresh = this.#fresh(user);
    const limiter = replaced?.limiter ?? fresh.limiter;
    if (user.isDefault && this.#isUsedElsewhere(user, credential))
      limiter.carry(user.account, user.requestsPerMinute, this.#runtime.monotonic.now());
    return this.#add(credential, { gate: fresh.gate, limiter });
  }

  /** What goes on under another key is not to be had under the old one as well, by whoever is given that. */
  #usedUp({ gate, limiter }: Credential, { account }: BudgetUser): Credential {
    const now = this.#runtime.monotonic.now();
    const { used, limit, pausedUntilMs } = limiter.state();
    const left = this.#fresh({ requestsPerMinute: limit }).limiter;
    left.carry(account, used, now);
    left.leave(account);
    if (pausedUntilMs !== undefined) left.penalize(pausedUntilMs - now);
    return { gate, limiter: left };
  }

  #fresh({ requestsPerMinute }: Pick<BudgetUser, 'requestsPerMinute'>): Credential {
    const { monotonic } = this.#runtime;
    const onShort = (account: string) => this.#needMore(account);
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
    const { shardOf } = this.#options ?? {};
    if (shardOf === undefined) return false;
    const isElsewhere = (shard: number) => shard !== shardOf(account) && !this.#records.has(shard);
    return this.#users.keys().some((user) => isElsewhere(shardOf(user.account)) && credentialOf(user) === credential);
  }

  #sharersOf(credential: string): Sharers {
    const sharers = this.#sharers.get(credential) ?? new Sharers();
    this.#sharers.set(credential, sharers);
    return sharers;
  }

  #limiterOf(credential = ''): Limiter | undefined {
    return this.#credentials.get(credential)?.limiter;
  }

  /**
   * It goes by another credential, or by none; one that followed it in the account may go by this one.
   *
   * @param limiter that it does not go on with
   */
  #parted(user: BudgetUser, before: string, limiter: Limiter | undefined): void {
    const follower = this.#byAccount.get(user.account);
    const isFollowed = follower !== undefined && follower !== user && this.#users.get(follower) === before;
    if (!isFollowed) limiter?.leave(user.account);
    const sharers = this.#sharersOf(before);
    sharers.delete(user);
    if (sharers.size === 0) this.#sharers.delete(before);
  }
}

/** The accounts that were last seen with one credential. */
class Sharers {
  /** As they were last seen. */
  readonly #limits = new Map<BudgetUser, number>();
  #limit: number | undefined;

  get size(): number {
    return this.#limits.size;
  }

  /** Of all together: what the operator's own says where it is one of them, else the highest of theirs. */
  get limit(): number {
    const own = () => this.#limits.entries().find(([{ isDefault }]) => isDefault)?.[1];
    this.#limit ??= own() ?? Math.max(...this.#limits.values());
    return this.#limit;
  }

  add(user: BudgetUser): void {
    if (this.#limits.get(user) === user.requestsPerMinute) return;
    this.#limits.set(user, user.requestsPerMinute);
    this.#limit = undefined;
  }

  delete(user: BudgetUser): void {
    this.#limits.delete(user);
    this.#limit = undefined;
  }
}

/** Nothing of its key, nor of the path of its address. */
function recordedName({ account, url }: BudgetUser): string {
  return `${account} ${url.split('/', 3).join('/')}`;
}

/** The key in force at its address; undefined without a key. */
export function credentialOf({ url, apiKey }: BudgetUser): string | undefined {
  const key = keyOf(apiKey);
  return key === undefined ? undefined : `${url} ${key}`;
}

function keyOf(apiKey: BudgetUser['apiKey']): string | undefined {
  try {
    return apiKey();
  } catch {
    return undefined;
  }
}
