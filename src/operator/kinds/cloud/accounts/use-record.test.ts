import { describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../../../common/log.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { Budgets, type BudgetUser } from './budgets.ts';
import { type Stored, UseRecord, type UseStore } from './use-record.ts';

/** A record in memory, with the clock of who keeps it. */
class MemoryStore implements UseStore {
  readonly time: ManualClock;
  stored: Stored = { texts: [], writtenAt: undefined };
  writes = 0;
  /** What the next calls fail with. */
  readonly errors: Error[] = [];
  #seen: Stored = this.stored;

  constructor(time: ManualClock) {
    this.time = time;
  }

  async read(): Promise<Stored> {
    this.#fail();
    this.#seen = this.stored;
    return this.stored;
  }

  async write(text: string): Promise<Stored | undefined> {
    this.#fail();
    if (this.#seen !== this.stored) return undefined;
    this.writes += 1;
    this.stored = { texts: [text], writtenAt: this.time.now() };
    this.#seen = this.stored;
    return this.stored;
  }

  isRefusal(error: unknown): boolean {
    return error instanceof Error && error.message === 'forbidden';
  }

  /** As another process sees it. */
  reopened(): MemoryStore {
    const other = new MemoryStore(this.time);
    other.stored = this.stored;
    return other;
  }

  #fail(): void {
    const error = this.errors.shift();
    if (error !== undefined) throw error;
  }
}

/** One process with some accounts; `sent` has the time of each of its requests. */
function start(
  time: ManualClock,
  store: MemoryStore,
  limits: Readonly<Record<string, number>>,
  {
    log = silentLog,
    keyOf = (account: string) => `key-of-${account}`,
  }: { readonly log?: Log; readonly keyOf?: (account: string) => string } = {},
) {
  const budgets = new Budgets(
    { monotonic: time },
    { monotonic: time, random: () => 1, store: () => store, shardOf: () => 0, log },
  );
  const users = Object.entries(limits).map(([account, requestsPerMinute]): BudgetUser => {
    const user = { account, url: 'https://api.test', apiKey: () => keyOf(account), requestsPerMinute };
    return { ...user, isDefault: account === 'default', isShared: account === 'default' };
  });
  for (const user of users) budgets.join(user);
  const sent: number[] = [];
  let isAlive = true;
  const ask = (count: number, account = users[0]?.account) => {
    const user = users.find((each) => each.account === account) as BudgetUser;
    for (let i = 0; i < count; i += 1)
      void budgets
        .of(user)
        .limiter.acquire({ priority: 'change', account })
        .then((slot) => {
          if (!isAlive) return;
          sent.push(time.now());
          slot.release();
        });
  };
  void budgets.run(0);
  return {
    ...{ budgets, users },
    sent,
    ask,
    kill: () => {
      isAlive = false;
    },
  };
}

/** What was begun before goes on first. */
async function pass(time: ManualClock, ms: number): Promise<void> {
  await time.advance(0);
  await time.advance(ms);
}

function mostInAMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

test('a fresh installation may use all of its budget, and says so a block ahead', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask, sent } = start(time, store, { 'a/own': 120 });
  ask(7);
  await pass(time, 0);
  expect([sent.length, store.writes]).toEqual([7, 1]);
  ask(200);
  await pass(time, 0);
  expect([sent.length, store.writes]).toEqual([120, 6]);
  await pass(time, 10 * 60_000);
  expect(mostInAMinute(sent)).toBe(120);
});

test('who uses little writes nothing but that it has begun', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask, sent } = start(time, store, { 'a/own': 120 });
  for (let minute = 0; minute < 60; minute += 1) {
    ask(7);
    await pass(time, 61_000);
  }
  expect([sent.length, store.writes]).toEqual([420, 1]);
});

