import { expect, test } from '@jest/globals';
import type { Connection } from '../connections/connection.ts';
import { Census, type Count, doubtOf } from './census.ts';

const connection = (): Connection<unknown> => ({ key: 'a', client: undefined });
const none = { present: 0, missing: 0, vouching: 0 };
const count = (present: number, missing: number, vouching = 0): Count => ({ present, missing, vouching });
const proven = (counted: Count) => ({ proven: counted, said: none, made: none });
const before = (counted: Count) => ({ before: counted, made: none });

test('kinds are counted together, each as it is now', () => {
  const [census, account] = [new Census(), connection()];
  const [addresses, bots] = [{}, {}];
  let there = count(3, 1, 2);
  census.add(account, addresses, () => proven(there));
  const lost = () => proven(count(0, 2));
  expect(census.add(account, bots, lost)).toEqual(before(count(3, 3, 2)));
  // Nobody who has them misses anything any more, and so nobody counts them.
  there = count(4, 0, 1);
  expect(census.add(account, bots, lost)).toEqual(before(count(4, 2, 1)));
});

test('what is merely said counts where nothing is proven of any kind', () => {
  const [census, account] = [new Census(), connection()];
  const said = count(0, 9);
  expect(census.add(account, {}, () => ({ proven: none, said, made: none }))).toEqual(before(said));
  const there = count(1, 0);
  expect(census.add(account, {}, () => proven(there))).toEqual(before(there));
});

test('accounts are counted apart', () => {
  const [census, kind] = [new Census(), {}];
  census.add(connection(), kind, () => proven(count(5, 0)));
  const lost = count(0, 1);
  expect(census.add(connection(), kind, () => proven(lost))).toEqual(before(lost));
});

test.each([
  ['all that is missing, be it made before or by this process', count(0, 2), count(0, 3), /^5 of 5 objects/],
  ['what was there before, where the rest is there', count(0, 2), count(3, 0), /^2 of 2 objects/],
])('a doubt counts %s', (_, before, made, said) => {
  expect(doubtOf({ before, made })).toMatch(said);
});
