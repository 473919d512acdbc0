import { expect, test } from '@jest/globals';
import type { Connection } from '../connection.ts';
import { Census, type Count } from './census.ts';

const connection = (): Connection<unknown> => ({ key: 'a', client: undefined });

test('kinds are counted together, each as it is now', () => {
  const [census, account] = [new Census(), connection()];
  const [addresses, bots] = [{}, {}];
  let there: Count = { present: 3, missing: 1 };
  census.add(account, addresses, () => there);
  const lost = () => ({ present: 0, missing: 2 });
  expect(census.add(account, bots, lost)).toEqual({ present: 3, missing: 3 });
  // Nobody who has them misses anything any more, and so nobody counts them.
  there = { present: 4, missing: 0 };
  expect(census.add(account, bots, lost)).toEqual({ present: 4, missing: 2 });
});

test('accounts are counted apart', () => {
  const [census, kind] = [new Census(), {}];
  census.add(connection(), kind, () => ({ present: 5, missing: 0 }));
  expect(census.add(connection(), kind, () => ({ present: 0, missing: 1 }))).toEqual({ present: 0, missing: 1 });
});
