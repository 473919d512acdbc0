import { describe, expect, test } from '@jest/globals';
import { readAccounts } from './accounts.ts';

describe('readAccounts', () => {
  test('a bare key is an account of its own, the same after a restart, and does not show the key', () => {
    const [first] = readAccounts(['secret-key']).names;
    expect(readAccounts(['other', 'secret-key']).accountOf('secret-key')).toBe(first);
    expect(first).not.toContain('secret-key');
  });

  test('several keys may open one account', () => {
    const accounts = readAccounts(['blue=k1', 'blue=k2', 'red=k3']);
    expect(accounts.names).toEqual(['blue', 'red']);
    expect(['k1', 'k2', 'k3', 'k4'].map((key) => accounts.accountOf(key))).toEqual(['blue', 'blue', 'red', undefined]);
  });

  test('padding is no account name', () => {
    expect(readAccounts(['YWJj=='])?.accountOf('YWJj==')).toMatch(/^key-/);
    expect(readAccounts(['blue=YWJj=='])?.accountOf('YWJj==')).toBe('blue');
  });

  test.each([
    [['ok', 'two words'], 'API key 2 is neither'],
    [[''], 'API key 1 is neither'],
    [['-blue=k'], 'API key 1 is neither'],
    [['k', 'team1='], 'API key 2 is "account=" without a key'],
    [['blue=same', 'red=same'], 'API key 2 was already given to account blue'],
  ])('%j is refused without showing it', (entries, message) => {
    expect(() => readAccounts(entries)).toThrow(message);
    expect(() => readAccounts(entries)).not.toThrow(/two words|same$/);
  });
});
