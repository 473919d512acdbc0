import { beforeEach, describe, expect, test } from '@jest/globals';
import { cpuTimer } from '../../../../../test/support/elapsed.ts';
import { silentLog } from '../../../../common/log.ts';
import { systemRuntime } from '../../../../common/runtime.ts';
import { mayBeTwoKeys } from '../../../reconcile/key-mark.ts';
import { Budgets, type BudgetUser } from './budgets.ts';
import type { Stored } from './use-store.ts';

type Account = { -readonly [field in keyof BudgetUser]: BudgetUser[field] };

/** What the operator's settings say. */
const options = { ...systemRuntime, requestsPerMinute: 80 };

let budgets: Budgets;

beforeEach(() => {
  budgets = new Budgets(options);
});

let accounts = 0;

function account(key: string, requestsPerMinute = 100, url = 'https://api.example.test', isDefault = false): Account {
  const made = {
    account: `default/a${accounts++}`,
    url,
    apiKey: () => key,
    requestsPerMinute,
    isDefault,
    isShared: isDefault,
  };
  budgets.join(made);
  return made;
}

async function use(user: BudgetUser, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    const slot = await budgets.of(user).limiter.acquire({ priority: 'change', account: user.account });
    slot.release();
  }
}

/** Nothing is known of the record yet: nothing may be sent. */
function withUnreadRecord(): Budgets {
  const store = () => ({
    read: () => new Promise<Stored>(() => {}),
    write: async () => undefined,
    lastsMs: () => undefined,
  });
  const made = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  void made.run(0);
  return made;
}

describe('accounts of one credential', () => {
  test('share one budget, of which the operator says how much, whatever they say', async () => {
    const [one, two] = [account('k', 100), account('k', 60)];
    await use(one, 3);
    await use(two, 2);
    expect(budgets.of(one).limiter.state()).toMatchObject({ used: 5, limit: 80 });
    two.requestsPerMinute = 100_000;
    expect(budgets.of(two).limiter.state()).toMatchObject({ used: 5, limit: 80 });
    expect(budgets.of(account('l', 100)).limiter.state()).toMatchObject({ limit: 100 });
  });

  test('share it before the other has sent anything, and no longer than it has the key', async () => {
    const one = account('k', 100);
    const { limiter } = budgets.of(one);
    const limits = [limiter.state().limit];
    const two = account('', 100_000);
    two.apiKey = () => 'k';
    budgets.keyed(two);
    // At once for what waits already.
    limits.push(limiter.state().limit);
    two.apiKey = () => 'another';
    budgets.keyed(two);
    limits.push(budgets.of(one).limiter.state().limit);
    two.apiKey = () => 'k';
    limits.push(budgets.of(two).limiter.state().limit);
    budgets.leave(two);
    limits.push(budgets.of(one).limiter.state().limit);
    expect(limits).toEqual([100, 80, 100, 80, 100]);
  });

  test('are not several where one account is at its address twice, as while that is written anew', async () => {
    const before = account('k', 100);
    budgets.of(before);
    const after = { ...before };
    budgets.join(after);
    const limits = [budgets.of(after).limiter.state().limit];
    budgets.leave(before);
    limits.push(budgets.of(after).limiter.state().limit);
    account('k', 100);
    limits.push(budgets.of(after).limiter.state().limit);
    expect(limits).toEqual([100, 100, 80]);
  });

  test('are bounded each by their own, which takes nothing from the others', async () => {
    const [rich, poor] = [account('k', 100), account('k', 1)];
    await use(poor, 1);
    await use(rich, 30);
    const { limiter } = budgets.of(poor);
    expect([limiter.state(poor.account), limiter.state(rich.account)]).toMatchObject([
      { used: 1, limit: 1 },
      { used: 31, limit: 80 },
    ]);
    const waiting = new AbortController();
    const late = limiter.acquire({ priority: 'change', account: poor.account, signal: waiting.signal });
    expect(limiter.state(poor.account).waiting.change).toBe(1);
    await use(rich, 1);
    waiting.abort(new Error('not yet'));
    await expect(late).rejects.toThrow('not yet');
  });

  test('know together that their key is refused', () => {
    const [one, two, other] = [account('k'), account('k'), account('l')];
    expect(budgets.of(one).gate).toBe(budgets.of(two).gate);
    expect(budgets.of(one).gate).not.toBe(budgets.of(other).gate);
  });

  test('share only while their keys are the same', async () => {
    const [one, two] = [account('k'), account('other')];
    await use(one, 3);
    expect(budgets.of(two).limiter.state().used).toBe(0);
    two.apiKey = () => 'k';
    expect(budgets.of(two).limiter.state().used).toBe(3);
    one.apiKey = () => 'another';
    expect(budgets.of(one).limiter.state().used).toBe(0);
    expect(budgets.of(two).limiter.state().used).toBe(3);
    two.apiKey = () => 'rotated';
    expect(budgets.of(two).limiter.state().used).toBe(3);
  });

  test('share what was sent before the other had its key', async () => {
    const [first, second] = [account(''), account('k')];
    first.apiKey = () => {
      throw new Error('the Secret was not read');
    };
    await use(second, 2);
    first.apiKey = () => 'k';
    expect(budgets.of(first).limiter.state().used).toBe(2);
  });

  test('go on with what was used when one of them leaves, and by the limit of who stays', async () => {
    const [one, two] = [account('k', 200), account('k', 100)];
    await use(one, 3);
    budgets.leave(one);
    expect(budgets.of(two).limiter.state()).toMatchObject({ used: 3, limit: 100 });
    budgets.leave(two);
    expect(budgets.of(account('k')).limiter.state().used).toBe(3);
  });
});

