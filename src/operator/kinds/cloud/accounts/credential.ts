import type { BudgetUser } from './budgets.ts';

/** The key in force at its address; undefined without a key. */
export function credentialOf(user: Pick<BudgetUser, 'url' | 'apiKey'>): string | undefined {
  const key = apiKeyOf(user);
  return key === undefined ? undefined : `${user.url} ${key}`;
}

export function apiKeyOf({ apiKey }: Pick<BudgetUser, 'apiKey'>): string | undefined {
  try {
    return apiKey();
  } catch {
    return undefined;
  }
}
