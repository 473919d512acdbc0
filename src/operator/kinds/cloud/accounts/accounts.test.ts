import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestKubeApi, type TestKubeApi } from '../../../../../test/support/kube-api.ts';
import { until } from '../../../../../test/support/until.ts';
import { silentLog } from '../../../../common/log.ts';
import { type Runtime, systemRuntime } from '../../../../common/runtime.ts';
import type { Change, ChangeHandler } from '../../../controller/informer.ts';
import { KubeClient } from '../../../kube/client.ts';
import { connect, type KubeConnection } from '../../../kube/connection.ts';
import type { ResourceType } from '../../../kube/types.ts';
import { Referents } from '../../../reconcile/referents/referents.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { Accounts } from './accounts.ts';
import { apiHosts } from './address.ts';
import { Budgets } from './budgets.ts';
import { CloudConnection, type CloudConnectionOptions } from './cloud-connection.ts';
import { DefaultAccountUsers } from './default-account.ts';

const secretType: ResourceType = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
const url = 'http://api.example.test';

let api: TestKubeApi;
let connection: KubeConnection;
let client: KubeClient;
let accounts: Accounts;
let referents: Referents;
let resources: Parameters<Accounts['follow']>[0];
let emit: (change: Pick<Change<ManagedObject>, 'type' | 'object'>) => void;
let opened: {
  account: CloudConnection;
  options: Omit<CloudConnectionOptions, 'userAgent' | 'budgets' | 'log' | keyof Runtime>;
}[];
let budgets: Map<CloudConnectionOptions, () => { limit: number }>;
let woken: string[];

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
  [opened, woken, budgets] = [[], [], new Map()];
  const shared = new Budgets(systemRuntime);
  referents = new Referents({ ...systemRuntime, reader: client, log: silentLog, namespaces: [] });
  accounts = new Accounts({
    defaultAccount: undefined,
    defaultAccountUsers: new DefaultAccountUsers('*'),
    defaultURL: url,
    hosts: apiHosts(url, ['http://other.example.test']),
    open: (key, options) => {
      const account: CloudConnection = new CloudConnection(key, {
        ...systemRuntime,
        ...options,
        budgets: shared,
        log: silentLog,
        userAgent: 'test',
        watchBudget: (state) => {
          budgets.set(options as CloudConnectionOptions, state);
          return () => budgets.delete(options as CloudConnectionOptions);
        },
      });
      opened.push({ account, options });
      return account;
    },
    referents,
    ...systemRuntime,
    now: () => systemRuntime.monotonic.now(),
    enqueue: (key) => woken.push(key),
    enqueueDependents: (key, which) => woken.push(`${which} users of ${key}`),
  });
  let handler: ChangeHandler<ManagedObject> = () => {};
  resources = {
    onChange: (given) => (handler = given),
    whenSynced: async () => {},
    synced: true,
    missing: false,
    refused: [],
  };
  accounts.follow(resources);
  emit = (change) => handler({ ...change, initial: false } as Change<ManagedObject>);
});
afterEach(async () => {
  await accounts.close();
  referents.close();
  for (const name of ['keys', 'others']) await client.delete(secretType, { namespace: 'default', name });
});

const writeKey = (key: string, name = 'keys') =>
  client.patch(
    secretType,
    { namespace: 'default', name },
    {
      type: 'apply',
      fieldManager: 'test',
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        data: { key: Buffer.from(key).toString('base64'), foreign: 'eA==' },
      },
    },
  );
const deleteKey = () => client.delete(secretType, { namespace: 'default', name: 'keys' });

interface Ready {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message?: string;
}