test('blocks that are not needed any more are given back', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask } = start(time, store, { 'a/own': 120 });
  ask(100);
  await pass(time, 6 * 60_000);
  expect(JSON.parse(store.stored.texts[0] ?? '')).toEqual({ free: true, starts: [], accounts: {} });
  const { writes } = store;
  await pass(time, 3_600_000);
  expect(store.writes).toBe(writes);
});

test('of an account that is gone nothing stays on record', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask, budgets, users } = start(time, store, { 'a/own': 120, 'b/stays': 120 });
  ask(100);
  await pass(time, 1_000);
  expect(Object.keys(JSON.parse(store.stored.texts[0] ?? '').accounts)).toEqual(['a/own https://api.test']);
  for (const user of users.slice(0, 1)) budgets.leave(user);
  await pass(time, 6 * 60_000);
  await pass(time, 6 * 60_000);
  // With the next thing that is written.
  ask(100, 'b/stays');
  await pass(time, 0);
  expect(Object.keys(JSON.parse(store.stored.texts[0] ?? '').accounts)).toEqual(['b/stays https://api.test']);
});

test.each([3, 12, 20, 40])('processes killed every %d s send no more than one would', async (seconds) => {
  const time = new ManualClock();
  let store = new MemoryStore(time);
  const sent: number[] = [];
  for (let process = 0; process < 12; process += 1) {
    const { ask, sent: own, kill } = start(time, store, { 'a/own': 120, 'b/poor': 1, default: 60 });
    ask(200, 'a/own');
    await pass(time, seconds * 1_000);
    kill();
    sent.push(...own);
    store = store.reopened();
  }
  expect(mostInAMinute(sent)).toBeLessThanOrEqual(120);
  const { ask, sent: own } = start(time, store, { 'a/own': 120 });
  ask(200);
  await pass(time, 61_000);
  expect(own.length).toBeGreaterThan(100);
});

test('after an orderly end the next one goes on where it was, whatever had been asked for', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const first = start(time, store, { 'a/own': 120 });
  first.ask(50);
  await pass(time, 30_000);
  await first.budgets.close(0);
  expect(JSON.parse(store.stored.texts[0] ?? '')).toMatchObject({
    free: false,
    accounts: { 'a/own https://api.test': { open: 0 } },
  });
  await pass(time, 5_000);
  const second = start(time, store.reopened(), { 'a/own': 120 });
  second.ask(200);
  await pass(time, 0);
  expect(second.sent).toHaveLength(70);
  await pass(time, 27_000);
  expect(second.sent).toHaveLength(120);
});

test('how long ago it was written says the clock of who keeps it; where it says nothing it is now', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const first = start(time, store, { 'a/own': 120 });
  first.ask(120);
  await pass(time, 1_000);
  await first.budgets.close(0);
  await pass(time, 3_600_000);
  const [dated, undated] = [store.reopened(), store.reopened()];
  undated.stored = { ...store.stored, writtenAt: undefined };
  const counts = [dated, undated].map(async (kept) => {
    const { ask, sent } = start(time, kept, { 'a/own': 120 });
    ask(200);
    return sent;
  });
  const sent = await Promise.all(counts);
  await pass(time, 0);
  expect(sent.map(({ length }) => length)).toEqual([120, 0]);
  await pass(time, 61_000);
  expect(sent[1]).toHaveLength(120);
});

test('a process that was killed having sent little takes little from the next, and ten of them no more than half', async () => {
  const time = new ManualClock();
  let store = new MemoryStore(time);
  for (let process = 0; process < 10; process += 1) {
    const { ask, sent, kill } = start(time, store, { 'a/own': 120 });
    ask(2);
    await pass(time, 3_000);
    expect(sent).toHaveLength(2);
    kill();
    store = store.reopened();
  }
  const { ask, sent } = start(time, store, { 'a/own': 120 });
  ask(200);
  await pass(time, 0);
  expect(sent.length).toBeGreaterThan(30);
});

