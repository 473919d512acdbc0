import type { Dispatcher } from 'undici';
import type { Credential } from '../../../common/credential/credential.ts';
import { openConnections } from '../../../common/http/http-client.ts';
import type { Runtime } from '../../../common/runtime.ts';
import { UsageError } from '../../../common/usage.ts';
import { userAgent } from '../../../common/version.ts';
import { cloudService } from '../../cloud/service.ts';
import { Mirrors } from '../../mirror/mirrors.ts';
import { Family, type FamilyKinds } from '../../reconcile/family.ts';
import { HeldSecrets } from '../../reconcile/held-secrets.ts';
import type { SharedOptions } from '../../reconcile/kind-controller.ts';
import { accountKeyOf } from '../../reconcile/ownership.ts';
import type { AccountEntry } from './accounts/account-entry.ts';
import { Accounts } from './accounts/accounts.ts';
import { apiHosts } from './accounts/address.ts';
import { Budgets } from './accounts/budgets.ts';
import { CloudConnection, type CloudConnectionOptions } from './accounts/cloud-connection.ts';
import type { CloudKindOptions } from './accounts/cloud-kind.ts';
import { DefaultAccountUsers } from './accounts/default-account.ts';
import type { UseStore } from './accounts/use-record.ts';

/** As accountKeyOf has it. */
const defaultKey = 'default';

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
  };
  /** Of the default account. */
  readonly credential: Credential | undefined;
  /** Of the default account's mirror. */
  readonly mirrorNamespace: string;
  /** Throws when this process may not start a call. */
  readonly guard: () => void;
  /** Where is recorded what is sent, for who comes after this process. */
  readonly useStore: UseStore;
  /** What is to be told of each connection's requests, and shown of its budget. */
  readonly instrument: (key: string) => Pick<CloudConnectionOptions, 'onRequest' | 'watchBudget'>;
}

/** The kinds that the cloud backs: accounts, what uses them, the mirrors of endpoints. */
export class CloudFamily extends Family<AccountEntry, CloudKindOptions> {
  readonly mirrors: Mirrors;
  readonly #options: CloudFamilyOptions;
  readonly #budgets: Budgets;
  readonly #defaultAccount: CloudConnection | undefined;
  /** Of all accounts, where none was given. */
  readonly #dispatcher: Dispatcher | undefined;

  /** Throws UsageError. */
  constructor(given: CloudFamilyOptions) {
    // Accounts have budgets of their own, not connections: tenants decide how many there are.
    const own = given.shared.dispatcher === undefined ? openConnections(cloudService) : undefined;
    const options = { ...given, shared: { ...given.shared, dispatcher: given.shared.dispatcher ?? own } };
    const { kinds, shared, settings } = options;
    const { apiUrl, allowedApiHosts } = settings;
    const { referents, clock } = shared;
    const budgets = new Budgets(shared, { ...shared, store: options.useStore });
    const defaultAccount = openDefault(options, budgets, () => this.#back(defaultKey));
    const mirrors = new Mirrors({
      ...shared,
      installation: () => shared.installation.name,
      takeOver: shared.installation.takesOver,
    });
    const accounts = new Accounts({
      defaultAccount,
      defaultAccountUsers: new DefaultAccountUsers(settings.defaultAccountNamespaces),
      defaultURL: apiUrl,
      hosts: apiHosts(apiUrl, allowedApiHosts),
      open: (key, account) => open(options, key, { ...account, budgets, onBack: () => this.#back(key) }),
      ...{ referents, clock },
      enqueue: (account) => this.enqueueProvider(account),
      enqueueDependents: (account, which) => this.dependents.enqueue(account, which),
    });
    super({
      kinds,
      controllers: {
        ...shared,
        accounts,
        mirrors,
        heldSecrets: new HeldSecrets({ ...shared, type: kinds.provider.definition.type }),
        connectionOf: (object) => accounts.of(object),
        accountOf: (object) => accounts.identityOf(object),
        mayHold: (object) => accounts.mayHold(object),
      },
      usedBy: accountKeyOf,
      usedAs: 'account',
      registry: accounts,
    });
    this.#options = options;
    this.#budgets = budgets;
    this.#defaultAccount = defaultAccount;
    this.#dispatcher = own;
    this.mirrors = mirrors;
  }

  /** Follows the default account's key too. */
  override async watch(signal: AbortSignal): Promise<void> {
    const { credential, shared } = this.#options;
    await Promise.all([
      super.watch(signal),
      credential?.watch(shared.clock, shared.log, signal, () => this.#defaultKeyChanged()),
    ]);
  }

  /** Mirrors too. */
  override async run(leading: AbortSignal): Promise<void> {
    const recording = this.#budgets.run();
    this.#startDefaultMirror();
    try {
      await super.run(leading);
      await this.mirrors.close();
    } finally {
      await this.#budgets.close();
      await recording;
    }
  }

  /** Waits for the requests under way. */
  override async close(): Promise<void> {
    await super.close();
    await this.#dispatcher?.close();
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
    this.#defaultAccount?.keyChanged();
    this.dependents.enqueue(defaultKey, 'all');
    this.mirrors.sweepNow(defaultKey);
  }
}

function open(
  { shared, guard, instrument }: CloudFamilyOptions,
  key: string,
  account: Omit<CloudConnectionOptions, 'userAgent' | 'log' | keyof Runtime>,
): CloudConnection {
  const { onRequest, ...hooks } = instrument(key);
  const { clock, monotonic, random, dispatcher, log } = shared;
  return new CloudConnection(key, {
    ...{ clock, monotonic, random, dispatcher, log },
    ...account,
    ...hooks,
    userAgent,
    guard,
    onRequest: (report) => {
      onRequest?.(report);
      account.onRequest?.(report);
    },
  });
}

function openDefault(options: CloudFamilyOptions, budgets: Budgets, onBack: () => void): CloudConnection | undefined {
  const { credential, settings } = options;
  if (credential === undefined) return undefined;
  const { apiUrl: baseURL, requestsPerMinute } = settings;
  if (baseURL === undefined) throw new UsageError('--api-url is needed: the address of the Cloud Management API');
  return open(options, defaultKey, {
    baseURL,
    requestsPerMinute,
    isDefault: true,
    isShared: options.shared.namespaces.length !== 1,
    ...{ budgets, onBack },
    apiKey: () => credential.key(),
  });
}
