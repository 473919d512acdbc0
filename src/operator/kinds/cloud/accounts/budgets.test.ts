import { beforeEach, describe, expect, test } from '@jest/globals';
import { cpuTimer } from '../../../../../test/support/elapsed.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { account, scene, setScene, use } from './budgets.fixture.ts';
import { Budgets } from './budgets.ts';
import { mostInAMinute } from './use-record.fixture.ts';

beforeEach(setScene);

describe('accounts of one credential', () => {
  test('share one budget, of which the operator says how much, whatever they say', async () => {
    const [one, two] = [account('k', 100), account('k', 60)];
    await use(one, 3);
    await use(two, 2);
    expect(scene.budgets.of(one).limiter.state()).toMatchObject({ used: 5, limit: 80 });
    two.requestsPerMinute = 100_000;
    expect(scene.budgets.of(two).limiter.state()).toMatchObject({ used: 5, limit: 80 });
    expect(scene.budgets.of(account('l', 100)).limiter.state()).toMatchObject({ limit: 100 });
  });

  test('share it before the other has sent anything, and no longer than it has the key', async () => {
    const one = account('k', 100);
    const { limiter } = scene.budgets.of(one);
    const limits = [limiter.state().limit];
    const two = account('', 100_000);
    two.apiKey = () => 'k';
    scene.budgets.keyed(two);
    // At once for what waits already.
    limits.push(limiter.state().limit);
    two.apiKey = () => 'another';
    scene.budgets.keyed(two);
    limits.push(scene.budgets.of(one).limiter.state().limit);
    two.apiKey = () => 'k';
    limits.push(scene.budgets.of(two).limiter.state().limit);
    scene.budgets.leave(two);
    limits.push(scene.budgets.of(one).limiter.state().limit);
    expect(limits).toEqual([100, 80, 100, 80, 100]);
  });

  test('are not several where one account is at its address twice, as while that is written anew', async () => {
    const before = account('k', 100);
    scene.budgets.of(before);
    const after = { ...before };
    scene.budgets.join(after);
    const limits = [scene.budgets.of(after).limiter.state().limit];
    scene.budgets.leave(before);
    limits.push(scene.budgets.of(after).limiter.state().limit);
    account('k', 100);
    limits.push(scene.budgets.of(after).limiter.state().limit);
    expect(limits).toEqual([100, 100, 80]);
  });

  test('are bounded each by their own, which takes nothing from the others', async () => {
    const [rich, poor] = [account('k', 100), account('k', 1)];
    await use(poor, 1);
    await use(rich, 30);
    const { limiter } = scene.budgets.of(poor);
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
    expect(scene.budgets.of(one).gate).toBe(scene.budgets.of(two).gate);
    expect(scene.budgets.of(one).gate).not.toBe(scene.budgets.of(other).gate);
  });

  test('share only while their keys are the same', async () => {
    const [one, two] = [account('k'), account('other')];
    await use(one, 3);
    expect(scene.budgets.of(two).limiter.state().used).toBe(0);
    two.apiKey = () => 'k';
    expect(scene.budgets.of(two).limiter.state().used).toBe(3);
    one.apiKey = () => 'another';
    expect(scene.budgets.of(one).limiter.state().used).toBe(0);
    expect(scene.budgets.of(two).limiter.state().used).toBe(3);
    two.apiKey = () => 'rotated';
    expect(scene.budgets.of(two).limiter.state().used).toBe(3);
  });

  test('share what was sent before the other had its key', async () => {
    const [first, second] = [account(''), account('k')];
    first.apiKey = () => {
      throw new Error('the Secret was not read');
    };
    await use(second, 2);
    first.apiKey = () => 'k';
    expect(scene.budgets.of(first).limiter.state().used).toBe(2);
  });

  test('go on with what was used when one of them leaves, and by the limit of who stays', async () => {
    const [one, two] = [account('k', 200), account('k', 100)];
    await use(one, 3);
    scene.budgets.leave(one);
    expect(scene.budgets.of(two).limiter.state()).toMatchObject({ used: 3, limit: 100 });
    scene.budgets.leave(two);
    expect(scene.budgets.of(account('k')).limiter.state().used).toBe(3);
  });
});

test.each([
  ['keys of their own', (index: number) => `k${index}`],
  ['one key', () => 'k'],
])('thousands of accounts with %s are asked for theirs without a pause', (_, keyOf) => {
  const users = Array.from({ length: 3_000 }, (_, index) => account(keyOf(index)));
  for (const user of users) scene.budgets.of(user);
  const tookMs = cpuTimer();
  for (const user of users) scene.budgets.of(user);
  expect(tookMs()).toBeLessThan(500);
});

