import { describe, expect, test } from '@jest/globals';
import { until } from '../../../../../test/support/until.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { available, cloudAccount, deleting, url, useAccounts, user } from './accounts.fixture.ts';

const here = useAccounts();
const { deleteKey, emit, follow, keyInForce, known, problem, writeKey } = here;

describe('one client and limiter', () => {
  test('for as long as the address is the same, whatever else changes', async () => {
    await writeKey('k1');
    await writeKey('k2', 'others');
    follow();
    await known();
    const account = here.accounts.of(user());
    follow({ requestsPerMinute: 7 });
    expect([...here.budgets.values()].map((state) => state().limit)).toEqual([7]);
    expect(keyInForce()).toBe('k1');
    follow({ apiKeySecretRef: { name: 'others', key: 'key' } });
    await until('the other key', () => keyInForce() === 'k2');
    expect(here.accounts.of(user())).toBe(account);
    expect(here.opened).toHaveLength(1);
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
    expect(here.accounts.of(user())).toBe(here.opened[1]?.account);
    expect(here.opened.map(({ account }) => account.url)).toEqual([url, apiURL]);
    expect(here.budgets.size).toBe(1);
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

  test('sends nothing while a person has paused the account, nor for nobody in particular', async () => {
    await writeKey('k1');
    follow();
    await known();
    const [opened] = here.opened;
    const probe = () => opened?.account.probe({ priority: 'resync' });
    follow({}, available, { annotations: { 'edge-operator.dev/paused': 'true' } });
    await expect(probe()).rejects.toThrow('not sent: CloudAccount default/acct is paused by its annotation');
    follow();
    expect(() => opened?.options.guard?.()).not.toThrow();
  });

  test('is closed when the account goes, so that nobody keeps anything of it', async () => {
    await writeKey('k1');
    follow();
    await known();
    expect(here.opened[0]?.account.closed.aborted).toBe(false);
    emit({ type: 'delete', object: cloudAccount() });
    expect(here.opened[0]?.account.closed.aborted).toBe(true);
  });

  test('a host that is not allowed has none', async () => {
    await writeKey('k1');
    follow({ apiURL: 'http://evil.example.test' });
    expect(problem()).toMatch(/^CloudAccount default\/acct cannot be used: spec\.apiURL: the host evil\.example\.test/);
    expect(problem(user({ name: 'acct' }, deleting))).toMatch(/host evil\.example\.test.*force-orphan/);
    expect(here.opened).toEqual([]);
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
    here.woken.length = 0;
    await writeKey(' k2\n');
    await until('the new key', () => keyInForce() === 'k2');
    expect(here.woken).toEqual(['all users of default/acct', 'default/acct']);
  });

  test.each([
    ['the same place, written otherwise', `${url}/`],
    ['another, and back', 'http://other.example.test'],
  ])('that comes with an address (%s) took the place of one all the same', async (_, apiURL) => {
    await writeKey('k1');
    await writeKey('k2', 'others');
    follow();
    await known();
    const before = here.accounts.accountOf(user());
    expect(before.rekeyedAt).toBeUndefined();
    const apiKeySecretRef = { name: 'others', key: 'key' };
    follow({ apiURL, apiKeySecretRef });
    await until('the other key', () => here.accounts.accountOf(user()).identity?.endsWith(' k2') === true);
    follow({ apiKeySecretRef });
    expect(here.accounts.accountOf(user()).identity).toBe(before.identity.replace('k1', 'k2'));
    expect(here.accounts.accountOf(user()).rekeyedAt).toBeDefined();
  });

  test('is kept for deletes when the Secret is gone, and for nothing else', async () => {
    await writeKey('k1');
    follow();
    await known();
    await deleteKey();
    await until('the Secret to be seen gone', () => problem() !== undefined);
    expect(problem()).toBe('CloudAccount default/acct cannot be used: Secret default/keys does not exist');
    follow({}, { status: 'False', reason: 'Deleting' }, deleting);
    expect(here.accounts.of(user({ name: 'acct' }, deleting))).toBe(here.opened[0]?.account);
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
