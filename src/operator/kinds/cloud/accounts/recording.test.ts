import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import type { BudgetUser } from './budgets.ts';
import { MemoryStore, pass, SecretStore, start } from './use-record.fixture.ts';

describe('what was sent is with the key that it was sent with', () => {
  /** Sends with the one account, and ends; then another process begins. How much is used of the other's budget. */
  async function usedAfterRestart(
    how: 'stop' | 'kill',
    between: (first: ReturnType<typeof start>) => void,
    limits: Readonly<Record<string, number>>,
  ) {
    const time = new ManualClock();
    const store = new SecretStore(time);
    const first = start(time, store, { 'a/one': 60, 'b/two': 60 }, { keyOf: () => 'k' });
    first.ask(25, 'a/one');
    await pass(time, 1_000);
    expect(first.sent).toHaveLength(25);
    between(first);
    await pass(time, 1_000);
    first.kill();
    if (how === 'stop') await first.budgets.close(0);
    const second = start(time, store.reopened(), limits, { keyOf: () => 'k' });
    await pass(time, 1_000);
    const [user] = second.users;
    return user && second.budgets.of(user).limiter.state().used;
  }

  test.each(['stop', 'kill'] as const)('of an account that has another by then, after a %s', async (how) => {
    const rotated = ({ budgets, users: [one] }: ReturnType<typeof start>) => {
      if (one === undefined) return;
      Object.assign(one, { apiKey: () => 'another' });
      budgets.of(one);
    };
    expect(await usedAfterRestart(how, rotated, { 'b/two': 60 })).toBeGreaterThanOrEqual(25);
  });

  test.each(['stop', 'kill'] as const)('of an account that is gone, after a %s', async (how) => {
    const gone = ({ budgets, users: [one] }: ReturnType<typeof start>) => one && budgets.leave(one);
    expect(await usedAfterRestart(how, gone, { 'c/three': 60 })).toBeGreaterThanOrEqual(25);
  });

  test('and of nobody with another key', async () => {
    const time = new ManualClock();
    const store = new SecretStore(time);
    const first = start(time, store, { 'a/one': 60 });
    first.ask(50);
    await pass(time, 1_000);
    await first.budgets.close(0);
    const second = start(time, store.reopened(), { 'b/two': 60 });
    await pass(time, 1_000);
    const [user] = second.users;
    expect(user && second.budgets.of(user).limiter.state().used).toBe(0);
  });
});

test('what an account sent that is gone stays on record while it counts', async () => {
  const time = new ManualClock();
  const store = new SecretStore(time);
  const first = start(time, store, { 'a/gone': 120, 'b/stays': 120 }, { keyOf: (account) => account });
  await pass(time, 4.5 * 60_000);
  first.ask(100, 'a/gone');
  await pass(time, 1_000);
  expect(first.sent).toHaveLength(100);
  for (const user of first.users.slice(0, 1)) first.budgets.leave(user);
  // What is not needed is given back meanwhile.
  await pass(time, 40_000);
  first.kill();
  const second = start(time, store.reopened(), { 'c/next': 120 }, { keyOf: () => 'a/gone' });
  await pass(time, 1_000);
  const [user] = second.users;
  expect(user && second.budgets.of(user).limiter.state().used).toBeGreaterThanOrEqual(100);
});

test('keys that are rotated more often than once a minute do not renew what was sent', async () => {
  const time = new ManualClock();
  let key = 0;
  const { ask, sent } = start(time, new SecretStore(time), { 'a/own': 60 }, { keyOf: () => `k${key}` });
  for (; key < 12; key += 1) {
    ask(10);
    await pass(time, 30_000);
  }
  expect(sent).toHaveLength(120);
});

test('what was under way as its key was rotated is on record once, with the key that it was sent with', async () => {
  const time = new ManualClock();
  const store = new SecretStore(time);
  let key = 'old';
  const { budgets, users } = start(time, store, { 'a/own': 60 }, { keyOf: () => key });
  const [user] = users as [BudgetUser];
  await pass(time, 0);
  const { limiter } = budgets.of(user);
  const wait = () => limiter.acquire({ priority: 'change', account: user.account });
  const slots = await Promise.all([wait(), wait(), wait()]);
  key = 'new';
  budgets.of(user);
  for (const slot of slots) slot.release();
  await pass(time, 6_000);
  await budgets.close(0);
  const accounts: Record<string, { past: [number, number, string][] }> = JSON.parse(
    store.stored.texts[0] ?? '',
  ).accounts;
  expect(Object.values(accounts).flatMap(({ past }) => past.map(([count]) => count))).toEqual([3]);
});

test('what a shard sent before it left counts once when it comes back', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask, budgets, users } = start(time, store, { 'a/own': 100 });
  ask(40);
  await pass(time, 1_000);
  for (let n = 0; n < 2; n += 1) {
    await budgets.close(0);
    void budgets.run(0);
    await pass(time, 1_000);
    const [user] = users;
    expect(user && budgets.of(user).limiter.state().used).toBe(40);
  }
});

test('what was sent counts also where the limit is lower when a process begins, and higher then', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const first = start(time, store, { 'a/own': 60 });
  first.ask(50);
  await pass(time, 1_000);
  first.kill();
  const second = start(time, store.reopened(), { 'a/own': 5 });
  await pass(time, 1_000);
  const [user] = second.users;
  second.ask(0);
  if (user !== undefined) user.requestsPerMinute = 60;
  expect(user && second.budgets.of(user).limiter.state().used).toBeGreaterThanOrEqual(50);
});

test('an account at another path of its address is charged once for each', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const first = start(time, store, { 'a/own': 100 });
  first.ask(40);
  await pass(time, 1_000);
  first.kill();
  const second = start(time, store.reopened(), { 'a/own': 100 });
  await pass(time, 1_000);
  const [user] = second.users as [BudgetUser];
  const used = [second.budgets.of(user).limiter.state().used];
  let before = user;
  for (const url of ['https://api.test/v2', 'https://api.test']) {
    const moved = { ...before, url };
    second.budgets.join(moved);
    used.push(second.budgets.of(moved).limiter.state().used);
    second.budgets.leave(before);
    before = moved;
  }
  const [atFirst] = used;
  expect(used).toEqual([atFirst, atFirst, atFirst]);
});
