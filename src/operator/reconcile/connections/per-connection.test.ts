import { expect, test } from '@jest/globals';
import { PerConnection } from './per-connection.ts';

function open(key = 'team/acct') {
  const closing = new AbortController();
  return { connection: { key, client: undefined, closed: closing.signal }, close: () => closing.abort() };
}

let made = 0;
const make = () => `kept ${++made}`;

test('one for each connection, until that closes', () => {
  const kept = new PerConnection<undefined, string>();
  const [a, b] = [open('a'), open('b')];
  const first = kept.of(a.connection, make);
  expect(kept.of(a.connection, make)).toBe(first);
  expect(kept.of(b.connection, make)).not.toBe(first);
  expect(kept.all()).toHaveLength(2);
  a.close();
  b.close();
  expect(kept.all()).toEqual([]);
});

test('the next account of the same name begins anew', () => {
  const kept = new PerConnection<undefined, string>();
  const [before, after] = [open(), open()];
  const first = kept.of(before.connection, make);
  expect(kept.of(after.connection, make)).not.toBe(first);
  before.close();
  expect(kept.all()).toEqual([kept.of(after.connection, make)]);
});

test('of one that has closed nothing is kept, whoever still works with it', () => {
  const kept = new PerConnection<undefined, string>();
  const { connection, close } = open();
  close();
  expect(kept.of(connection, make)).toMatch(/^kept/);
  expect(kept.all()).toEqual([]);
});

test('one that never closes is kept', () => {
  const kept = new PerConnection<undefined, string>();
  kept.of({ key: 'default', client: undefined }, make);
  expect(kept.all()).toHaveLength(1);
});