/** A CloudAccount as the leader has left it; without `ready`, as it was created. */
function cloudAccount(spec: object = {}, ready?: Ready, metadata: object = {}): ManagedObject {
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
const available = { status: 'True', reason: 'Available' } as const;
const follow = (spec: object = {}, ready: Ready | undefined = available, metadata: object = {}) =>
  emit({ type: 'update', object: cloudAccount(spec, ready, metadata) });

function user(accountRef: object = { name: 'acct' }, metadata: object = {}): ManagedObject {
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: { name: 'a', accountRef },
  };
}
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const problem = (object = user()) => {
  try {
    accounts.of(object);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const keyInForce = () => opened.at(-1)?.options.apiKey();
const known = () => accounts.whenKnown(new AbortController().signal);
test('a resource that names no account needs a default one', () => {
  const none = user();
  expect(problem({ ...none, spec: {} })).toMatch(/no default account.*--api-key-file, or set spec\.accountRef$/);
});

test('one that made something in the default account is not sent to another, which would be refused', () => {
  const status = { ownership: { account: 'default', id: 'bot_1' } };
  const made = (metadata = {}) => ({ ...user(undefined, metadata), spec: {}, status }) as ManagedObject;
  expect(problem(made())).toMatch(/no default account: start it with --api-key-file again$/);
  expect(problem(made(deleting))).toMatch(/--api-key-file, or set the annotation .*force-orphan/);
});

test.each([
  ['are read', { synced: true }, /does not exist/],
  ['have no definition', { missing: true }, /does not exist/],
  ['may not be read', { refused: ['default'] }, /does not exist/],
  ['are not read yet', {}, /default\/acct is not read yet/],
])('of an account that nobody has heard of, while accounts %s', (_, state, said) => {
  Object.assign(resources, { synced: false, missing: false, refused: [], ...state });
  expect(problem(user())).toMatch(said);
  expect(problem(user({ name: 'acct' }, deleting))).toMatch(said);
});

test('an account is used by its own namespace only', async () => {
  await writeKey('k1');
  follow();
  await known();
  expect(accounts.of(user())).toBe(opened[0]?.account);
  expect(problem(user({ name: 'acct' }, { namespace: 'foreign' }))).toBe('CloudAccount foreign/acct does not exist');
  expect(problem(user({ name: '../default/acct' }, { namespace: 'foreign' }))).toMatch(/does not exist/);
});

test.each(['http://API.example.test', 'http://api.example.test:80/', 'http://api.example.test/./'])(
  'one key is of one account, and has one budget, though its address is written %s',
  async (apiURL) => {
    await writeKey('k1');
    follow();
    follow({ apiURL }, available, { name: 'other' });
    await known();
    const other = user({ name: 'other' });
    expect(accounts.accountOf(other).identity).toBe(accounts.accountOf(user()).identity);
  },
);

describe('one client and limiter', () => {
  test('for as long as the address is the same, whatever else changes', async () => {
    await writeKey('k1');
    await writeKey('k2', 'others');
    follow();
    await known();
    const account = accounts.of(user());
    follow({ requestsPerMinute: 7 });
    expect([...budgets.values()].map((state) => state().limit)).toEqual([7]);
    expect(keyInForce()).toBe('k1');
    follow({ apiKeySecretRef: { name: 'others', key: 'key' } });
    await until('the other key', () => keyInForce() === 'k2');
    expect(accounts.of(user())).toBe(account);
    expect(opened).toHaveLength(1);
  });

  test('a changed address makes another, which is used once it was checked', async () => {
    await writeKey('k1');
    follow();
    await known();
    const apiURL = 'http://other.example.test';
    emit({
      type: 'update',
      object: { ...cloudAccount({ apiURL }, available), status: cloudAccount({}, available).status ?? {} },
    });
    expect(problem()).toBe('CloudAccount default/acct has not been checked yet');
    follow({ apiURL });
    expect(accounts.of(user())).toBe(opened[1]?.account);
    expect(opened.map(({ account }) => account.url)).toEqual([url, apiURL]);
    expect(budgets.size).toBe(1);
  });

  test('another address never gets a key that is no longer in the Secret', async () => {
    await writeKey('k1');
    follow();
    await known();
    await deleteKey();
    await until('the Secret to be seen gone', () => problem() !== undefined);
    follow({ apiURL: 'http://other.example.test' });
    expect(() => keyInForce()).toThrow();
  });

  test('is closed when the account goes, so that nobody keeps anything of it', async () => {
    await writeKey('k1');
    follow();
    await known();
    expect(opened[0]?.account.closed.aborted).toBe(false);
    emit({ type: 'delete', object: cloudAccount() });
    expect(opened[0]?.account.closed.aborted).toBe(true);
  });

  test('a host that is not allowed has none', async () => {
    await writeKey('k1');
    follow({ apiURL: 'http://evil.example.test' });
    expect(problem()).toMatch(/^CloudAccount default\/acct cannot be used: spec\.apiURL: the host evil\.example\.test/);
    expect(problem(user({ name: 'acct' }, deleting))).toMatch(/host evil\.example\.test.*force-orphan/);
    expect(opened).toEqual([]);
  });
});

describe('why it cannot be used', () => {
  const cases: readonly [why: string, object: ManagedObject, message: RegExp | undefined][] = [
    ['before the first check', cloudAccount(), /has not been checked yet$/],
    ['Ready', cloudAccount({}, available), undefined],
    ['Ready, of the generation before', cloudAccount({}, available, { generation: 2 }), undefined],
    ['slowed down', cloudAccount({}, { status: 'False', reason: 'RateLimited' }), undefined],
    [
      'not Ready',
      cloudAccount({}, { status: 'False', reason: 'Unauthorized', message: 'no' }),
      /is not Ready: Unauthorized: no$/,
    ],
    ['being deleted', cloudAccount({}, available, deleting), /is being deleted$/],
    [
      'paused',
      cloudAccount({}, available, { annotations: { 'edge-operator.dev/paused': 'true' } }),
      /is paused by its annotation edge-operator\.dev\/paused$/,
    ],
    [
      'a key that the Secret does not have',
      cloudAccount({ apiKeySecretRef: { name: 'keys', key: 'absent' } }, available),
      /cannot be used: Secret default\/keys has no key "absent"$/,
    ],
    ['a spec that the CRD would refuse', cloudAccount({ requestsPerMinute: 0 }), /spec\.requestsPerMinute/],
  ];
  test.each(cases)('%s', async (_why, object, message) => {
    await writeKey('k1');
    emit({ type: 'add', object });
    await known();
    if (message === undefined) expect(problem()).toBeUndefined();
    else expect(problem()).toMatch(message);
  });
});

describe('the key', () => {
  test('a rotated one is in force at once, and all who use it are woken: it may be that of another account', async () => {
    await writeKey('k1');
    follow();
    await known();
    woken.length = 0;
    await writeKey(' k2\n');
    await until('the new key', () => keyInForce() === 'k2');
    expect(woken).toEqual(['all users of default/acct', 'default/acct']);
  });

  test.each([
    ['the same place, written otherwise', `${url}/`],
    ['another, and back', 'http://other.example.test'],
  ])('that comes with an address (%s) took the place of one all the same', async (_, apiURL) => {
    await writeKey('k1');
    await writeKey('k2', 'others');
    follow();
    await known();
    const before = accounts.accountOf(user());
    expect(before.rekeyedAt).toBeUndefined();
    const apiKeySecretRef = { name: 'others', key: 'key' };
    follow({ apiURL, apiKeySecretRef });
    await until('the other key', () => accounts.accountOf(user()).identity?.endsWith(' k2') === true);
    follow({ apiKeySecretRef });
    expect(accounts.accountOf(user()).identity).toBe(before.identity.replace('k1', 'k2'));
    expect(accounts.accountOf(user()).rekeyedAt).toBeDefined();
  });

  test('is kept for deletes when the Secret is gone, and for nothing else', async () => {
    await writeKey('k1');
    follow();
    await known();
    await deleteKey();
    await until('the Secret to be seen gone', () => problem() !== undefined);
    expect(problem()).toBe('CloudAccount default/acct cannot be used: Secret default/keys does not exist');
    follow({}, { status: 'False', reason: 'Deleting' }, deleting);
    expect(accounts.of(user({ name: 'acct' }, deleting))).toBe(opened[0]?.account);
    expect(keyInForce()).toBe('k1');
  });

  test('that nobody has any more is told of, with the way out', async () => {
    follow({}, available, deleting);
    await known();
    expect(problem(user({ name: 'acct' }, deleting))).toMatch(
      /^CloudAccount default\/acct has lost its API key: Secret default\/keys does not exist; .*force-orphan/,
    );
    emit({ type: 'delete', object: cloudAccount() });
    expect(problem(user({ name: 'acct' }, deleting))).toMatch(/default\/acct does not exist; .*force-orphan/);
  });
});

test('users are woken when it matters to them: all when it is met and by trouble, those in trouble by its end', async () => {
  await writeKey('k1');
  emit({ type: 'add', object: cloudAccount() });
  await until('the first key', () => woken.includes('default/acct'));
  // Those that were met before it were nobody's charge.
  expect(woken[0]).toBe('met users of default/acct');
  const unreachable = { status: 'False', reason: 'Unreachable' } as const;
  const steps: readonly [Ready, readonly string[]][] = [
    [available, ['unready users of default/acct']],
    [available, []],
    [unreachable, ['all users of default/acct']],
    [unreachable, []],
    [available, ['unready users of default/acct']],
  ];
  for (const [ready, expected] of steps) {
    woken.length = 0;
    follow({}, ready);
    expect(woken).toEqual(expected);
  }
  woken.length = 0;
  emit({ type: 'delete', object: cloudAccount() });
  expect(woken).toEqual(['all users of default/acct']);
});
