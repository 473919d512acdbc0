import { hash } from 'node:crypto';
import { SetupError } from './setup-error.ts';

/** `account=key`, or a key alone. Keys are what a Bearer header can carry (RFC 6750 b64token). */
const named = /^([A-Za-z0-9][A-Za-z0-9._-]{0,62})=([A-Za-z0-9._~+/-]+=*)$/;
const bare = /^[A-Za-z0-9._~+/-]+=*$/;

const digest = (key: string): string => hash('sha256', key, 'hex');

/** Which account an API key opens. Keeps digests only. */
export interface Accounts {
  readonly names: readonly string[];
  /** undefined when the key is unknown. */
  accountOf(key: string): string | undefined;
}

/**
 * Reads `key` and `account=key` entries. A bare key is an account of its own, named after the key's digest, so that
 * the account is found again after a restart.
 *
 * @throws SetupError naming the entry by its place (never the key).
 */
export function readAccounts(entries: readonly string[]): Accounts {
  const byDigest = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    const { account, key } = readEntry(entry, index + 1);
    const before = byDigest.get(digest(key));
    if (before !== undefined && before !== account) {
      throw new SetupError(
        'apiKeys',
        `API key ${index + 1} was already given to account ${before}; a key opens one account`,
      );
    }
    byDigest.set(digest(key), account);
  }
  return { names: [...new Set(byDigest.values())], accountOf: (key) => byDigest.get(digest(key)) };
}

function readEntry(entry: string, place: number): { account: string; key: string } {
  const [, account, key] = named.exec(entry) ?? [];
  if (account !== undefined && key !== undefined) return { account, key };
  // The padding of a base64 key ends at a multiple of four.
  if (/^[^=]+=$/.test(entry) && entry.length % 4 !== 0) {
    throw new SetupError('apiKeys', `API key ${place} is "account=" without a key`);
  }
  if (bare.test(entry)) return { account: `key-${digest(entry).slice(0, 16)}`, key: entry };
  throw new SetupError(
    'apiKeys',
    `API key ${place} is neither "key" nor "account=key" of letters, digits and - . _ ~ + /`,
  );
}
