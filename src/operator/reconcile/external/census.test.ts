import { expect, test } from '@jest/globals';
import type { Connection } from '../connection.ts';
import { Census, type Count } from './census.ts';

const connection = (): Connection<unknown> => ({ key: 'a', client: undefined });
const none = { present: 0, missing: 0 };
const proven = (count: Count) => ({ proven: count, said: none, made: none });
const before = (count: Count) => ({ before: count, made: none });

test('kinds are counted together, each as it is now', () => {
  const [census, account] = [new Census(), connection()];
  const [addresses, bots] = [{}, {}];
  let there = { present: 3, missing: 1 };
  census.add(account, addresses, () => proven(there));
  const lost = () => proven({ present: 0, missing: 2 });
  expect(census.add(account, bots, lost)).toEqual(before({ present: 3, missing: 3 }));
  // Nobody who has them misses anything any more, and so nobody counts them.
  there = { present: 4, missing: 0 };
  expect(census.add(account, bots, lost)).toEqual(before({ present: 4, missing: 2 }));
});

test('what is merely said counts where nothing is proven of any kind', () => {
  const [census, account] = [new Census(), connection()];
  const said = { present: 0, missing: 9 };
  expect(census.add(account, {}, () => ({ proven: none, said, made: none }))).toEqual(before(said));
  const there = { present: 1, missing: 0 };
  expect(census.add(account, {}, () => proven(there))).toEqual(before(there));
});

test('accounts are counted apart', () => {
  const [census, kind] = [new Census(), {}];
  census.add(connection(), kind, () => proven({ present: 5, missing: 0 }));
  const lost = { present: 0, missing: 1 };
  expect(census.add(connection(), kind, () => proven(lost))).toEqual(before(lost));
});
