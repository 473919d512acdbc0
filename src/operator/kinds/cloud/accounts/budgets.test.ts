import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../../../common/runtime.ts';
import { Budgets, type BudgetUser } from './budgets.ts';

type Account = { -readonly [field in keyof BudgetUser]: BudgetUser[field] };

let budgets: Budgets;

beforeEach(() => {
  budgets = new Budgets(systemRuntime);
});

function account(key: string, requestsPerMinute = 100, url = 'https://api.example.test'): Account {
  const made = { url, apiKey: () => key, requestsPerMinute };
  budgets.join(made);
  return made;
}

async function use(user: BudgetUser, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    const limiter = budgets.of(user);
    await limiter.acquire('change');
    limiter.release('change');
  }
}

describe('accounts of one credential', () => {
  test('share one budget, the lowest of theirs', async () => {
    const [one, two] = [account('k', 100), account('k', 60, 'https://api.example.test/')];
    await use(one, 3);
    await use(two, 2);
    expect(budgets.of(one).state()).toMatchObject({ used: 5, limit: 60 });
    two.requestsPerMinute = 200;
    expect(budgets.of(two).state()).toMatchObject({ used: 5, limit: 100 });
  });

  test('share only while their keys are the same', async () => {
    const [one, two] = [account('k'), account('other')];
    await use(one, 3);
    expect(budgets.of(two).state().used).toBe(0);
    two.apiKey = () => 'k';
    expect(budgets.of(two).state().used).toBe(3);
    one.apiKey = () => 'another';
    expect(budgets.of(one).state().used).toBe(0);
    expect(budgets.of(two).state().used).toBe(3);
    two.apiKey = () => 'rotated';
    expect(budgets.of(two).state().used).toBe(3);
  });

  test('share what was sent before the other had its key', async () => {
    const [first, second] = [account(''), account('k')];
    first.apiKey = () => {
      throw new Error('the Secret was not read');
    };
    await use(second, 2);
    first.apiKey = () => 'k';
    expect(budgets.of(first).state().used).toBe(2);
  });

  test('go on with what was used when one of them leaves, and without its limit', async () => {
    const [one, two] = [account('k', 10), account('k', 100)];
    await use(one, 3);
    budgets.leave(one);
    expect(budgets.of(two).state()).toMatchObject({ used: 3, limit: 100 });
    budgets.leave(two);
    expect(budgets.of(account('k')).state().used).toBe(0);
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
  expect([elsewhere, neither].map((each) => budgets.of(each).state().used)).toEqual([0, 0]);
});
