import type { InformerGroup } from '../../../controller/informer-group.ts';
import { keyOf } from '../../../kube/types.ts';
import { annotation } from '../../../reconcile/annotations.ts';
import { accountKeyOf } from '../../../reconcile/claims.ts';
import { isDeleting } from '../../../reconcile/context.ts';
import { DependencyError } from '../../../reconcile/outcome.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { AccountEntry, type AccountEntryOptions } from './account-entry.ts';
import type { OpenAccount } from './cloud-connection.ts';

export interface AccountsOptions extends Omit<AccountEntryOptions, 'onRotated' | 'onDoubt'> {
  /** For resources that name none. */
  readonly defaultAccount: OpenAccount | undefined;
  /** The account is to be reconciled. */
  readonly wake: (account: string) => void;
  /** So are the resources that use it: all of them, or those that are not Ready. */
  readonly wakeUsers: (account: string, which: 'all' | 'troubled') => void;
}

const letGo = `or set the annotation ${annotation.forceOrphan} to "true" to let this resource go and leave behind what it made`;

/**
 * The accounts of this operator: the default one, and one for each CloudAccount, by `namespace/name`. A resource finds
 * accounts of its own namespace only.
 */
export class Accounts {
  readonly #options: AccountsOptions;
  readonly #entries = new Map<string, AccountEntry>();
  /** What the users of each account were last woken for. */
  readonly #problems = new Map<string, string | undefined>();
  #resources: Pick<InformerGroup<ManagedObject>, 'whenSynced'> | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** Keeps an entry for each of the CloudAccounts, from now on. */
  follow(resources: Pick<InformerGroup<ManagedObject>, 'onChange' | 'whenSynced'>): void {
    this.#resources = resources;
    resources.onChange(
      ({ type, object }) => {
        if (type === 'delete') this.#remove(keyOf(object));
        else this.#put(keyOf(object), object);
      },
      { ownWrites: true },
    );
  }

  /** The account that a resource uses. Throws DependencyError, saying why, when it cannot use one now. */
  of(object: ManagedObject): OpenAccount {
    const key = accountKeyOf(object);
    if (key === 'default') return this.#default();
    const entry = this.#entries.get(key);
    if (isDeleting(object)) return forDelete(key, entry);
    const problem = entry === undefined ? 'does not exist' : entry.problem();
    if (problem === undefined && entry?.account !== undefined) return entry.account;
    throw new DependencyError(`${nameOf(key)} ${problem}`);
  }

  entry(key: string): AccountEntry | undefined {
    return this.#entries.get(key);
  }

  /** Resolves when the accounts and their keys are known, or cannot be for now: what starts before that is told so. */
  async whenKnown(signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    await this.#resources?.whenSynced(limit).catch(() => {});
    await Promise.all([...this.#entries.values()].map((entry) => entry.whenRead(limit)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => entry.close()));
    await this.#options.defaultAccount?.close();
  }

  #default(): OpenAccount {
    if (this.#options.defaultAccount !== undefined) return this.#options.defaultAccount;
    throw new DependencyError(
      'the operator has no default account: start it with --api-key-file, or set spec.accountRef',
    );
  }

  #put(key: string, object: ManagedObject): void {
    const known = this.#entries.get(key);
    known?.follow(object);
    const entry = known ?? this.#open(key, object);
    const problem = entry.problem();
    if (known !== undefined && this.#problems.get(key) === problem) return;
    const wasUsable = known !== undefined && this.#problems.get(key) === undefined;
    this.#problems.set(key, problem);
    this.#options.wakeUsers(key, wasUsable ? 'all' : 'troubled');
  }

  #open(key: string, object: ManagedObject): AccountEntry {
    const entry = new AccountEntry(object, {
      ...this.#options,
      onRotated: () => this.#options.wakeUsers(key, 'troubled'),
      onDoubt: () => this.#options.wake(key),
    });
    this.#entries.set(key, entry);
    return entry;
  }

  #remove(key: string): void {
    void this.#entries.get(key)?.close();
    this.#entries.delete(key);
    this.#problems.delete(key);
    this.#options.wakeUsers(key, 'all');
  }
}

function forDelete(key: string, entry: AccountEntry | undefined): OpenAccount {
  const account = entry?.forDelete();
  if (account !== undefined) return account;
  const why = entry === undefined ? 'does not exist' : whyNot(entry);
  throw new DependencyError(`${nameOf(key)} ${why}; put that right, ${letGo}`);
}

function whyNot({ refusal, lostKey }: AccountEntry): string {
  return refusal === undefined ? `has lost its API key: ${lostKey}` : `cannot be used: ${refusal}`;
}

function nameOf(key: string): string {
  return `CloudAccount ${key}`;
}
