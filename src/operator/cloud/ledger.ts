import type { Clock } from '../../common/clock.ts';
import type { Priority } from '../../common/priority.ts';
import { RollingWindow } from './rolling-window.ts';
import type { Tenant, Tenants, Waiting } from './tenants.ts';
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
  /** By this process. */
  readonly own: boolean;
  readonly isRecorded: boolean;
}

/** The highest limit that an account can have. */
const mostCarried = 100_000;

/** What was used of one credential, by whom, for as long as it counts; and how much of that each may have by the durable record. */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #clock: Clock;
  readonly #tenants: Tenants<Waiting>;
  readonly #window = new RollingWindow<Taken>((taken) => this.#left(taken));
  /** Of all. */
  readonly use = new Use();

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#clock = options.monotonic;
    this.#tenants = options.tenants;
  }

  /** Requests without an answer yet. */
  get running(): number {
    return this.#window.running;
  }

  start(tenant: Tenant<Waiting>, priority: Priority, paced: boolean): Taken {
    const taken: Taken = { tenant, priority, paced, own: true, isRecorded: true };
    this.#window.start();
    this.#enter(taken);
    return taken;
  }

  /** `sent` false: it never left this process. */
  finish(taken: Taken, sent: boolean): void {
    this.#window.finish(taken, sent, this.#clock.now());
  }

  /** Forgets what counts no more. */
  advance(): void {
    this.#window.advance(this.#clock.now());
  }

  /** When the next request counts no more, by time alone. */
  nextChange(): number | undefined {
    return this.#window.nextChange();
  }

  /** How many requests the account may have in its window: so many are on durable record. Default any number. */
  record(account: string, count: number): void {
    const recorded = this.#tenants.account(account);
    if (recorded.recorded === count) return;
    recorded.recorded = count;
    this.#options.onChange();
  }

  /**
   * Charges an account with what another process may have sent, the last at `endedAt` (monotonic): with all of it, for the limit
   * may be higher a moment later.
   *
   * @param isRecorded whoever comes next learns of it by a record
   */
  carry(account: string, count: number, endedAt: number, isRecorded = true): void {
    const tenant = this.#tenants.charged(account);
    const taken: Taken = { tenant, priority: 'change', paced: false, own: false, isRecorded };
    const slots = Array.from({ length: Math.min(count, mostCarried) }, () => taken);
    for (const slot of slots) this.#enter(slot);
    this.#window.carry(slots, endedAt);
    this.#options.onChange();
  }

  /** Charges an account with all that counts for another credential, for as long as it does there. */
  goOnFrom(before: Ledger, account: string): void {
    for (const endedAt of before.#window.endings(this.#clock.now())) this.carry(account, 1, endedAt);
  }

  /** How many requests of this process the account has in the window. */
  ownUse(account: string): number {
    this.advance();
    return this.#tenants.known(account)?.own ?? 0;
  }

  /** When those of them ended that have. */
  endedAt(account: string): readonly number[] {
    const ended = this.#window.finished().filter(({ slot }) => slot.tenant.account.name === account);
    return ended.map(({ endedAt }) => endedAt);
  }

  /** What these accounts have sent is counted by a record from now on. To be called when they send nothing. */
  handOver(isTheirs: (account: string) => boolean): void {
    this.#window.drop(({ tenant, isRecorded }) => isRecorded && isTheirs(tenant.account.name));
    this.#options.onChange();
  }

  #enter({ tenant, priority, own }: Taken): void {
    for (const use of this.#usesOf(tenant)) use.add(priority);
    if (own) tenant.account.own += 1;
  }

  #left({ tenant, priority, paced, own }: Taken): void {
    for (const use of this.#usesOf(tenant)) use.remove(priority);
    if (paced) this.#options.onPacedLeft();
    if (own) tenant.account.own -= 1;
    this.#tenants.settle(tenant);
  }

  #usesOf(tenant: Tenant<Waiting>): readonly Use[] {
    return [this.use, tenant.account.use, tenant.use];
  }
}
