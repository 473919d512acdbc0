import type { Dispatcher } from 'undici';
import type { Credential } from '../../../common/credential/credential.ts';
import { openConnections } from '../../../common/http/http-client.ts';
import type { Runtime } from '../../../common/runtime.ts';
import { UsageError } from '../../../common/usage.ts';
import { userAgent } from '../../../common/version.ts';
import { cloudService } from '../../cloud/service.ts';
import { Mirrors } from '../../mirror/mirrors.ts';
import { firstShard } from '../../reconcile/connections/placement.ts';
import { Family, type FamilyKinds } from '../../reconcile/family.ts';
import type { SharedOptions } from '../../reconcile/kind-controller.ts';
import { accountKeyOf, defaultKey } from '../../reconcile/ownership/ownership.ts';
import { HeldSecrets } from '../../reconcile/referents/held-secrets.ts';
import type { AccountEntry } from './accounts/account-entry.ts';
import { Accounts } from './accounts/accounts.ts';
import { apiHosts } from './accounts/address.ts';
import { Budgets } from './accounts/budgets.ts';
import { CloudConnection, type CloudConnectionOptions } from './accounts/cloud-connection.ts';
import type { CloudKindOptions } from './accounts/cloud-kind.ts';
import { DefaultAccountUsers } from './accounts/default-account.ts';
import { Homes } from './accounts/homes.ts';
import type { UseStore } from './accounts/use-store.ts';

export interface CloudFamilyOptions {
  readonly kinds: FamilyKinds<CloudKindOptions>;
  readonly shared: SharedOptions;
  readonly settings: {
    readonly apiUrl?: string | undefined;
    readonly allowedApiHosts: readonly string[];
    readonly requestsPerMinute: number;
    /** Whose resources may use the default account: namespaces, or `*` for all. */
    readonly defaultAccountNamespaces: readonly string[] | '*';
    /** Of the default account's mirror; 0 for none. */
    readonly mirrorInterval: number;
    /** So many replicas' shares the accounts are divided into. */
    readonly shards: number;
  };
  /** Of the default account. */
  readonly credential: Credential | undefined;
  /** Of the default account's mirror. */
  readonly mirrorNamespace: string;
  /** Throws when this process may not start a call. */
  readonly guard: () => void;
  /** Where is recorded what is sent for the accounts of a shard, for who has it after this process. */
  readonly useStore: (shard: number) => UseStore;
  /** What is to be told of each connection's requests, and shown of its budget. */
  readonly instrument: (
    key: string,
    isHeld: () => boolean,
  ) => Pick<CloudConnectionOptions, 'onRequest' | 'watchBudget'>;
}

/** The kinds that the cloud backs: accounts, what uses them, the mirrors of endpoints. */
export class CloudFamily extends Family<AccountEntry, CloudKindOptions> {
  readonly mirrors: Mirrors;
  readonly #options: CloudFamilyOptions;
  readonly #budgets: Budgets;
  readonly #defaultAccount: CloudConnection | undefined;
  readonly #accounts: Accounts;
  readonly #homes: Homes;
  /** Shards that this process has had before. */
  readonly #had = new Set<number>();
  /** Of all accounts, where none was given. */
  readonly #dispatcher: Dispatcher | undefined;

