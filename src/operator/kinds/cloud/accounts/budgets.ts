import type { Runtime } from '../../../../common/runtime.ts';
import { Limiter } from '../../../cloud/limiter.ts';

/** An account, as far as it shares a budget with others of the same credential. */
export interface BudgetUser {
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so whose budget it is is found anew for each request; the lowest `requestsPerMinute` of those that share holds.
 */
export class Budgets {
  readonly #runtime: Pick<Runtime, 'monotonic'>;
  readonly #limiters = new Map<string, Limiter>();
  /** The credential that each was last seen with. */
  readonly #users = new Map<BudgetUser, string | undefined>();

  constructor(runtime: Pick<Runtime, 'monotonic'>) {
    this.#runtime = runtime;
  }

  join(user: BudgetUser): void {
    this.#users.set(user, undefined);
  }

  leave(user: BudgetUser): void {
    const credential = this.#users.get(user);
    this.#users.delete(user);
    this.#dropUnused(credential);
  }

  of(user: BudgetUser): Limiter {
    const credential = credentialOf(user);
    // Without a key nothing is sent, nor by one that has left.
    if (credential === undefined || !this.#users.has(user)) return this.#limiter(user);
    const limiter = this.#limiterOf(user, credential);
    limiter.setRequestsPerMinute(this.#lowestOf(credential));
    return limiter;
  }

  /** Of its users as they were last seen: to ask each of hundreds for its key takes longer than a request. */
  #lowestOf(credential: string): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const [user, last] of this.#users) {
      if (last === credential) lowest = Math.min(lowest, user.requestsPerMinute);
    }
    return lowest;
  }

  /** A key that replaces another, which nobody uses any more, goes on with what was used. */
  #limiterOf(user: BudgetUser, credential: string): Limiter {
    const before = this.#users.get(user);
    this.#users.set(user, credential);
    const replaced = before === credential || before === undefined ? undefined : this.#dropUnused(before);
    const limiter = this.#limiters.get(credential) ?? replaced ?? this.#limiter(user);
    this.#limiters.set(credential, limiter);
    return limiter;
  }

  #limiter({ requestsPerMinute }: BudgetUser): Limiter {
    const { monotonic } = this.#runtime;
    return new Limiter({ monotonic, requestsPerMinute });
  }

  #dropUnused(credential: string | undefined): Limiter | undefined {
    if (credential === undefined || this.#usersOf(credential).length > 0) return undefined;
    const limiter = this.#limiters.get(credential);
    this.#limiters.delete(credential);
    return limiter;
  }

  #usersOf(credential: string): readonly BudgetUser[] {
    return [...this.#users.keys()].filter((user) => credentialOf(user) === credential);
  }
}

/** The key in force at its address; undefined without a key. */
export function credentialOf({ url, apiKey }: BudgetUser): string | undefined {
  try {
    return `${url.replace(/\/+$/, '')} ${apiKey()}`;
  } catch {
    return undefined;
  }
}
