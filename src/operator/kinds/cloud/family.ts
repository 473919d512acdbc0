import type { Credential } from '../../../common/credential/credential.ts';
import { UsageError } from '../../../common/usage.ts';
import { userAgent } from '../../../common/version.ts';
import type { InformerGroup } from '../../controller/informer-group.ts';
import { keyOf } from '../../kube/types.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { Mirrors } from '../../mirror/mirrors.ts';
import { accountKeyOf } from '../../reconcile/claims.ts';
import { Users } from '../../reconcile/dependents.ts';
import { type ControllerOptions, everyShard, type KindController } from '../../reconcile/kind-controller.ts';
import type { ManagedObject } from '../../reconcile/resource.ts';
import type { RunSettings } from '../../settings.ts';
import { Accounts } from './accounts/accounts.ts';
import { ApiHosts } from './accounts/api-hosts.ts';
import { Budgets } from './accounts/budgets.ts';
import { OpenAccount, type OpenAccountOptions } from './accounts/cloud-connection.ts';
import { accountController } from './cloud-account/controller.ts';
import { definition as accountDefinition } from './cloud-account/schema.ts';
import { cloudKinds } from './index.ts';

/** As accountKeyOf has it. */
const defaultKey = 'default';

export interface CloudOptions {
  readonly settings: RunSettings;
  readonly credential: Credential | undefined;
  /** Of the default account's mirror. */
  readonly mirrorNamespace: string;
  /** Throws when this process may not start a call. */
  readonly guard: () => void;
  readonly metrics: Metrics;
  readonly shared: Omit<ControllerOptions<never>, 'accountOf'>;
  readonly createSettleMs: number;
}

/** The half of the operator that works with the cloud: accounts, the kinds that use them, the mirrors of endpoints. */
export class Cloud {
  /** Every kind, CloudAccount first. */
  readonly kinds: readonly KindController[];
  readonly mirrors: Mirrors;
  readonly #options: CloudOptions;
  readonly #budgets = new Budgets();
  readonly #defaultAccount: OpenAccount | undefined;
  readonly #accounts: Accounts;
  readonly #accountKind: KindController;
  readonly #everyAccount: InformerGroup<ManagedObject>;
  readonly #userKinds: readonly KindController[];
  readonly #users: Users;

  /** Throws UsageError. */
  constructor(options: CloudOptions) {
    const { shared, createSettleMs } = options;
    const { reader, client, clock, log } = shared;
    this.#options = options;
    this.#defaultAccount = openDefault(options, this.#budgets);
    this.mirrors = new Mirrors({ reader, client, clock, random: Math.random, log });
    this.#accounts = this.#createAccounts();
    const accountOf = (object: ManagedObject) => this.#accounts.of(object);
    this.#userKinds = cloudKinds.map(({ controller }) => controller({ ...shared, accountOf, createSettleMs }));
    const onReleased = (account: string) => this.#wake(account);
    this.#users = new Users({
      kinds: this.#userKinds,
      types: cloudKinds.map(({ type }) => type),
      usedBy: accountKeyOf,
      client,
      onReleased,
    });
    const { mirrors } = this;
    this.#accountKind = accountController({ ...shared, accounts: this.#accounts, mirrors, users: this.#users });
    this.#everyAccount = everyShard(accountDefinition.type, shared, this.#accountKind);
    this.#accounts.follow(this.#everyAccount);
    this.kinds = [this.#accountKind, ...this.#userKinds];
  }

  /** Follows accounts, their keys and the resources until the signal aborts; on every replica. */
  async watch(signal: AbortSignal): Promise<void> {
    const { credential, shared } = this.#options;
    const informers = new Set([this.#everyAccount, ...this.kinds.map(({ resources }) => resources)]);
    await Promise.all([
      ...[...informers].map((resources) => resources.run(signal)),
      credential?.watch(shared.clock, shared.log, signal, () => this.#defaultKeyChanged()),
    ]);
  }

  /** Reconciles and mirrors until `leading` aborts, then finishes what is under way. Once only. */
  async run(leading: AbortSignal): Promise<void> {
    this.#startDefaultMirror();
    await Promise.all([this.#accountKind.run(leading), this.#runUsers(leading)]);
    await this.mirrors.close();
  }

  close(): Promise<void> {
    return this.#accounts.close();
  }

  #createAccounts(): Accounts {
    const { settings, shared } = this.#options;
    const { reader, clock, log } = shared;
    return new Accounts({
      defaultAccount: this.#defaultAccount,
      hosts: new ApiHosts(settings.apiUrl, settings.allowedApiHosts),
      open: (key, account) => openAccount(this.#options, key, { ...account, budgets: this.#budgets }),
      secrets: { reader, clock, log },
      wake: (account) => this.#wake(account),
      wakeUsers: (account, which) => this.#users.wake(account, which),
    });
  }

  #wake(account: string): void {
    this.#accountKind.enqueueWhere((object) => keyOf(object) === account);
  }

  async #runUsers(leading: AbortSignal): Promise<void> {
    await this.#accounts.whenKnown(leading);
    await Promise.all(this.#userKinds.map((kind) => kind.run(leading)));
  }

  #startDefaultMirror(): void {
    const { settings, mirrorNamespace: namespace } = this.#options;
    const { mirrorInterval: intervalMs } = settings;
    if (this.#defaultAccount === undefined || intervalMs === 0) return;
    this.mirrors.start(this.#defaultAccount, { namespace, intervalMs });
  }

  #defaultKeyChanged(): void {
    this.#users.wake(defaultKey, 'all');
    this.mirrors.sweepNow(defaultKey);
  }
}

function openAccount(options: CloudOptions, key: string, account: Omit<OpenAccountOptions, 'userAgent'>): OpenAccount {
  const { guard, metrics } = options;
  const own = metrics.account(key);
  return new OpenAccount(key, {
    ...account,
    userAgent,
    guard,
    onRequest: (report) => {
      metrics.cloudRequest(report);
      own.onRequest(report);
      account.onRequest?.(report);
    },
    watchBudget: own.show,
  });
}

function openDefault(options: CloudOptions, budgets: Budgets): OpenAccount | undefined {
  const { credential, settings } = options;
  if (credential === undefined) return undefined;
  const { apiUrl: baseURL, requestsPerMinute } = settings;
  if (baseURL === undefined) throw new UsageError('--api-url is needed: the address of the Cloud Management API');
  return openAccount(options, defaultKey, { baseURL, requestsPerMinute, budgets, apiKey: () => credential.key() });
}