  /** Throws UsageError. */
  constructor(given: CloudFamilyOptions) {
    // Accounts have budgets of their own, not connections: tenants decide how many there are.
    const own = given.shared.dispatcher === undefined ? openConnections(cloudService) : undefined;
    const options = { ...given, shared: { ...given.shared, dispatcher: given.shared.dispatcher ?? own } };
    const { kinds, shared, settings } = options;
    const { apiUrl, allowedApiHosts, requestsPerMinute } = settings;
    const { referents, monotonic } = shared;
    const held = new Set<number>();
    const budgets = new Budgets(
      { ...shared, requestsPerMinute },
      { ...shared, store: options.useStore, shardOf: (account) => homes.shardOf(account) },
    );
    const isMine = (account: string) => homes.isMine(account);
    const opening = { ...options, budgets, isMine };
    const defaultAccount = openDefault(opening, () => this.#back(defaultKey));
    const mirrors = new Mirrors({
      ...shared,
      installation: () => shared.installation.names,
      takeOver: shared.installation.takesOver,
    });
    const accounts = new Accounts({
      defaultAccount,
      defaultAccountUsers: new DefaultAccountUsers(settings.defaultAccountNamespaces),
      defaultURL: apiUrl,
      hosts: apiHosts(apiUrl, allowedApiHosts),
      open: (key, account) => open(opening, key, { ...account, onBack: () => this.#back(key) }),
      ...{ referents, monotonic, now: () => shared.monotonic.now() },
      enqueue: (account) => this.enqueueProvider(account),
      enqueueDependents: (account, which) => this.dependents.enqueue(account, which),
    });
    const homes = new Homes({
      ...{ shards: settings.shards, held, accounts },
      isForeign: (object) => shared.installation.otherOf(object) !== undefined,
      now: () => shared.monotonic.now(),
    });
    super({
      kinds,
      held,
      controllers: {
        ...shared,
        accounts,
        homes,
        placement: homes.ofUsers,
        mirrors,
        heldSecrets: new HeldSecrets({ ...shared, type: kinds.provider.definition.type }),
        connectionOf: (object) => accounts.of(object),
        accountOf: (object) => accounts.accountOf(object),
        mayHold: (object) => accounts.mayHold(object),
      },
      usedBy: accountKeyOf,
      usedAs: 'account',
      registry: accounts,
    });
    this.#options = options;
    this.#budgets = budgets;
    this.#accounts = accounts;
    this.#homes = homes;
    this.#defaultAccount = defaultAccount;
    this.#dispatcher = own;
    this.mirrors = mirrors;
  }

  /** Follows the default account's key too. */
  override async watch(signal: AbortSignal): Promise<void> {
    const { credential, shared } = this.#options;
    await Promise.all([
      super.watch(signal),
      credential?.watch(shared.monotonic, shared.log, signal, () => this.#defaultKeyChanged()),
    ]);
  }

  /** Mirrors too. */
  override async hold(shard: number, term: AbortSignal): Promise<void> {
    if (this.#had.has(shard)) this.#distrust(shard);
    this.#had.add(shard);
    const recording = this.#budgets.run(shard);
    if (shard === firstShard) this.#startDefaultMirror();
    // Not after what is under way has ended, for which it may take a while: by then nothing may be listed any more.
    const closeMirrors = () => this.mirrors.close((account) => this.#homes.shardOf(account) === shard);
    term.addEventListener('abort', () => void closeMirrors(), { once: true });
    try {
      await super.hold(shard, term);
      await closeMirrors();
    } finally {
      await this.#budgets.close(shard);
      await recording;
    }
  }

  /** Waits for the requests under way. */
  override async close(): Promise<void> {
    await super.close();
    await this.#dispatcher?.close();
  }

  /** What was seen of its accounts before another replica had them is as good as nothing. */
  #distrust(shard: number): void {
    const connections = [this.#defaultAccount, ...this.#accounts.entries().map(({ connection }) => connection)];
    for (const connection of connections)
      if (connection !== undefined && this.#homes.shardOf(connection.key) === shard) connection.distrust();
  }

  #startDefaultMirror(): void {
    const { settings, mirrorNamespace: namespace } = this.#options;
    const { mirrorInterval: intervalMs } = settings;
    if (this.#defaultAccount === undefined || intervalMs === 0) return;
    this.mirrors.start(this.#defaultAccount, { namespace, intervalMs });
  }

  /** Those that failed for the service's sake need not wait any longer; how quickly they ask is for the budget to say. */
  #back(key: string): void {
    this.enqueueProvider(key);
    this.dependents.enqueue(key, 'unready');
    this.mirrors.sweepNow(key);
  }

  #defaultKeyChanged(): void {
    this.#accounts.defaultRekeyed();
    this.dependents.enqueue(defaultKey, 'all');
    // Those that have its key are to be where it is.
    this.provider.enqueue(this.provider.resources.list());
    this.mirrors.sweepNow(defaultKey);
  }
}

type Opening = CloudFamilyOptions & {
  readonly budgets: Budgets;
  /** Whether this process may send anything for the account. */
  readonly isMine: (account: string) => boolean;
};

function open(
  { shared, guard, instrument, budgets, isMine }: Opening,
  key: string,
  account: Omit<CloudConnectionOptions, 'userAgent' | 'budgets' | 'log' | keyof Runtime>,
): CloudConnection {
  const { onRequest, ...hooks } = instrument(key, () => isMine(key));
  const { clock, monotonic, random, dispatcher, log } = shared;
  return new CloudConnection(key, {
    ...{ clock, monotonic, random, dispatcher, log, budgets },
    ...account,
    ...hooks,
    userAgent,
    guard: () => {
      guard();
      if (!isMine(key)) throw new Error(`account ${key} is not this process's now`);
      account.guard?.();
    },
    onRequest: (report) => {
      onRequest?.(report);
      account.onRequest?.(report);
    },
  });
}

function openDefault(options: Opening, onBack: () => void): CloudConnection | undefined {
  const { credential, settings } = options;
  if (credential === undefined) return undefined;
  const { apiUrl: baseURL, requestsPerMinute } = settings;
  if (baseURL === undefined) throw new UsageError('--api-url is needed: the address of the Cloud Management API');
  return open(options, defaultKey, {
    baseURL,
    requestsPerMinute,
    isDefault: true,
    isShared: options.shared.namespaces.length !== 1,
    onBack,
    apiKey: () => credential.key(),
  });
}
