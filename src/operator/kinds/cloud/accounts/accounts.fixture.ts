import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { startTestKubeApi, type TestKubeApi } from '../../../../../test/support/kube-api.ts';
import { silentLog } from '../../../../common/log.ts';
import { type Runtime, systemRuntime } from '../../../../common/runtime.ts';
import type { Change, ChangeHandler } from '../../../controller/informer.ts';
import { KubeClient } from '../../../kube/client.ts';
import { connect, type KubeConnection } from '../../../kube/connection.ts';
import type { ResourceType } from '../../../kube/types.ts';
import { Referents } from '../../../reconcile/referents/referents.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { Accounts } from './accounts.ts';
import { apiHosts } from './address.ts';
import { Budgets } from './budgets.ts';
import { CloudConnection, type CloudConnectionOptions } from './cloud-connection.ts';
import { DefaultAccountUsers } from './default-account.ts';

const secretType: ResourceType = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
export const url = 'http://api.example.test';

export interface Ready {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message?: string;
}

export const available: Ready = { status: 'True', reason: 'Available' };
export const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

/** A CloudAccount as the leader has left it; without `ready`, as it was created. */
export function cloudAccount(spec: object = {}, ready?: Ready, metadata: object = {}): ManagedObject {
  const apiURL = (spec as { apiURL?: string }).apiURL ?? url;
  const condition = { type: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z', ...ready };
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'CloudAccount',
    metadata: { name: 'acct', namespace: 'default', ...metadata },
    spec: { apiKeySecretRef: { name: 'keys', key: 'key' }, requestsPerMinute: 120, ...spec },
    ...(ready === undefined ? {} : { status: { apiURL, conditions: [condition as never] } }),
  };
}

/** What uses it. */
export function user(accountRef: object = { name: 'acct' }, metadata: object = {}): ManagedObject {
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: { name: 'a', accountRef },
  };
}

type Opened = Omit<CloudConnectionOptions, 'userAgent' | 'budgets' | 'log' | keyof Runtime>;

interface Current {
  accounts: Accounts;
  /** The operator's own. */
  defaultKey: string;
  resources: Parameters<Accounts['follow']>[0];
  opened: { account: CloudConnection; options: Opened }[];
  budgets: Map<Opened, () => { limit: number }>;
  woken: string[];
}

/** For the tests of one file: the accounts of an operator anew for each, with Secrets in an API that they share. */
export function useAccounts({ hasDefault = false } = {}) {
  const current = {} as Current;
  let api: TestKubeApi;
  let connection: KubeConnection;
  let client: KubeClient;
  let referents: Referents;
  const written = new Set<string>();
  let handler: ChangeHandler<ManagedObject> = () => {};
  const emit = (change: Pick<Change<ManagedObject>, 'type' | 'object'>) =>
    handler({ ...change, initial: false } as Change<ManagedObject>);

  beforeAll(async () => {
    api = await startTestKubeApi();
    connection = await connect({ ...systemRuntime, kubeconfig: api.kubeconfig, userAgent: 'test', log: silentLog });
    client = new KubeClient(connection, systemRuntime);
  });
  afterAll(async () => {
    await connection.close();
    await api.stop();
  });

  beforeEach(() => {
    Object.assign(current, { opened: [], woken: [], budgets: new Map(), defaultKey: 'k0' });
    const shared = new Budgets({ ...systemRuntime, requestsPerMinute: 120 });
    const options = { ...systemRuntime, budgets: shared, log: silentLog, userAgent: 'test' };
    referents = new Referents({ ...systemRuntime, reader: client, log: silentLog, namespaces: [] });
    const own = { ...options, baseURL: url, requestsPerMinute: 120, apiKey: () => current.defaultKey, isDefault: true };
    current.accounts = new Accounts({
      defaultAccount: hasDefault ? new CloudConnection('default', own) : undefined,
      defaultAccountUsers: new DefaultAccountUsers('*'),
      defaultURL: url,
      hosts: apiHosts(url, ['http://other.example.test']),
      open: (key, given) => {
        const account: CloudConnection = new CloudConnection(key, {
          ...options,
          ...given,
          watchBudget: (state) => {
            current.budgets.set(given, state);
            return () => current.budgets.delete(given);
          },
        });
        current.opened.push({ account, options: given });
        return account;
      },
      referents,
      ...systemRuntime,
      now: () => systemRuntime.monotonic.now(),
      enqueue: (key) => current.woken.push(key),
      enqueueDependents: (key, which) => current.woken.push(`${which} users of ${key}`),
    });
    current.resources = {
      onChange: (given) => (handler = given),
      whenSynced: async () => {},
      synced: true,
      missing: false,
      refused: [],
    };
    current.accounts.follow(current.resources);
  });
  afterEach(async () => {
    await current.accounts.close();
    referents.close();
    for (const name of written) await client.delete(secretType, { namespace: 'default', name });
  });

  return Object.assign(current, {
    writeKey: (key: string, name = 'keys') => {
      written.add(name);
      const data = { key: Buffer.from(key).toString('base64'), foreign: 'eA==' };
      const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
      return client.patch(secretType, { namespace: 'default', name }, { type: 'apply', fieldManager: 'test', body });
    },
    deleteKey: () => client.delete(secretType, { namespace: 'default', name: 'keys' }),

    follow: (spec: object = {}, ready: Ready | undefined = available, metadata: object = {}) =>
      emit({ type: 'update', object: cloudAccount(spec, ready, metadata) }),

    /** A CloudAccount has changed. */
    emit,

    /** Why the account cannot be used. */
    problem: (object = user()) => {
      try {
        current.accounts.of(object);
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    },
    keyInForce: () => current.opened.at(-1)?.options.apiKey(),
    known: () => current.accounts.whenKnown(new AbortController().signal),
  });
}
