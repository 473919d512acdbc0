import type { Limiter } from '../../../cloud/limiter.ts';
import { keyMarkOf } from '../../../reconcile/key-mark.ts';
import type { BudgetUser } from './budgets.ts';
import { keyOf } from './credential.ts';
import { type AccountUse, UseRecord, type UseRecordOptions, type UseStore } from './use-record.ts';

/** Where is recorded what is sent. */
export interface RecordingOptions extends Pick<UseRecordOptions, 'monotonic' | 'random' | 'log'> {
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

/** An account with one key: it may have been seen with that at several paths of an address. */
interface Sender {
  readonly account: string;
  readonly limiters: Set<Limiter>;
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
  readonly #names = new Map<BudgetUser, string>();
  /** The names that each budget has been charged for. */
  readonly #charged = new WeakMap<Limiter, Set<string>>();
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
    for (const limiter of this.#limitersIn(shard)) this.#charged.delete(limiter);
    await record.run();
  }

  /** What was sent is the record's to tell from then on, also to this process. */
  async close(shard: number): Promise<void> {
    const isKept = await this.#records.get(shard)?.close();
    this.#records.delete(shard);
    const isTheirs = (account: string) => this.shardOf(account) === shard;
    if (isKept === true) for (const limiter of this.#limitersIn(shard)) limiter.handOver(isTheirs);
  }

  /** What is on record is what the user may have of the budget. */
  follow(user: BudgetUser, limiter: Limiter): void {
    const record = this.#recordOf(user.account);
    if (record === undefined) {
      limiter.record(user.account, 0);
      return;
    }
    const name = this.#nameOf(user, record);
    this.#names.set(user, name);
    const sender = this.#senders.get(name) ?? { account: user.account, limiters: new Set() };
    this.#senders.set(name, sender);
    sender.limiters.add(limiter);
    this.#charge(limiter, name, record);
    limiter.record(user.account, record.allowed(name, user.requestsPerMinute));
  }

  leave(user: BudgetUser): void {
    this.#names.delete(user);
  }

  /** One budget begins with what the other has been charged for. */
  inherit(from: Limiter, to: Limiter): void {
    const charged = this.#charged.get(from);
    if (charged !== undefined) this.#charged.set(to, new Set(charged));
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

  /** Once: by what each of those has on record who sent with the same key, or for the same account. */
  #charge(limiter: Limiter, name: string, record: UseRecord): void {
    const charged = this.#charged.get(limiter) ?? new Set();
    if (charged.has(name) || record.names === undefined) return;
    this.#charged.set(limiter, charged);
    for (const each of new Set([name, ...record.names.filter((other) => isRelated(name, other))])) {
      if (charged.has(each)) continue;
      charged.add(each);
      for (const { count, endedAt } of record.pastOf(each) ?? []) limiter.carry(accountIn(each), count, endedAt);
    }
  }

  #uses(shard: number): readonly AccountUse[] {
    const current = new Set(this.#names.values());
    return [...this.#senders].flatMap(([name, sender]) => {
      if (this.shardOf(sender.account) !== shard) return [];
      const use = this.#useOf(name, sender);
      if (use.own > 0 || current.has(name)) return [use];
      this.#senders.delete(name);
      return [];
    });
  }

  #useOf(name: string, { account, limiters }: Sender): AccountUse {
    const all = [...limiters];
    return {
      account: name,
      limit: this.#hooks.limitOf(account),
      own: all.reduce((sum, limiter) => sum + limiter.ownUse(account), 0),
      past: () => all.flatMap((limiter) => limiter.endedAt(account).map((endedAt) => ({ count: 1, endedAt }))),
    };
  }

  #limitersIn(shard: number): ReadonlySet<Limiter> {
    const senders = [...this.#senders.values()].filter(({ account }) => this.shardOf(account) === shard);
    return new Set(senders.flatMap(({ limiters }) => [...limiters]));
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

function accountIn(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

/** Of one account at one address, or of one key there. */
function isRelated(name: string, other: string): boolean {
  const [account, origin, mark] = name.split(' ');
  const [otherAccount, otherOrigin, otherMark] = other.split(' ');
  return origin === otherOrigin && (account === otherAccount || (mark !== undefined && mark === otherMark));
}
