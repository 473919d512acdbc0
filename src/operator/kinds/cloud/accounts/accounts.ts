import { Registry, type RegistryOptions } from '../../../reconcile/connections/registry.ts';
import { unhandledReconcileAt } from '../../../reconcile/occasion.ts';
import { letGo } from '../../../reconcile/ownership/installation.ts';
import { accountKeyOf, defaultKey, provenAccountOf, requestedKeyOf } from '../../../reconcile/ownership/ownership.ts';
import type { PeersAccount } from '../../../reconcile/ownership/peers.ts';
import { References } from '../../../reconcile/referents/references.ts';
import type { Referents } from '../../../reconcile/referents/referents.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { isDeleting, keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError } from '../../../reconcile/status/outcome.ts';
import { AccountEntry, type AccountEntryOptions } from './account-entry.ts';
import type { CloudConnection } from './cloud-connection.ts';
import type { DefaultAccountUsers } from './default-account.ts';

export interface AccountsOptions
  extends Pick<AccountEntryOptions, 'defaultURL' | 'hosts' | 'open' | 'now'>,
    Pick<RegistryOptions<AccountEntry>, 'enqueueDependents' | 'monotonic'> {
  /** For resources that name none. */
  readonly defaultAccount: CloudConnection | undefined;
  readonly defaultAccountUsers: DefaultAccountUsers;
  /** To read the Secrets of accounts. */
  readonly referents: Referents;
  /** The account is to be reconciled. */
  readonly enqueue: (account: string) => void;
}

const giveUp = `or remove the annotation ${annotation.createIntent} to go on elsewhere and leave behind what was begun there`;

/** The accounts of this operator: the default one, and one for each CloudAccount. A resource finds those of its own namespace only. */
export class Accounts extends Registry<AccountEntry> {
  readonly #defaultAccount: CloudConnection | undefined;
  readonly #defaultAccountUsers: DefaultAccountUsers;
  readonly #references: References;
  /** Resources, as they were read, for which a refused key was tried: each of their calls asks for the account again. */
  readonly #tried = new WeakSet<ManagedObject>();
  readonly #enqueueDependents: AccountsOptions['enqueueDependents'];
  /** As `defaultIdentity`, until a change of the key is told of. */
  #sharedIdentity: string | undefined;

  constructor(options: AccountsOptions) {
    const { defaultAccount, defaultAccountUsers, referents, monotonic, enqueue, enqueueDependents, ...entry } = options;
    const references = new References({ referents, enqueue: (account) => this.entry(account)?.secretChanged() });
    const open = (key: string, object: ManagedObject) =>
      new AccountEntry(object, {
        ...entry,
        references,
        // All: those of another account may be rivals from now on.
        onRotated: () => this.wakeDependents(key),
        onDoubt: () => enqueue(key),
      });
    super({ open, enqueueDependents, monotonic });
    this.#defaultAccount = defaultAccount;
    this.#defaultAccountUsers = defaultAccountUsers;
    this.#references = references;
    this.#enqueueDependents = enqueueDependents;
    this.#sharedIdentity = this.defaultIdentity;
  }

  /**
   * The account that a resource uses. Throws DependencyError, saying why, when it cannot use one now, and RefusedError
   * when it never may. Where a person asks for a sync by `reconcile-at`, a key that is taken for refused is tried, once.
   */
  of(object: ManagedObject): CloudConnection {
    const key = accountKeyOf(object);
    const isAsked = unhandledReconcileAt(object) !== undefined && !this.#tried.has(object);
    if (isAsked) this.#tried.add(object);
    if (key === defaultKey) {
      this.#defaultAccountUsers.check(object);
      const account = this.#default(object);
      if (isAsked) account.tryKey();
      return account;
    }
    const entry = this.entryIfRead(key);
    if (isAsked) entry?.tryKey();
    // What was begun there is looked for, also where the account waits to go.
    const wayOut = wayOutOf(object);
    if (wayOut !== undefined) return forDelete(key, entry, wayOut);
    const problem = entry === undefined ? 'does not exist' : entry.problem();
    if (problem === undefined && entry?.connection !== undefined) return entry.connection;
    throw new DependencyError(`${nameOf(key)} ${problem}`, { isPending: entry?.isPending === true });
  }

  /** What the account really is; while the key is not known it has its name alone. */
  accountOf(object: ManagedObject): PeersAccount {
    const key = accountKeyOf(object);
    const entry = key === defaultKey ? undefined : this.entry(key);
    const connection = key === defaultKey ? this.#defaultAccount : entry?.connection;
    const { identity, rekeyedAt, url } = connection ?? {};
    const isUnread = key !== defaultKey && identity === undefined && (entry?.isKeyUnread ?? this.isUnread);
    return { identity: identity ?? key, isUnread, rekeyedAt, url, identities: () => connection?.identities ?? [] };
  }

  /** What the operator's own account really is; undefined without one, or without its key. */
  get defaultIdentity(): string | undefined {
    return this.#defaultAccount?.identity;
  }

  /**
   * The operator's own key was replaced. An account of the key that it had, or has now, is elsewhere than it was: what
   * uses it may be this process's only since now, and was passed over while it was not.
   */
  defaultRekeyed(): void {
    this.#defaultAccount?.keyed();
    const before = this.#sharedIdentity;
    this.#sharedIdentity = this.defaultIdentity;
    for (const { object, connection } of this.entries()) {
      const { identity } = connection ?? {};
      if (identity === undefined || (identity !== before && identity !== this.#sharedIdentity)) continue;
      this.#enqueueDependents(keyOf(object), 'met');
    }
  }

  /** When the operator's own key was replaced, on the monotonic clock. */
  get defaultRekeyedAt(): number | undefined {
    return this.#defaultAccount?.rekeyedAt;
  }

  /** Whether what the resource claims can be its own. */
  mayHold(object: ManagedObject): boolean {
    return accountKeyOf(object) !== defaultKey || this.#defaultAccountUsers.mayHold(object);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#references.close();
    await this.#defaultAccount?.close();
  }

  #default(object: ManagedObject): CloudConnection {
    if (this.#defaultAccount !== undefined) return this.#defaultAccount;
    throw new DependencyError(`the operator has no default account: start it with --api-key-file${otherwise(object)}`);
  }
}

/** What else a person can do than put the account right, where the resource only waits for what may be there. */
function wayOutOf(object: ManagedObject): string | undefined {
  if (isDeleting(object)) return letGo;
  return accountKeyOf(object) === requestedKeyOf(object) ? undefined : giveUp;
}

/** What was made there is there still: another account would be refused. */
function otherwise(object: ManagedObject): string {
  const wayOut = wayOutOf(object);
  if (wayOut !== undefined) return `, ${wayOut}`;
  return provenAccountOf(object) === undefined ? ', or set spec.accountRef' : ' again';
}

function forDelete(key: string, entry: AccountEntry | undefined, wayOut: string): CloudConnection {
  if (entry?.pause !== undefined) throw new DependencyError(`${nameOf(key)} ${entry.pause}`);
  const connection = entry?.forDelete();
  if (connection !== undefined) return connection;
  const why = entry === undefined ? 'does not exist' : whyNot(entry);
  throw new DependencyError(`${nameOf(key)} ${why}; put that right, ${wayOut}`);
}

function whyNot({ refusal, lostKey }: AccountEntry): string {
  return refusal === undefined ? `has lost its API key: ${lostKey}` : `cannot be used: ${refusal}`;
}

function nameOf(key: string): string {
  return `CloudAccount ${key}`;
}
