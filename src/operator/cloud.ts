import { Accounts } from '../accounts/accounts.ts';
import { ApiHosts } from '../accounts/api-hosts.ts';
import { accountController, everyAccount } from '../accounts/controller.ts';
import type { Credential } from '../accounts/credential.ts';
import { Mirrors } from '../accounts/mirrors.ts';
import { OpenAccount, type OpenAccountOptions } from '../accounts/open-account.ts';
import { AccountUsers } from '../accounts/users.ts';
import { UsageError } from '../commands/usage.ts';
import type { RunSettings } from '../config.ts';
import type { InformerGroup } from '../controller/informer-group.ts';
import type { ControllerOptions, KindController } from '../kinds/controller.ts';
import { keyOf } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { userAgent } from '../version.ts';
import { cloudKinds, cloudTypes } from './kinds.ts';

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

/** The half of the operator that works with the cloud. */
export interface Cloud {
  /** Every kind, CloudAccount too. */
  readonly kinds: readonly KindController[];
  readonly mirrors: Mirrors;
  /** Follows accounts and resources, on every replica. */
  watch(signal: AbortSignal): Promise<void>;
  /** Reconciles and mirrors until `leading` aborts, then finishes what is under way. Once only. */
  run(leading: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Accounts, the kinds that use them, and the mirrors of their endpoints, wired. Throws UsageError. */
export function createCloud(options: CloudOptions): Cloud {
  const { settings, credential, shared } = options;
  const { reader, client, clock, log } = shared;
  const open = (key: string, account: Omit<OpenAccountOptions, 'userAgent'>) => openAccount(options, key, account);
  const defaultAccount = openDefault(settings, credential, open);
  const mirrors = new Mirrors({ reader, client, clock, random: Math.random, log });
  const accounts: Accounts = new Accounts({
    defaultAccount,
    hosts: new ApiHosts(settings.apiUrl, settings.allowedApiHosts),
    open,
    secrets: { reader, clock, log },
    wake: (key) => accountKind.enqueueWhere((object) => keyOf(object) === key),
    wakeUsers: (key, which) => users.wake(key, which),
  });
  const { createSettleMs } = options;
  const userKinds = cloudKinds({ ...shared, accountOf: (object) => accounts.of(object), createSettleMs });
  const users = new AccountUsers({
    kinds: userKinds,
    types: cloudTypes,
    client,
    onReleased: (key) => accountKind.enqueueWhere((object) => keyOf(object) === key),
  });
  const accountKind = accountController({ ...shared, accounts, mirrors, users });
  const every = everyAccount(shared, accountKind);
  accounts.follow(every);
  const kinds = [accountKind, ...userKinds];
  const onDefaultKey = () => {
    users.wake('default');
    mirrors.sweepNow('default');
  };
  return {
    kinds,
    mirrors,
    watch: async (signal) => {
      const informers = new Set<InformerGroup<ManagedObject>>([every, ...kinds.map(({ resources }) => resources)]);
      await Promise.all([
        ...[...informers].map((resources) => resources.run(signal)),
        credential?.watch(clock, log, signal, onDefaultKey),
      ]);
    },
    run: async (leading) => {
      const users = async () => {
        await accounts.whenKnown(leading);
        await Promise.all(userKinds.map((kind) => kind.run(leading)));
      };
      const { mirrorNamespace: namespace } = options;
      const intervalMs = settings.mirrorInterval;
      if (defaultAccount !== undefined && intervalMs > 0) mirrors.start(defaultAccount, { namespace, intervalMs });
      await Promise.all([accountKind.run(leading), users()]);
      await mirrors.close();
    },
    close: () => accounts.close(),
  };
}

function openAccount(options: CloudOptions, key: string, account: Omit<OpenAccountOptions, 'userAgent'>): OpenAccount {
  const { guard, metrics } = options;
  return new OpenAccount(key, {
    ...account,
    userAgent,
    guard,
    onRequest: (report) => {
      metrics.cloudRequest(report);
      account.onRequest?.(report);
    },
    watchBudget: (state) => metrics.budget(key, state),
  });
}

function openDefault(
  settings: RunSettings,
  credential: Credential | undefined,
  open: (key: string, account: Omit<OpenAccountOptions, 'userAgent'>) => OpenAccount,
): OpenAccount | undefined {
  if (credential === undefined) return undefined;
  if (settings.apiUrl === undefined)
    throw new UsageError('--api-url is needed: the address of the Cloud Management API');
  const { apiUrl: baseURL, requestsPerMinute } = settings;
  return open('default', { baseURL, requestsPerMinute, apiKey: () => credential.key() });
}
