import { apiKeysOf, type Story } from '../../core/story.ts';

/** A cloud and an account of it. */
export type AccountID = `${string}/${string}`;

/** Which account of a cloud each key of a story opens. */
export class Keys {
  readonly #accounts = new Map<string, string>();

  constructor({ cloud }: Pick<Story, 'cloud'>) {
    for (const entry of apiKeysOf(cloud)) {
      const [, account = entry, key = entry] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
      this.#accounts.set(key, account);
    }
  }

  /** Undefined where the service does not know the key. */
  accountOf(service: string, key: string | undefined): AccountID | undefined {
    const account = key === undefined ? undefined : this.#accounts.get(key);
    return account === undefined ? undefined : `${service}/${account}`;
  }
}

/** The service behind an address, by its name in the world. */
export function serviceOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const host = URL.parse(address)?.host;
  return host?.replace(/\.sim$/, '');
}
