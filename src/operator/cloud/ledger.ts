import type { Clock } from '../../common/clock.ts';
import type { Priority } from '../../common/priority.ts';
import { RollingWindow } from './rolling-window.ts';
import type { Account, Tenant, Tenants, Waiting } from './tenants.ts';
import { Use } from './use.ts';

export interface LedgerOptions {
  readonly monotonic: Clock;
  readonly tenants: Tenants<Waiting>;
  /** More may be sent than before, or less. */
  readonly onChange: () => void;
  /** A request of the part that is given out evenly counts no more. */
  readonly onPacedLeft: () => void;
}

/** A request in the window. */
export interface Taken {
  readonly tenant: Tenant<Waiting>;
  readonly priority: Priority;
  /** Out of the part that is given out evenly. */
  readonly paced: boolean;
  /** By this process, with this credential. */
  readonly own: boolean;
  readonly isRecorded: boolean;
  readonly scope: Scope;
}

/** What a request counts for: the credential, the account, or both. */
type Scope = 'credential' | 'account' | 'both';

export interface Carrying {
  /** Whoever comes next learns of it by a record. Default true. */
  readonly isRecorded?: boolean;
  /** Default both. */
  readonly scope?: Scope;
}

/** The highest limit that an account can have. */
const mostCarried = 100_000;

/** What was used of one credential, by whom, for as long as it counts; and how much of that each may have by the durable record. */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #clock: Clock;
  readonly #tenants: Tenants<Waiting>;
  readonly #window = new RollingWindow<Taken>((taken) => this.#left(taken));
  /** Of those that run: who else counts them, and is to be told how they end. */
  readonly #followers = new Map<Taken, ((sent: boolean) => void)[]>();
  /** Of all. */
  readonly use = new Use();
  /** Requests that those may have in the window together who are not on record by name. */
  #free = Number.POSITIVE_INFINITY;
  /** Requests of this process that they have. */
  #freeUse = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#clock = options.monotonic;
    this.#tenants = options.tenants;
  }

  /** Requests without an answer yet. */
  get running(): number {
    return this.#window.running.size;
  }

  start(tenant: Tenant<Waiting>, priority: Priority, paced: boolean): Taken {
    const taken: Taken = { tenant, priority, paced, own: true, isRecorded: true, scope: 'both' };
    this.#begin(taken);
    return taken;
  }

  /** `sent` false: it never left this process. */
  finish(taken: Taken, sent: boolean): void {
    this.#window.finish(taken, sent, this.#clock.now());
    for (const follow of this.#followers.get(taken) ?? []) follow(sent);
    this.#followers.delete(taken);
  }

  /** Forgets what counts no more. */
  advance(): void {
    this.#window.advance(this.#clock.now());
  }

  /** When the next request counts no more, by time alone. */
  nextChange(): number | undefined {
    return this.#window.nextChange();
  }

  /**
   * How many requests the account may have in its window: so many are on durable record, by its name, or with others of
   * {@link share}. Default any number.
   */
  record(account: string, count: number, isNamed = true): void {
    const known = this.#tenants.account(account);
    const isNews = known.recorded !== count || known.isNamed !== isNamed;
    if (known.isNamed !== isNamed) this.#freeUse += isNamed ? -known.own : known.own;
    known.recorded = count;
    known.isNamed = isNamed;
    // Who waits is to ask for more, of whoever records it now.
    if (isNews || this.isShort(known)) this.#options.onChange();
  }

  /** How many requests all together may have in the window who are not on record by name. */
  share(free: number): void {
    if (this.#free === free) return;
    this.#free = free;
    this.#options.onChange();
  }

  /** It has what is on record for it, or more. */
  isShort({ own, recorded, isNamed }: Account<Waiting>): boolean {
    return own >= recorded || (!isNamed && this.#freeUse >= this.#free);
  }

  /** It has more than what is on record for it, as where that has become less. */
  isOverdrawn(account: string): boolean {
    const { own = 0, recorded = 0, isNamed = true } = this.#tenants.known(account) ?? {};
    return own > recorded || (own > 0 && !isNamed && this.#freeUse > this.#free);
  }

  /**
   * Charges an account with what another process may have sent, the last at `endedAt` (monotonic): with all of it, for the limit
   * may be higher a moment later.
   */
  carry(account: string, count: number, endedAt: number, carrying?: Carrying): void {
    const taken = this.#elsewhere(account, carrying);
    const slots = Array.from({ length: Math.min(count, mostCarried) }, () => taken);
    for (const slot of slots) this.#enter(slot);
    this.#window.carry(slots, endedAt);
    this.#options.onChange();
  }

  /** Charges an account with all that counts for another credential, for as long as it does there. */
  goOnFrom(before: Ledger, account: string): void {
    const endings = before.#window.endings(({ scope }) => scope !== 'account');
    for (const endedAt of endings) this.carry(account, 1, endedAt);
    for (const running of before.#window.running) this.#follow(before, running, account);
  }

  /** What runs may arrive at any time until its end, so it ends here when it does there. */
  #follow(before: Ledger, running: Taken, account: string): void {
    const taken = this.#elsewhere(account);
    this.#begin(taken);
    const follow = (sent: boolean) => {
      this.finish(taken, sent);
      this.#options.onChange();
    };
    before.#followers.set(running, [...(before.#followers.get(running) ?? []), follow]);
  }

  /** How many requests of this process the account has in the window. */
  ownUse(account: string): number {
    this.advance();
    return this.#tenants.known(account)?.own ?? 0;
  }

  /** When those of them ended that have. */
  endedAt(account: string): readonly number[] {
    const isMeant = ({ own, tenant }: Taken) => own && tenant.account.name === account;
    const ended = this.#window.finished().filter(({ slot }) => isMeant(slot));
    return ended.map(({ endedAt }) => endedAt);
  }

  /** What these accounts have sent is counted by a record from now on. To be called when they send nothing. */
  handOver(isTheirs: (account: string) => boolean): void {
    this.#window.drop(({ tenant, isRecorded }) => isRecorded && isTheirs(tenant.account.name));
    this.#options.onChange();
  }

  #elsewhere(account: string, { isRecorded = true, scope = 'both' }: Carrying = {}): Taken {
    const tenant = this.#tenants.charged(account);
    return { tenant, priority: 'change', paced: false, own: false, isRecorded, scope };
  }

  #begin(taken: Taken): void {
    this.#window.start(taken);
    this.#enter(taken);
  }

  #enter(taken: Taken): void {
    for (const use of this.#usesOf(taken)) use.add(taken.priority);
    if (taken.own) this.#count(taken.tenant.account, 1);
  }

  #left(taken: Taken): void {
    const { tenant, priority, paced, own, scope } = taken;
    for (const use of this.#usesOf(taken)) use.remove(priority);
    if (paced) this.#options.onPacedLeft();
    if (own) this.#count(tenant.account, -1);
    if (scope !== 'credential') this.#tenants.settle(tenant);
  }

  #count(account: Account<Waiting>, count: 1 | -1): void {
    account.own += count;
    if (!account.isNamed) this.#freeUse += count;
  }

  #usesOf({ tenant, scope }: Taken): readonly Use[] {
    const ofAccount = [tenant.account.use, tenant.use];
    if (scope === 'account') return ofAccount;
    return scope === 'credential' ? [this.use] : [this.use, ...ofAccount];
  }
}
