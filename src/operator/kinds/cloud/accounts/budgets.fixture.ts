import { systemRuntime } from '../../../../common/runtime.ts';
import { Budgets, type BudgetUser } from './budgets.ts';

type Account = { -readonly [field in keyof BudgetUser]: BudgetUser[field] };

/** What the operator's settings say. */
export const options = { ...systemRuntime, requestsPerMinute: 80 };

/** Anew before each test. */
export const scene = { budgets: new Budgets(options) };

export function setScene(): void {
  scene.budgets = new Budgets(options);
}

let accounts = 0;

export function account(
  key: string,
  requestsPerMinute = 100,
  url = 'https://api.example.test',
  isDefault = false,
): Account {
  const made = {
    account: `default/a${accounts++}`,
    url,
    apiKey: () => key,
    requestsPerMinute,
    isDefault,
    isShared: isDefault,
  };
  scene.budgets.join(made);
  return made;
}

export async function use(user: BudgetUser, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    const slot = await scene.budgets.of(user).limiter.acquire({ priority: 'change', account: user.account });
    slot.release();
  }
}
