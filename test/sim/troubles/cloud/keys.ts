import type { Flight } from '../../core/network.ts';
import type { Chance } from '../../core/random.ts';
import { mainKey } from '../../core/story.ts';
import type { Cast } from '../kind.ts';

export const isWithKey = ({ to, headers }: Flight, { key }: { readonly key: string }): boolean =>
  to.name === 'cloud' && headers.authorization === `Bearer ${key}`;

export interface Account {
  readonly account: string;
  readonly key: string;
}

/** @param apiKeys as in a story */
export const accountsOf = (apiKeys: readonly string[]): readonly Account[] =>
  apiKeys.map((text) => ({ account: text.split('=', 1)[0] ?? '', key: text.slice(text.indexOf('=') + 1) }));

/** One that the story uses. */
export const someKey = (chance: Chance, { cloud }: Cast): string =>
  chance.pick(accountsOf(cloud?.apiKeys ?? [`main=${mainKey}`])).key;

/** Beside that of an operator: of its account, and of others. */
export function otherKeys({ cloud }: Cast, key: string) {
  const accounts = accountsOf(cloud?.apiKeys ?? []);
  const own = accounts.find((each) => each.key === key)?.account;
  const keysOf = (wanted: (account: string) => boolean) =>
    accounts.filter((each) => each.key !== key && wanted(each.account)).map((each) => each.key);
  return { own: keysOf((account) => account === own), foreign: keysOf((account) => account !== own) };
}
