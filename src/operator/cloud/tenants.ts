import { type Priority, priorities } from '../../common/priority.ts';
import { Use } from './use.ts';

type PerClass<T> = Record<Priority, T>;

/** What waits for its turn. */
export interface Waiting {
  readonly priority: Priority;
  /** On the monotonic clock. */
  readonly since: number;
}

/** What one namespace asks of an account: what waits, first come first served, and what it has had of the window. */
export class Tenant<Waiter extends Waiting> {
  readonly account: Account<Waiter>;
  readonly name: string;
  readonly use = new Use();
  /** By class; a Set, so that whatever gives up leaves it at once. */
  readonly waiting: PerClass<Set<Waiter>> = { change: new Set(), first: new Set(), resync: new Set() };
  /** When it last had its turn; 0 when not of late. */
  readonly turn: PerClass<number> = { change: 0, first: 0, resync: 0 };

  constructor(account: Account<Waiter>, name: string) {
    this.account = account;
    this.name = name;
  }

  /** The one that waits longest. */
  head(priority: Priority): Waiter | undefined {
    return this.waiting[priority].values().next().value;
  }

  get isIdle(): boolean {
    return this.use.total === 0 && priorities.every((priority) => this.waiting[priority].size === 0);
  }
}

/** One account, of those that use a credential. */
export class Account<Waiter extends Waiting> {
  readonly name: string;
  /** Requests that it may send in the window, whatever the credential has left. */
  limit = Number.POSITIVE_INFINITY;
  /** Requests of this process that are on record before they are sent. */
  recorded = Number.POSITIVE_INFINITY;
  /** By its name; else it has a part of what several may use together. */
  isNamed = true;
  hasLeft = false;
  /** Of the window that this process has used itself. */
  own = 0;
  readonly use = new Use();
  readonly turn: PerClass<number> = { change: 0, first: 0, resync: 0 };
  readonly tenants = new Map<string, Tenant<Waiter>>();

  constructor(name: string) {
    this.name = name;
  }
}

/** Whether something of a tenant may start now, and whether before those who had a turn less lately. */
export type Standing = 'not now' | 'in turn' | 'ahead';

/**
 * Who uses a credential: accounts, and in them namespaces. In each class accounts take turns, and the namespaces of an
 * account do: whoever has not had one for longest is next, so that nobody has more than one turn while others have none.
 */
export class Tenants<Waiter extends Waiting> {
  readonly #accounts = new Map<string, Account<Waiter>>();
  /** Those for whom something waits, by class: of thousands that may be few. */
  readonly #queued: PerClass<Set<Tenant<Waiter>>> = { change: new Set(), first: new Set(), resync: new Set() };
  #turns = 0;

  account(name: string): Account<Waiter> {
    const known = this.#accounts.get(name);
    if (known !== undefined) {
      known.hasLeft = false;
      return known;
    }
    const fresh = new Account<Waiter>(name);
    this.#accounts.set(name, fresh);
    return fresh;
  }

  known(name: string): Account<Waiter> | undefined {
    return this.#accounts.get(name);
  }

  /** What is sent for the account counts, whether or not it uses this credential. */
  charged(name: string): Tenant<Waiter> {
    const { hasLeft } = this.#accounts.get(name) ?? { hasLeft: true };
    const tenant = this.of(name, '');
    tenant.account.hasLeft = hasLeft;
    return tenant;
  }

  of(accountName: string, namespace: string): Tenant<Waiter> {
    const account = this.account(accountName);
    const known = account.tenants.get(namespace);
    if (known !== undefined) return known;
    const fresh = new Tenant(account, namespace);
    account.tenants.set(namespace, fresh);
    return fresh;
  }

  /** It waits from now on. */
  add(tenant: Tenant<Waiter>, waiter: Waiter): void {
    tenant.waiting[waiter.priority].add(waiter);
    this.#queued[waiter.priority].add(tenant);
  }

