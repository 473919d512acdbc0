import type { Ledger } from '../../../cloud/ledger.ts';
import { keyMarkOf } from '../../../reconcile/key-mark.ts';
import type { BudgetUser } from './budgets.ts';
import { accountIn, Charges } from './charges.ts';
import { keyOf } from './credential.ts';
import { type AccountUse, UseRecord, type UseRecordOptions, type UseStore } from './use-record.ts';

/** Where is recorded what is sent. */
export interface RecordingOptions extends Pick<UseRecordOptions, 'monotonic' | 'random' | 'log'> {
  /** Of one shard. */
  readonly store: (shard: number) => UseStore;
  readonly shardOf: (account: string) => number;
}

const sweepEveryMs = 10_000;

export interface RecordingHooks {
  /** Requests a minute; 0 of one that is not known. */
  readonly limitOf: (account: string) => number;
  /** What may be used has changed. */
  readonly onChange: () => void;
}

/** An account with one key: it may have been seen with that at several paths of an address. */
interface Sender {
  readonly account: string;
  readonly ledgers: ReadonlySet<Ledger>;
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
  /** By the name on record: those that send, and that have sent something that counts still. */
  readonly #senders = new Map<string, Sender>();
  /** Of those that go by them now. */
  readonly #names = new Map<BudgetUser, string>();
  /** Names that somebody went by before. */
  readonly #left = new Set<string>();
  #sweepAt = Number.NEGATIVE_INFINITY;
  /** By the shard, once its record is known. */
  readonly #charges = new Map<number, Charges>();
  readonly #accountMarks = new Marks();
  readonly #keyMarks = new Marks();

  constructor(options: RecordingOptions, hooks: RecordingHooks) {
    this.#options = options;
    this.#hooks = hooks;
  }

  has(shard: number): boolean {
    return this.#records.has(shard);
  }

  shardOf(account: string): number {
    return this.#options.shardOf(account);
  }

  async run(shard: number): Promise<void> {
    const { store, ...options } = this.#options;
    const { limitOf, onChange } = this.#hooks;
    const uses = () => this.#uses(shard);
    const limitOfName = (name: string) => limitOf(accountIn(name));
    const record = new UseRecord({ ...options, store: store(shard), uses, limitOf: limitOfName, onChange });
    this.#records.set(shard, record);
    this.#charges.delete(shard);
    await record.run();
  }

  /** What was sent is the record's to tell from then on, also to this process. */
  async close(shard: number): Promise<void> {
    const isKept = await this.#records.get(shard)?.close();
    this.#records.delete(shard);
    const isTheirs = (account: string) => this.shardOf(account) === shard;
    if (isKept === true) for (const ledger of this.#ledgersIn(shard)) ledger.handOver(isTheirs);
  }

  /** What is on record is what the user may have of the budget. */
  follow(user: BudgetUser, ledger: Ledger): void {
    const record = this.#recordOf(user.account);
    if (record === undefined) {
      ledger.record(user.account, 0);
      return;
    }
    const name = this.#nameOf(user, record);
    if (this.#names.get(user) !== name) this.leave(user);
    this.#names.set(user, name);
    this.#left.delete(name);
    this.#add(ledger, user.account, name);
    this.#chargesOf(user.account, record)?.charge(ledger, name);
    ledger.record(user.account, record.allowed(name, user.requestsPerMinute));
  }

  leave(user: BudgetUser): void {
    const name = this.#names.get(user);
    this.#names.delete(user);
    if (name !== undefined) this.#left.add(name);
    this.#sweep();
  }

  /** One budget begins with what the other has been charged with. */
  inherit(from: Ledger, to: Ledger): void {
    for (const charges of this.#charges.values()) charges.inherit(from, to);
  }

  /** The user needs more than is on record. */
  need(user: BudgetUser): void {
    const name = this.#names.get(user);
    const sender = name === undefined ? undefined : this.#senders.get(name);
    if (name !== undefined && sender !== undefined) this.#recordOf(user.account)?.need(this.#useOf(name, sender));
  }

  /** Tells the keys of one account apart (ADR 15). Undefined without a key, and where nothing can be recorded. */
  keyMarkOf(user: BudgetUser): string | undefined {
    return this.#accountMarks.of(user, this.#recordOf(user.account)?.secret, user.account);
  }

  #recordOf(account: string): UseRecord | undefined {
    return this.#records.get(this.shardOf(account));
  }

  /** Of the path of its address nothing: the service is the same. Of its key a mark, which is no use to anybody else. */
  #nameOf(user: BudgetUser, { secret }: UseRecord): string {
    const origin = user.url.split('/', 3).join('/');
    const mark = this.#keyMarks.of(user, secret, origin);
    return [user.account, origin, ...(mark === undefined ? [] : [mark])].join(' ');
  }

  #chargesOf(account: string, record: UseRecord): Charges | undefined {
    const shard = this.shardOf(account);
    const known = this.#charges.get(shard);
    if (known !== undefined || record.names === undefined) return known;
    const charges = new Charges(record, record.names);
    this.#charges.set(shard, charges);
    return charges;
  }

  /** What nothing was sent by of late is of no use any more. */
  #add(ledger: Ledger, account: string, name: string): void {
    const { ledgers } = this.#senders.get(name) ?? { ledgers: new Set() };
    if (ledgers.has(ledger)) return;
    const others = [...ledgers].filter((each) => each.ownUse(account) > 0);
    this.#senders.set(name, { account, ledgers: new Set([...others, ledger]) });
  }

  /** Forgets who has left and sent nothing of late; not each time, for thousands may leave at once. */
  #sweep(): void {
    const now = this.#options.monotonic.now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + sweepEveryMs;
    const current = new Set(this.#names.values());
    for (const name of this.#left) {
      const { account = '', ledgers = [] } = this.#senders.get(name) ?? {};
      if (!current.has(name) && [...ledgers].some((ledger) => ledger.ownUse(account) > 0)) continue;
      this.#left.delete(name);
      if (!current.has(name)) this.#senders.delete(name);
    }
  }

  #uses(shard: number): readonly AccountUse[] {
    const theirs = [...this.#senders].filter(([, { account }]) => this.shardOf(account) === shard);
    const uses = theirs.map(([name, sender]) => this.#useOf(name, sender));
    return uses.filter(({ account: name, own }) => own > 0 || !this.#left.has(name));
  }

  #useOf(name: string, { account, ledgers }: Sender): AccountUse {
    const all = [...ledgers];
    return {
      account: name,
      limit: this.#hooks.limitOf(account),
      own: all.reduce((sum, ledger) => sum + ledger.ownUse(account), 0),
      past: () => all.flatMap((ledger) => ledger.endedAt(account).map((endedAt) => ({ count: 1, endedAt }))),
    };
  }

  #ledgersIn(shard: number): ReadonlySet<Ledger> {
    const senders = [...this.#senders.values()].filter(({ account }) => this.shardOf(account) === shard);
    return new Set(senders.flatMap(({ ledgers }) => [...ledgers]));
  }
}

/** The last mark of the key of each: every check of every resource asks for it. */
class Marks {
  readonly #known = new WeakMap<BudgetUser, { readonly secret: string; readonly key: string; readonly mark: string }>();

  of(user: BudgetUser, secret: string | undefined, scope: string): string | undefined {
    const key = keyOf(user);
    if (secret === undefined || key === undefined) return undefined;
    const known = this.#known.get(user);
    if (known?.secret === secret && known.key === key) return known.mark;
    const mark = keyMarkOf(secret, scope, key);
    this.#known.set(user, { secret, key, mark });
    return mark;
  }
}
