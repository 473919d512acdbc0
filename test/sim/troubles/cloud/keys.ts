import type { Flight } from '../../core/network.ts';
import type { Chance } from '../../core/random.ts';
import { mainKey, secondKey } from '../../core/story.ts';
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

/** An operator that has a key, and others: of its account, and of others. */
export function otherKeys(chance: Chance, { installations, cloud }: Cast) {
  const withKey = installations.filter(({ apiKey }) => apiKey !== null);
  const { name, apiKey } = chance.pick(withKey.length === 0 ? installations : withKey);
  const key = apiKey ?? mainKey;
  const accounts = accountsOf(cloud?.apiKeys ?? []);
  const account = accounts.find((each) => each.key === key)?.account;
  const keysOf = (isWanted: (each: Account) => boolean) =>
    accounts.filter((each) => each.key !== key && isWanted(each)).map((each) => each.key);
  const foreign = keysOf((each) => each.account !== account);
  return {
    installation: name,
    own: keysOf((each) => each.account === account),
    foreign: foreign.length === 0 ? [secondKey] : foreign,
  };
}
