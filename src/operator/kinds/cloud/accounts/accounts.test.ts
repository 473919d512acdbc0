import { describe, expect, jest, test } from '@jest/globals';
import { until } from '../../../../../test/support/until.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { available, cloudAccount, deleting, type Ready, useAccounts, user } from './accounts.fixture.ts';
import type { CloudConnection } from './cloud-connection.ts';

const here = useAccounts();
const { emit, follow, known, problem, writeKey } = here;

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

test('one that began something in the default account, and names another by now, is told how to give that up', () => {
  const began = { [annotation.recordOf]: 'u', [annotation.createIntent]: '{}', [annotation.account]: 'default' };
  expect(problem(user(undefined, { uid: 'u', annotations: began }))).toMatch(
    /, or remove the annotation .*create-intent/,
  );
});

test.each([
  ['are read', { synced: true }, /does not exist/],
  ['have no definition', { missing: true }, /does not exist/],
  ['may not be read', { refused: ['default'] }, /does not exist/],
  ['are not read yet', {}, /default\/acct is not read yet/],
])('of an account that nobody has heard of, while accounts %s', (_, state, said) => {
  Object.assign(here.resources, { synced: false, missing: false, refused: [], ...state });
  expect(problem(user())).toMatch(said);
  expect(problem(user({ name: 'acct' }, deleting))).toMatch(said);
});

test('an account is used by its own namespace only', async () => {
  await writeKey('k1');
  follow();
  await known();
  expect(here.accounts.of(user())).toBe(here.opened[0]?.account);
  expect(problem(user({ name: 'acct' }, { namespace: 'foreign' }))).toBe('CloudAccount foreign/acct does not exist');
  expect(problem(user({ name: '../default/acct' }, { namespace: 'foreign' }))).toMatch(/does not exist/);
});

test('an account may be any as long as it, or its key, is not read', async () => {
  const isUnread = () => here.accounts.accountOf(user()).isUnread;
  Object.assign(here.resources, { synced: false });
  expect(isUnread()).toBe(true);
  Object.assign(here.resources, { synced: true });
  expect(isUnread()).toBe(false);
  await writeKey('k1');
  follow();
  expect(isUnread()).toBe(true);
  await known();
  expect(isUnread()).toBe(false);
  expect(here.accounts.accountOf({ ...user(), spec: {} }).isUnread).toBe(false);
});

test.each(['http://API.example.test', 'http://api.example.test:80/', 'http://api.example.test/./'])(
  'one key is of one account, and has one budget, though its address is written %s',
  async (apiURL) => {
    await writeKey('k1');
    follow();
    follow({ apiURL }, available, { name: 'other' });
    await known();
    const other = user({ name: 'other' });
    expect(here.accounts.accountOf(other).identity).toBe(here.accounts.accountOf(user()).identity);
  },
);

test('users are woken when it matters to them: all when it is met and by trouble, those in trouble by its end', async () => {
  await writeKey('k1');
  emit({ type: 'add', object: cloudAccount() });
  await until('the first key', () => here.woken.includes('default/acct'));
  // Those that were met before it were nobody's charge.
  expect(here.woken[0]).toBe('met users of default/acct');
  const unreachable = { status: 'False', reason: 'Unreachable' } as const;
  const steps: readonly [Ready, readonly string[]][] = [
    [available, ['unready users of default/acct']],
    [available, []],
    [unreachable, ['all users of default/acct']],
    [unreachable, []],
    [available, ['unready users of default/acct']],
  ];
  for (const [ready, expected] of steps) {
    here.woken.length = 0;
    follow({}, ready);
    expect(here.woken).toEqual(expected);
  }
  here.woken.length = 0;
  emit({ type: 'delete', object: cloudAccount() });
  expect(here.woken).toEqual(['all users of default/acct']);
});

test('users are woken by the first trouble of an account that was as it is when the operator started', async () => {
  await writeKey('k1');
  follow({}, available);
  await known();
  here.woken.length = 0;
  follow({}, { status: 'False', reason: 'Unauthorized' });
  expect(here.woken).toEqual(['all users of default/acct']);
});

describe('a person who asks for a sync while the key is refused', () => {
  const asks = { annotations: { [annotation.reconcileAt]: 'now' } };
  const tried = () => {
    const tries: number[] = [];
    const account = here.opened[0]?.account as CloudConnection;
    jest.spyOn(account, 'tryKey').mockImplementation(() => tries.push(1) === 1);
    return tries;
  };
  const refused = { status: 'False', reason: 'Unauthorized' } as const;

  test('has it tried, by a check of the account where that is said to be of no use', async () => {
    await writeKey('k1');
    follow({}, refused);
    await known();
    const tries = tried();
    here.woken.length = 0;
    expect(problem(user({ name: 'acct' }, asks))).toMatch(/is not Ready: Unauthorized/);
    expect([tries, here.woken]).toEqual([[1], ['default/acct']]);
    // Once a minute, as the key has it.
    expect(problem(user({ name: 'acct' }, asks))).toMatch(/is not Ready: Unauthorized/);
    expect(here.woken).toEqual(['default/acct']);
  });

  test('is one whose word was not heard yet, and nobody else', async () => {
    await writeKey('k1');
    follow({}, refused);
    await known();
    const tries = tried();
    problem(user());
    problem({ ...user({ name: 'acct' }, asks), status: { lastHandledReconcileAt: 'now' } });
    problem(user({ name: 'acct' }, { ...asks, namespace: 'foreign' }));
    expect(tries).toEqual([]);
  });
});

describe('the operator’s own key', () => {
  const withDefault = useAccounts({ hasDefault: true });

  test('where it is replaced, what uses accounts that had it, or have it now, is looked at, and no other', async () => {
    const names = { had: 'k0', has: 'k1', neither: 'k2' };
    for (const [name, key] of Object.entries(names)) {
      await withDefault.writeKey(key, name);
      withDefault.follow({ apiKeySecretRef: { name, key: 'key' } }, available, { name });
    }
    await withDefault.known();
    const { accounts, woken } = withDefault;
    for (const [key, expected] of [
      ['k1', ['had', 'has']],
      ['k3', ['has']],
      ['k0', ['had']],
      ['k0', ['had']],
    ] as const) {
      woken.length = 0;
      withDefault.defaultKey = key;
      accounts.defaultRekeyed();
      expect(woken.sort()).toEqual(expected.map((name) => `met users of default/${name}`));
    }
    expect(accounts.defaultRekeyedAt).toBeDefined();
  });

  test('is tried where it is refused and a person asks for a sync of what uses it', () => {
    const uses = (metadata = {}) => withDefault.accounts.of({ ...user(undefined, metadata), spec: {} });
    const tryKey = jest.spyOn(uses(), 'tryKey');
    uses();
    expect(tryKey).not.toHaveBeenCalled();
    const asking = { ...user(undefined, { annotations: { [annotation.reconcileAt]: 'now' } }), spec: {} };
    // Each of its calls asks once more for the account.
    for (let n = 0; n < 3; n += 1) withDefault.accounts.of(asking);
    expect(tryKey).toHaveBeenCalledTimes(1);
  });
});