test.each([
  ['keys of their own', (index: number) => `k${index}`],
  ['one key', () => 'k'],
])('thousands of accounts with %s are asked for theirs without a pause', (_, keyOf) => {
  const users = Array.from({ length: 3_000 }, (_, index) => account(keyOf(index)));
  for (const user of users) budgets.of(user);
  const tookMs = cpuTimer();
  for (const user of users) budgets.of(user);
  expect(tookMs()).toBeLessThan(500);
});

test('hundreds of accounts of one key that wait for what is on record wait for nothing else', async () => {
  const text = JSON.stringify({ free: true, starts: [0, 5_000], accounts: {} });
  const known = Promise.withResolvers<Stored>();
  const store = () => ({ read: () => known.promise, write: () => known.promise, lastsMs: () => undefined });
  const plenty = { ...options, requestsPerMinute: 100_000 };
  budgets = new Budgets(plenty, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const running = budgets.run(0);
  const users = Array.from({ length: 600 }, () => account('k', 100_000));
  const slots = users.map((user) => budgets.of(user).limiter.acquire({ priority: 'first', account: user.account }));
  const tookMs = cpuTimer();
  known.resolve({ texts: [text], writtenAt: undefined });
  for (const slot of await Promise.all(slots)) slot.release();
  expect(tookMs()).toBeLessThan(3_000);
  await budgets.close(0);
  await running;
});

test('an account at another address is recorded by that while the one before still answers', async () => {
  const written: string[] = [];
  const write = async (text: string) => {
    written.push(text);
    return { texts: [text], writtenAt: undefined };
  };
  // Killed so often of late that nothing is free.
  const text = JSON.stringify({ free: true, starts: [0, 5_000, 10_000], accounts: {} });
  const store = () => ({
    read: async () => ({ texts: [text], writtenAt: undefined }),
    write,
    lastsMs: () => undefined,
  });
  budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const running = budgets.run(0);
  const before = account('k');
  const moved = { ...before, url: 'https://other.example.test' };
  budgets.join(moved);
  await use(moved, 1);
  expect(written.at(-1)).toContain(`${moved.account} ${moved.url}`);
  budgets.leave(before);
  await budgets.close(0);
  await running;
});

test('one that follows in an account waits for what is on record, also when the one before has left', async () => {
  budgets = withUnreadRecord();
  const before = account('k');
  budgets.of(before);
  const follower = { ...before };
  budgets.join(follower);
  let isGranted = false;
  const waits = budgets.of(follower).limiter.acquire({ priority: 'change', account: follower.account });
  void waits.then(() => {
    isGranted = true;
  });
  budgets.leave(before);
  await new Promise(setImmediate);
  expect(isGranted).toBe(false);
  budgets.leave(follower);
  await waits;
});

test('what waits for the record goes on waiting for it where a key that two accounts share is rotated', async () => {
  budgets = withUnreadRecord();
  let key = 'old';
  const [one, two] = [account(''), account('')];
  for (const each of [one, two]) each.apiKey = () => key;
  const { limiter } = budgets.of(one);
  budgets.of(two);
  const waits = limiter.acquire({ priority: 'change', account: one.account });
  key = 'new';
  const { limiter: next } = budgets.of(one);
  // Who is given a turn that is void asks for another, with the key in force.
  expect(await waits).toMatchObject({ isVoid: true });
  let isGranted = false;
  void next.acquire({ priority: 'change', account: one.account }).then(() => {
    isGranted = true;
  });
  await new Promise(setImmediate);
  expect(isGranted).toBe(false);
});

describe('a key that replaces another', () => {
  test('does not take its pause, nor what it is still told', () => {
    const one = account('k');
    const { limiter: before } = budgets.of(one);
    before.penalize(3_600_000);
    one.apiKey = () => 'rotated';
    expect(budgets.of(one).limiter.isPaused).toBe(false);
    before.penalize(7_200_000);
    one.apiKey = () => 'k';
    expect(budgets.of(one).limiter).toBe(before);
    expect(budgets.of(one).limiter.isPaused).toBe(true);
  });

  test('and comes back has what was sent with it before', async () => {
    const one = account('k', 10);
    await use(one, 6);
    one.apiKey = () => 'rotated';
    await use(one, 1);
    one.apiKey = () => 'k';
    expect(budgets.of(one).limiter.state()).toMatchObject({ used: 6, limit: 10 });
  });
});

test('the same key elsewhere is another credential, and no key is none', async () => {
  const elsewhere = account('k', 100, 'https://other.example.test');
  await use(account('k'), 3);
  const none = () => {
    throw new Error('the Secret was not read');
  };
  const [without, neither] = [account(''), account('')];
  [without.apiKey, neither.apiKey] = [none, none];
  await use(without, 1);
  expect([elsewhere, neither].map((each) => budgets.of(each).limiter.state().used)).toEqual([0, 0]);
});

describe('an account that leaves and comes back', () => {
  test('finds its budget as it left it', async () => {
    const one = account('k', 10);
    await use(one, 10);
    budgets.leave(one);
    budgets.join(one);
    expect(budgets.of(one).limiter.state()).toMatchObject({ used: 10, limit: 10 });
  });

  test('by another account that is given the key it has let go of', async () => {
    const one = account('k', 10);
    await use(one, 10);
    one.apiKey = () => 'rotated';
    expect(budgets.of(one).limiter.state().used).toBe(10);
    expect(budgets.of(account('k', 10)).limiter.state()).toMatchObject({ used: 10, limit: 10 });
    expect(budgets.of(one).limiter.state().used).toBe(10);
  });

  test('by way of a key that others have', async () => {
    let key = 'k';
    const one = account('', 10);
    one.apiKey = () => key;
    account('other', 10);
    await use(one, 10);
    budgets.of(account('other', 10));
    key = 'other';
    expect(budgets.of(one).limiter.state()).toMatchObject({ used: 0 });
    key = 'k';
    expect(budgets.of(one).limiter.state()).toMatchObject({ used: 10 });
  });
});

test("what another replica sent with a key counts when it becomes the operator's own", async () => {
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined });
  const stored = { texts: [], writtenAt: undefined };
  const shardOf = (name: string) => (name.endsWith('elsewhere') ? 1 : 0);
  budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf });
  const running = budgets.run(0);
  const own = account('old', 100, undefined, true);
  budgets.join({ ...account('k'), account: 'a/elsewhere', apiKey: () => 'k' });
  const used = () => budgets.of(own).limiter.state().used;
  const before = used();
  own.apiKey = () => 'new';
  expect([before, used()]).toEqual([0, 0]);
  own.apiKey = () => 'k';
  expect([used(), used()]).toEqual([100, 100]);
  await budgets.close(0);
  await running;
});