  /** It waits no longer. */
  delete(tenant: Tenant<Waiter>, waiter: Waiter): void {
    const waiting = tenant.waiting[waiter.priority];
    waiting.delete(waiter);
    if (waiting.size === 0) this.#queued[waiter.priority].delete(tenant);
  }

  isWaiting(priority: Priority): boolean {
    return this.#queued[priority].size > 0;
  }

  /** How many wait, in that account or in all. */
  waiting(priority: Priority, accountName?: string): number {
    const tenants = accountName === undefined ? this.#queued[priority] : this.account(accountName).tenants.values();
    return [...tenants].reduce((sum, tenant) => sum + tenant.waiting[priority].size, 0);
  }

  /** Takes out everything of a class, of all tenants or of these. */
  drain(priority: Priority, tenants: Iterable<Tenant<Waiter>> = this.#queued[priority]): readonly Waiter[] {
    return [...tenants].flatMap((tenant) => {
      const drained = [...tenant.waiting[priority]];
      tenant.waiting[priority].clear();
      this.#queued[priority].delete(tenant);
      this.settle(tenant);
      return drained;
    });
  }

  /** Whose turn it is in a class; and since when the one that waits longest, of those that may start, does. */
  next(
    priority: Priority,
    standingOf: (tenant: Tenant<Waiter>) => Standing,
  ): { readonly tenant: Tenant<Waiter>; readonly oldest: number } | undefined {
    let chosen: Candidate<Waiter> | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const tenant of this.#queued[priority]) {
      const head = tenant.head(priority);
      const standing = head === undefined ? 'not now' : standingOf(tenant);
      if (head === undefined || standing === 'not now') continue;
      oldest = Math.min(oldest, head.since);
      const candidate = { tenant, since: head.since, isAhead: standing === 'ahead' };
      if (chosen === undefined || comesBefore(priority, candidate, chosen)) chosen = candidate;
    }
    return chosen && { tenant: chosen.tenant, oldest };
  }

  /** Takes the head of that class from the tenant, whose turn it was. */
  take(tenant: Tenant<Waiter>, priority: Priority): Waiter | undefined {
    const head = tenant.head(priority);
    if (head === undefined) return undefined;
    this.#turns += 1;
    this.delete(tenant, head);
    tenant.turn[priority] = this.#turns;
    tenant.account.turn[priority] = this.#turns;
    return head;
  }

  /** Forgets the tenant when there is nothing to remember of it. */
  settle(tenant: Tenant<Waiter>): void {
    if (!tenant.isIdle) return;
    const { account, name } = tenant;
    account.tenants.delete(name);
    this.#forget(account);
  }

  /** Takes out everything of the account, which is forgotten as soon as there is nothing to remember of it. */
  leave(name: string): readonly Waiter[] {
    const account = this.#accounts.get(name);
    if (account === undefined) return [];
    account.hasLeft = true;
    const waiters = priorities.flatMap((priority) => this.drain(priority, account.tenants.values()));
    this.#forget(account);
    return waiters;
  }

  #forget({ name, tenants, hasLeft }: Account<Waiter>): void {
    if (hasLeft && tenants.size === 0) this.#accounts.delete(name);
  }
}

interface Candidate<Waiter extends Waiting> {
  readonly tenant: Tenant<Waiter>;
  readonly since: number;
  readonly isAhead: boolean;
}

function comesBefore<W extends Waiting>(priority: Priority, a: Candidate<W>, b: Candidate<W>): boolean {
  if (a.isAhead !== b.isAhead) return a.isAhead;
  const [mine, others] = [a.tenant, b.tenant];
  const isOneAccount = mine.account === others.account;
  const turns = isOneAccount ? [mine.turn, others.turn] : [mine.account.turn, others.account.turn];
  const [myTurn = 0, othersTurn = 0] = turns.map((turn) => turn[priority]);
  return myTurn === othersTurn ? a.since < b.since : myTurn < othersTurn;
}
