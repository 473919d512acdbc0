import { expect, test } from '@jest/globals';
import type { Connection } from '../connection.ts';
import { Census } from './census.ts';

const connection = (since?: number): Connection<unknown> => ({
  key: 'a',
  client: undefined,
  ...(since === undefined ? {} : { since }),
});

test('kinds are counted together, each as it was last', () => {
  const [census, account] = [new Census(), connection()];
  const [addresses, bots] = [{}, {}];
  census.add(account, addresses, { present: 3, missing: 1 });
  expect(census.add(account, bots, { present: 0, missing: 2 })).toEqual({ present: 3, missing: 3 });
  expect(census.add(account, addresses, { present: 4, missing: 0 })).toEqual({ present: 4, missing: 2 });
  expect(census.last(account)).toEqual({ present: 4, missing: 2 });
});

test('accounts are counted apart, and what was counted with another key counts no more', () => {
  const [census, kind] = [new Census(), {}];
  const account = { ...connection(1) };
  census.add(account, kind, { present: 5, missing: 0 });
  expect(census.last(connection(1))).toEqual({ present: 0, missing: 0 });
  expect(census.add(Object.assign(account, { since: 2 }), {}, { present: 0, missing: 1 })).toEqual({
    present: 0,
    missing: 1,
  });
});
