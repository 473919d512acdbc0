import type { Ledger } from '../../../cloud/ledger.ts';
import { keyMarkOf } from '../../../reconcile/ownership/key-mark.ts';
import type { BudgetUser } from './budgets.ts';
import { Charges } from './charges.ts';
import { apiKeyOf } from './credential.ts';
import { type Sender, Senders } from './senders.ts';
import { type AccountUse, UseRecord, type UseRecordOptions } from './use-record.ts';
import type { UseStore } from './use-store.ts';

/** Where is recorded what is sent. */
export interface RecordingOptions extends Pick<UseRecordOptions, 'monotonic' | 'random' | 'uuid' | 'log'> {
  /** Of one shard. */
  readonly store: (shard: number) => UseStore;
  readonly shardOf: (account: string) => number;
}

export interface RecordingHooks {
  /** Requests a minute; 0 of one that is not known. */
  readonly limitOf: (account: string) => number;
  /** What may be used has changed. */
  readonly onChange: () => void;
}

/**
 * Records, by shards, what is sent for each account with each of its keys, and charges budgets with what earlier processes sent: a
 * budget with all that was sent with its key, and an account with all that was sent for it, whatever the key.
 */
export class Recording {
  readonly #options: RecordingOptions;
  readonly #hooks: RecordingHooks;
  /** By the shard, of those that this process has. */
  readonly #records = new Map<number, UseRecord>();
  /** By the shard. */
  readonly #charges = new Map<number, Charges>();
  readonly #senders: Senders;
  readonly #marks = new Marks();

  constructor(options: RecordingOptions, hooks: RecordingHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#senders = new Senders(() => options.monotonic.now());
  }

  has(shard: number): boolean {
    return this.#records.has(shard);
  }

  shardOf(account: string): number {
    return this.#options.shardOf(account);
  }

  async run(shard: number): Promise<void> {
    const { store, ...options } = this.#options;
    const { onChange } = this.#hooks;
    const uses = () => this.#uses(shard);
    const record = new UseRecord({ ...options, store: store(shard), uses, onChange });
    this.#records.set(shard, record);
    this.#charges.set(shard, new Charges());
    await record.run();
  }

  /** What was sent is the record's to tell from then on, also to this process. */
  async close(shard: number): Promise<void> {
    const isKept = await this.#records.get(shard)?.close();
    this.#records.delete(shard);
    const isTheirs = (account: string) => this.shardOf(account) === shard;
    if (isKept === true) for (const ledger of this.#ledgersIn(shard)) ledger.handOver(isTheirs);
  }

  /**
   * What is on record is what the user may have of the budget: by its name, or of what is free to all of its key.
   *
   * @param limit of all of its key, requests a minute
   */
  follow(user: BudgetUser, ledger: Ledger, limit: number): void {
    const { account, requestsPerMinute } = user;
    const record = this.#recordOf(account);
    if (record === undefined) {
      ledger.record(account, 0);
      return;
    }
    const name = this.#senders.follow(user, ledger).nameBy(record.secret);
    const { inherited } = record;
    if (inherited !== undefined) {
      const limits = { ofKey: limit, ofAccount: requestsPerMinute };
      this.#charges.get(this.shardOf(account))?.charge(ledger, name, inherited, limits);
    }
    const open = record.openOf(name);
    ledger.share(record.freeOf(limit));
    ledger.record(account, open ?? record.freeOf(requestsPerMinute), open !== undefined);
    if (ledger.isOverdrawn(account)) this.need(user);
  }

  leave(user: BudgetUser): void {
    this.#senders.leave(user);
  }

  /** One budget begins with what the other has been charged with. */
  inherit(from: Ledger, to: Ledger): void {
    for (const charges of this.#charges.values()) charges.inherit(from, to);
  }

  /** The user needs more than is on record. */
  need(user: BudgetUser): void {
    const record = this.#recordOf(user.account);
    const sender = this.#senders.of(user);
    if (record !== undefined && sender !== undefined) record.need(this.#useOf(sender, record));
  }

  /** Tells the keys of one account apart (ADR 15). Undefined without a key, and where nothing can be recorded. */
  keyMarkOf(user: BudgetUser): string | undefined {
    return this.#marks.of(user, this.#recordOf(user.account)?.secret, user.account);
  }

  #recordOf(account: string): UseRecord | undefined {
    return this.#records.get(this.shardOf(account));
  }

  #uses(shard: number): readonly AccountUse[] {
    const record = this.#records.get(shard);
    if (record === undefined) return [];
    const uses = this.#sendersIn(shard).map((sender) => ({ sender, use: this.#useOf(sender, record) }));
    return uses.filter(({ sender, use }) => use.own > 0 || !sender.hasLeft).map(({ use }) => use);
  }

  #useOf(sender: Sender, { secret }: UseRecord): AccountUse {
    const { account, own } = sender;
    return { name: sender.nameBy(secret), limit: this.#hooks.limitOf(account), own, past: () => sender.past() };
  }

  #sendersIn(shard: number): readonly Sender[] {
    return [...this.#senders.all].filter(({ account }) => this.shardOf(account) === shard);
  }

  #ledgersIn(shard: number): ReadonlySet<Ledger> {
    return new Set(this.#sendersIn(shard).flatMap(({ ledgers }) => ledgers));
  }
}

/** The last mark of the key of each: every check of every resource asks for it. */
class Marks {
  readonly #known = new WeakMap<BudgetUser, { readonly secret: string; readonly key: string; readonly mark: string }>();

  of(user: BudgetUser, secret: string | undefined, scope: string): string | undefined {
    const key = apiKeyOf(user);
    if (secret === undefined || key === undefined) return undefined;
    const known = this.#known.get(user);
    if (known?.secret === secret && known.key === key) return known.mark;
    const mark = keyMarkOf(secret, scope, key);
    this.#known.set(user, { secret, key, mark });
    return mark;
  }
}
