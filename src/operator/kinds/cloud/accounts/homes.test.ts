import { beforeEach, describe, expect, test } from '@jest/globals';
import { windowMs } from '../../../cloud/rolling-window.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { AccountEntry } from './account-entry.ts';
import { Homes } from './homes.ts';

const shards = 4;
let held: Set<number>;
/** Accounts whose Secret is gone. */
let lost: Set<string>;
let keys: Map<string, string>;
let placed: Map<string, { at: number; shard?: string }>;
let since: Map<string, number>;
let defaultRekeyedAt: number | undefined;
let now: number;

beforeEach(() => {
  defaultRekeyedAt = undefined;
  [held, lost, keys, placed, since, now] = [new Set(), new Set(), new Map(), new Map(), new Map(), 1_000_000];
});

function account(name: string): ManagedObject {
  const { shard } = placed.get(`a/${name}`) ?? {};
  const metadata = { namespace: 'a', name };
  return { apiVersion: 'v1', kind: 'CloudAccount', metadata, spec: {}, status: { shard } } as unknown as ManagedObject;
}

function user(name?: string): ManagedObject {
  const spec = name === undefined ? {} : { accountRef: { name } };
  return { apiVersion: 'v1', kind: 'BotUser', metadata: { namespace: 'a', name: 'bot' }, spec } as ManagedObject;
}

function homesOf(defaultIdentity?: string, foreign = false): Homes {
  const entry = (key: string) => {
    const connection = { identity: keys.get(key), since: since.get(key) };
    const object = account(key.replace('a/', ''));
    const keySecret = { isUsable: !lost.has(key) };
    return { object, connection, keySecret, placedAt: placed.get(key)?.at ?? 0 } as unknown as AccountEntry;
  };
  const accounts = { entry, defaultIdentity, defaultRekeyedAt };
  return new Homes({ shards, held, accounts, isForeign: () => foreign, now: () => now });
}

/** A key that belongs to another shard than the account's name does. */
function foreignKey(homes: Homes, name: string): { readonly key: string; readonly from: number; readonly to: number } {
  const from = homes.shardOf(`a/${name}`);
  for (let n = 0; ; n += 1) {
    keys.set(`a/${name}`, `https://api.test key-${n}`);
    const to = homes.relocationOf(account(name))?.to;
    if (to !== undefined) return { key: `https://api.test key-${n}`, from, to };
  }
}

test('many names and keys are spread over all shards', () => {
  const homes = homesOf();
  const counts = Array.from({ length: shards }, () => 0);
  for (let n = 0; n < 400; n += 1)
    counts[homes.shardOf(`a/account-${n}`)] = (counts[homes.shardOf(`a/account-${n}`)] ?? 0) + 1;
  expect(Math.min(...counts)).toBeGreaterThan(70);
});

test('two accounts of one key belong to one shard, whatever their names', () => {
  const homes = homesOf();
  const { key, to } = foreignKey(homes, 'one');
  for (const name of ['two', 'three', 'four', 'five']) {
    keys.set(`a/${name}`, key);
    expect(homes.relocationOf(account(name))?.to ?? homes.shardOf(`a/${name}`)).toBe(to);
  }
});

test("the operator's own account, and who has its key, are of the first shard", () => {
  const homes = homesOf('https://api.test own');
  keys.set('a/one', 'https://api.test own');
  expect(homes.shardOf('default')).toBe(0);
  expect(homes.relocationOf(account('one'))?.to ?? homes.shardOf('a/one')).toBe(0);
});

describe('an account whose key belongs elsewhere', () => {
  test('is given away by who has it, works nowhere meanwhile, and then there', () => {
    const homes = homesOf();
    const { from, to } = foreignKey(homes, 'one');
    const states = () =>
      [from, to].map((shard) => {
        held = new Set([shard]);
        const own = homesOf();
        return [own.ofAccounts.isCharge(account('one')), own.isMine('a/one'), own.ofUsers.isMine(user('one'))];
      });
    expect(states()).toEqual([
      [true, false, false],
      [false, false, false],
    ]);
    placed.set('a/one', { at: now, shard: homes.recordOf(to) });
    expect(states()).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
    expect(homes.relocationOf(account('one'))).toBeUndefined();
  });

  test('is kept a while where another has just given it: that one may know of a key that is not read here', () => {
    const homes = homesOf();
    const { to } = foreignKey(homes, 'one');
    const other = (to + 1) % shards;
    placed.set('a/one', { at: now, shard: homes.recordOf(other) });
    expect(homes.relocationOf(account('one'))).toEqual({ to, inMs: 10_000 });
    now += 4_000;
    expect(homes.relocationOf(account('one'))).toEqual({ to, inMs: 6_000 });
    since.set('a/one', now);
    expect(homes.relocationOf(account('one'))).toEqual({ to, inMs: 0 });
  });

  test("does not take its key along before what was sent with it counts no more: the operator's own was changed", () => {
    keys.set('a/one', 'https://api.test own');
    placed.set('a/one', { at: now, shard: homesOf().recordOf(1) });
    defaultRekeyedAt = now;
    now += 15_000;
    expect(homesOf('https://api.test own').relocationOf(account('one'))).toEqual({ to: 0, inMs: windowMs - 15_000 });
    held = new Set([0, 1]);
    expect(homesOf('https://api.test own').relocationOf(account('one'))).toEqual({ to: 0, inMs: 0 });
    held = new Set([1]);
    since.set('a/one', now);
    expect(homesOf('https://api.test own').relocationOf(account('one'))).toEqual({ to: 0, inMs: 0 });
  });

  test('is at once where it belongs, for one that was never given away', () => {
    const homes = homesOf();
    const { to } = foreignKey(homes, 'one');
    expect(homes.relocationOf(account('one'))).toEqual({ to, inMs: 0 });
  });
});

test.each(['1/2', '7/4', '-1/4', 'x', '4/4', ''])('a record that says nothing here: %s', (shard) => {
  const before = homesOf().shardOf('a/one');
  placed.set('a/one', { at: now, shard });
  expect(homesOf().shardOf('a/one')).toBe(before);
});

test("another installation's account is where its key belongs, whatever is written on it", () => {
  const { to } = foreignKey(homesOf(), 'one');
  placed.set('a/one', { at: now, shard: homesOf().recordOf((to + 1) % shards) });
  const homes = homesOf(undefined, true);
  expect([homes.shardOf('a/one'), homes.relocationOf(account('one'))]).toEqual([to, undefined]);
});

test("another installation's account whose key is gone is where those take it to be who never read that", () => {
  const unread = homesOf(undefined, true).shardOf('a/one');
  const { to } = foreignKey(homesOf(), 'one');
  lost.add('a/one');
  held.add(unread);
  const homes = homesOf(undefined, true);
  expect([homes.shardOf('a/one'), homes.isMine('a/one')]).toEqual([unread, true]);
  expect(unread).not.toBe(to);
});
