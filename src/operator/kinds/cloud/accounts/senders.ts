import type { Ledger } from '../../../cloud/ledger.ts';
import { keyMarkOf } from '../../../reconcile/ownership/key-mark.ts';
import type { BudgetUser } from './budgets.ts';
import { apiKeyOf } from './credential.ts';
import { useNameOf } from './use-name.ts';
import type { Past } from './use-state.ts';

/** An account with one key, as the service sees it: whatever the path of its address. */
export class Sender {
  readonly account: string;
  readonly #origin: string;
  readonly #key: string | undefined;
  /** Of those paths. */
  #ledgers: readonly Ledger[] = [];
  /** It has left. */
  hasLeft = false;
  #name: { readonly secret: string | undefined; readonly name: string } | undefined;

  constructor({ account, origin, key }: { account: string; origin: string; key: string | undefined }) {
    this.account = account;
    this.#origin = origin;
    this.#key = key;
  }

  get ledgers(): readonly Ledger[] {
    return this.#ledgers;
  }

  /** What nothing was sent by of late is of no use any more. */
  add(ledger: Ledger): void {
    if (this.#ledgers.includes(ledger)) return;
    this.#ledgers = [...this.#ledgers.filter((each) => each.ownUse(this.account) > 0), ledger];
  }

  /** On record: of its key there is a mark, which is no use to anybody else. */
  nameBy(secret: string | undefined): string {
    if (this.#name === undefined || this.#name.secret !== secret) this.#name = { secret, name: this.#named(secret) };
    return this.#name.name;
  }

  /** Requests of this process that it has in its window. */
  get own(): number {
    return this.#ledgers.reduce((sum, ledger) => sum + ledger.ownUse(this.account), 0);
  }

  /** Those of them that have ended. */
  past(): readonly Past[] {
    return this.#ledgers.flatMap((ledger) => ledger.endedAt(this.account).map((endedAt) => ({ count: 1, endedAt })));
  }

  #named(secret: string | undefined): string {
    const isKnown = secret !== undefined && this.#key !== undefined;
    return useNameOf(this.account, this.#origin, isKnown ? keyMarkOf(secret, this.#origin, this.#key) : undefined);
  }
}

const sweepEveryMs = 10_000;

/** Those that send, and that have sent something that counts still. */
export class Senders {
  readonly #now: () => number;
  /** By account, address and key: lives in memory alone. */
  readonly #all = new Map<string, Sender>();
  /** What each user goes by now. */
  readonly #current = new Map<BudgetUser, { readonly id: string; readonly sender: Sender }>();
  readonly #left = new Set<string>();
  #sweepAt = Number.NEGATIVE_INFINITY;

  /** @param now on the monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  get all(): Iterable<Sender> {
    return this.#all.values();
  }

  /** As the user was seen last. */
  of(user: BudgetUser): Sender | undefined {
    return this.#current.get(user)?.sender;
  }

  /** The user with the key in force. */
  follow(user: BudgetUser, ledger: Ledger): Sender {
    const origin = user.url.split('/', 3).join('/');
    const key = apiKeyOf(user);
    const id = `${user.account} ${origin} ${key ?? ''}`;
    if (this.#current.get(user)?.id !== id) this.leave(user);
    const sender = this.#all.get(id) ?? new Sender({ account: user.account, origin, key });
    this.#all.set(id, sender);
    this.#current.set(user, { id, sender });
    this.#left.delete(id);
    sender.hasLeft = false;
    sender.add(ledger);
    return sender;
  }

  leave(user: BudgetUser): void {
    const { id, sender } = this.#current.get(user) ?? {};
    this.#current.delete(user);
    if (id !== undefined && sender !== undefined) {
      this.#left.add(id);
      sender.hasLeft = true;
    }
    this.#sweep();
  }

  /** Forgets who has left and sent nothing of late; not each time, for thousands may leave at once. */
  #sweep(): void {
    const now = this.#now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + sweepEveryMs;
    const current = new Set(this.#current.values().map(({ id }) => id));
    for (const id of this.#left) {
      const sender = this.#all.get(id);
      if (sender !== undefined && !current.has(id) && sender.own > 0) continue;
      this.#left.delete(id);
      if (!current.has(id)) this.#all.delete(id);
    }
  }
}