test('nothing of a key is on record, and only what differs from the rule', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask } = start(time, store, { 'a/own': 120, 'b/quiet': 120 });
  ask(40, 'a/own');
  ask(4, 'b/quiet');
  await pass(time, 0);
  expect(store.stored.texts).toEqual([
    '{"free":true,"starts":[],"accounts":{"a/own https://api.test":{"open":56,"past":[]}}}',
  ]);
});

test('until it can be written nothing is sent that is not on record; without the right to it is done without', async () => {
  const time = new ManualClock();
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const away = new MemoryStore(time);
  away.errors.push(...Array.from({ length: 3 }, () => new Error('connection refused')));
  const waiting = start(time, away, { 'a/own': 120 }, { log: log });
  waiting.ask(1);
  await pass(time, 500);
  expect(waiting.sent).toHaveLength(0);
  await pass(time, 2_000);
  expect(waiting.sent).toHaveLength(1);
  const forbidden = new MemoryStore(time);
  forbidden.errors.push(new Error('forbidden'));
  const without = start(time, forbidden, { 'a/own': 120 }, { log: log });
  without.ask(200);
  await pass(time, 0);
  expect(without.sent).toHaveLength(120);
  expect(warnings).toEqual([
    ...Array.from({ length: 3 }, () => 'cannot record what is sent'),
    'cannot record what is sent; a restart may exceed the budgets of accounts for a minute',
  ]);
});

test('what somebody else wrote meanwhile is taken over', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask, sent } = start(time, store, { 'a/own': 120 });
  ask(7);
  await pass(time, 0);
  store.stored = {
    texts: ['{"free":false,"starts":[],"accounts":{"a/other https://api.test":{"open":9,"past":[]}}}'],
    writtenAt: time.now(),
  };
  ask(10);
  await pass(time, 0);
  expect(sent).toHaveLength(17);
  expect(JSON.parse(store.stored.texts[0] ?? '').accounts).toEqual({
    'a/other https://api.test': { open: 0, past: [[9, 0]] },
    'a/own https://api.test': { open: 28, past: [] },
  });
});

/** As the Lease that keeps it: the uid of that is the secret. */
class SecretStore extends MemoryStore {
  readonly secret = 'uid';

  override reopened(): SecretStore {
    const other = new SecretStore(this.time);
    other.stored = this.stored;
    return other;
  }
}

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

test('what is wanted as a write ends is written too', async () => {
  const time = new ManualClock();
  let isAsked = false;
  const need = () => {
    if (!isAsked) record.need({ account: 'a', limit: 120, own: 7, past: () => [] });
    isAsked = true;
  };
  const record: UseRecord = new UseRecord({
    ...{ monotonic: time, random: () => 1, store: new MemoryStore(time), log: silentLog },
    uses: () => [],
    limitOf: () => 120,
    onChange: () => queueMicrotask(need),
  });
  void record.run();
  await pass(time, 0);
  expect(record.allowed('a', 120)).toBe(14);
});

test('a text that is no record counts as a process that may have used its free share', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  store.stored = { texts: ['{'], writtenAt: undefined };
  const { ask, sent } = start(time, store, { 'a/own': 120 });
  ask(200);
  await pass(time, 0);
  expect(sent).toHaveLength(113);
});

test('of several that were before, each may have used its free share until now, also of who is on record with another', async () => {
  const time = new ManualClock();
  await time.advance(3_600_000);
  const store = new MemoryStore(time);
  const free = '{"free":true,"starts":[],"accounts":{}}';
  const named = '{"free":false,"starts":[],"accounts":{"a/own https://api.test":{"open":50,"past":[]}}}';
  store.stored = { texts: [free, named], writtenAt: time.now() - 50_000 };
  const { ask, sent } = start(time, store, { 'a/own': 120, 'b/other': 1 });
  ask(200, 'a/own');
  ask(1, 'b/other');
  await pass(time, 30_000);
  expect(sent).toHaveLength(63);
  await pass(time, 31_000);
  expect(sent).toHaveLength(63 + 120 + 1);
});
