import type { Runtime } from '../../../../common/runtime.ts';
import { KeyGate } from '../../../cloud/key-gate.ts';
import { Limiter } from '../../../cloud/limiter.ts';

/** An account, as far as it shares a credential with others. */
export interface BudgetUser {
  /** Unique in this operator. */
  readonly account: string;
  readonly url: string;
  /** The key in force; may throw when there is none. */
  readonly apiKey: () => string;
  requestsPerMinute: number;
  /** It is the operator's own: what it says bounds all who share its credential, and resources of any namespace use it. */
  readonly isDefault: boolean;
}

/** What all accounts of one key at one address share, because the service knows no other difference. */
export interface Credential {
  readonly limiter: Limiter;
  readonly gate: KeyGate;
}

/**
 * One budget for each credential: the service counts the requests of a key, however many accounts here use it. Keys
 * change, so whose budget it is is found anew for each request. `requestsPerMinute` bounds what the account uses itself;
 * all together are bounded by what the operator's settings say where the default account is one of them, else by the
 * highest of theirs: nobody takes from others by asking for less.
 */
export class Budgets {
  readonly #runtime: Pick<Runtime, 'monotonic'>;
  readonly #credentials = new Map<string, Credential>();
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
    if (credential === undefined) return;
    this.#credentials.get(credential)?.limiter.leave(user.account);
    this.#dropUnused(credential);
  }

  of(user: BudgetUser): Credential {
    const credential = credentialOf(user);
    // Without a key nothing is sent, nor by one that has left.
    if (credential === undefined || !this.#users.has(user)) return this.#fresh(user);
    const found = this.#find(user, credential);
    const users = this.#usersOf(credential);
    const limits = users.map(({ requestsPerMinute }) => requestsPerMinute);
    found.limiter.setRequestsPerMinute(
      users.find(({ isDefault }) => isDefault)?.requestsPerMinute ?? Math.max(...limits),
    );
    found.limiter.share(users.length > 1 || user.isDefault);
    found.limiter.bound(user.account, user.requestsPerMinute);
    return found;
  }

  /** A key that replaces another, which nobody uses any more, goes on with what was used. */
  #find(user: BudgetUser, credential: string): Credential {
    const before = this.#users.get(user);
    this.#users.set(user, credential);
    if (before !== undefined && before !== credential) this.#credentials.get(before)?.limiter.leave(user.account);
    const replaced = before === credential ? undefined : this.#dropUnused(before);
    const known = this.#credentials.get(credential);
    if (known !== undefined) return known;
    const fresh = this.#fresh(user);
    const found = { gate: fresh.gate, limiter: replaced?.limiter ?? fresh.limiter };
    this.#credentials.set(credential, found);
    return found;
  }

  #fresh({ requestsPerMinute }: BudgetUser): Credential {
    const { monotonic } = this.#runtime;
    return { limiter: new Limiter({ monotonic, requestsPerMinute }), gate: new KeyGate(() => monotonic.now()) };
  }

  #dropUnused(credential: string | undefined): Credential | undefined {
    if (credential === undefined || this.#usersOf(credential).length > 0) return undefined;
    const unused = this.#credentials.get(credential);
    this.#credentials.delete(credential);
    return unused;
  }

  #usersOf(credential: string): readonly BudgetUser[] {
    return [...this.#users.keys()].filter((user) => credentialOf(user) === credential);
  }
}

function credentialOf({ url, apiKey }: BudgetUser): string | undefined {
  try {
    return `${url.replace(/\/+$/, '')} ${apiKey()}`;
  } catch {
    return undefined;
  }
}