test("who has yet to lead knows of nobody that uses the operator's own key elsewhere", async () => {
  const stored = { texts: [], writtenAt: undefined };
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined });
  budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const own = account('k', 100, undefined, true);
  account('k');
  const used = () => budgets.of(own).limiter.state().used;
  // As a scrape asks, on a replica that waits for the Lease.
  const before = used();
  const running = budgets.run(0);
  const then = used();
  await budgets.close(0);
  await running;
  expect([before, then]).toEqual([0, 0]);
});

test('the keys of an account are told apart where what is sent is on record, and nothing is without a key', async () => {
  const stored = { texts: [], writtenAt: undefined };
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined, secret: 's' });
  budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const own = account('k');
  const marks = [budgets.keyMarkOf(own)];
  const running = budgets.run(0);
  marks.push(budgets.keyMarkOf(own));
  own.apiKey = () => 'another';
  marks.push(budgets.keyMarkOf(own));
  own.apiKey = () => {
    throw new Error('the Secret was not read');
  };
  marks.push(budgets.keyMarkOf(own));
  await budgets.close(0);
  await running;
  const [before, first, second, none] = marks;
  expect([before, none]).toEqual([undefined, undefined]);
  expect(mayBeTwoKeys(first, second)).toBe(true);
});