describe('a key that replaces another', () => {
  test('does not take its pause, nor what it is still told', () => {
    const one = account('k');
    const { limiter: before } = scene.budgets.of(one);
    before.penalize(3_600_000);
    one.apiKey = () => 'rotated';
    expect(scene.budgets.of(one).limiter.isPaused).toBe(false);
    before.penalize(7_200_000);
    one.apiKey = () => 'k';
    expect(scene.budgets.of(one).limiter).toBe(before);
    expect(scene.budgets.of(one).limiter.isPaused).toBe(true);
  });

  test('and comes back has what was sent with it before', async () => {
    const one = account('k', 10);
    await use(one, 6);
    one.apiKey = () => 'rotated';
    await use(one, 1);
    one.apiKey = () => 'k';
    expect(scene.budgets.of(one).limiter.state()).toMatchObject({ used: 6, limit: 10 });
  });
});

describe('a key that replaces another while requests are under way', () => {
  /** When each of them arrives, as late as it may. */
  function rotating(requestsPerMinute: number) {
    const time = new ManualClock();
    const budgets = new Budgets({ monotonic: time, requestsPerMinute });
    const user = { account: 'a/own', url: 'https://api.example.test', requestsPerMinute, isDefault: true };
    let key = 'k0';
    const rotated = { ...user, isShared: false, apiKey: () => key };
    budgets.join(rotated);
    const arrived: number[] = [];
    const ask = (count: number, tookMs: number, wasSent = true) => {
      const { limiter } = budgets.of(rotated);
      for (let i = 0; i < count; i += 1)
        void limiter.acquire({ priority: 'change', account: user.account }).then(async (slot) => {
          await time.sleep(tookMs);
          if (wasSent) arrived.push(time.now());
          slot.release(wasSent);
        });
    };
    const rotate = () => {
      key = `${key}0`;
      budgets.keyed(rotated);
    };
    const state = () => budgets.of(rotated).limiter.state();
    return { time, ask, rotate, arrived, state };
  }

  test.each([
    ['once', [1_000]],
    ['again and again', [1_000, 2_000, 6_000, 0]],
  ])('%s counts them until a minute after their end', async (_, afterMs) => {
    const { time, ask, rotate, arrived, state } = rotating(120);
    ask(60, 12_000);
    for (const ms of afterMs) {
      await time.advance(ms);
      rotate();
      expect(state().used).toBe(60);
    }
    ask(120, 10);
    await time.advance(60_000);
    expect([arrived.length, mostInAMinute(arrived)]).toEqual([120, 120]);
    await time.advance(140_000);
    expect([arrived.length, mostInAMinute(arrived), state().used]).toEqual([180, 120, 0]);
  });

  test('sends more at once when they were not sent', async () => {
    const { time, ask, rotate, arrived, state } = rotating(120);
    ask(120, 8_000, false);
    await time.advance(1_000);
    rotate();
    ask(120, 0);
    await time.advance(6_000);
    expect(arrived).toEqual([]);
    await time.advance(2_000);
    expect([arrived.length, state().used]).toEqual([120, 120]);
    await time.advance(61_000);
    expect(state().used).toBe(0);
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
  expect([elsewhere, neither].map((each) => scene.budgets.of(each).limiter.state().used)).toEqual([0, 0]);
});

describe('an account that leaves and comes back', () => {
  test('finds its budget as it left it', async () => {
    const one = account('k', 10);
    await use(one, 10);
    scene.budgets.leave(one);
    scene.budgets.join(one);
    expect(scene.budgets.of(one).limiter.state()).toMatchObject({ used: 10, limit: 10 });
  });

  test('by another account that is given the key it has let go of', async () => {
    const one = account('k', 10);
    await use(one, 10);
    one.apiKey = () => 'rotated';
    expect(scene.budgets.of(one).limiter.state().used).toBe(10);
    expect(scene.budgets.of(account('k', 10)).limiter.state()).toMatchObject({ used: 10, limit: 10 });
    expect(scene.budgets.of(one).limiter.state().used).toBe(10);
  });

  test('by way of a key that others have', async () => {
    let key = 'k';
    const one = account('', 10);
    one.apiKey = () => key;
    account('other', 10);
    await use(one, 10);
    scene.budgets.of(account('other', 10));
    key = 'other';
    expect(scene.budgets.of(one).limiter.state()).toMatchObject({ used: 0 });
    key = 'k';
    expect(scene.budgets.of(one).limiter.state()).toMatchObject({ used: 10 });
  });
});
