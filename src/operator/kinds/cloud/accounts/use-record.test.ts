import { expect, test } from '@jest/globals';
import { silentLog } from '../../../../common/log.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { MemoryStore, mostInAMinute, pass, start } from './use-record.fixture.ts';
import { UseRecord } from './use-record.ts';

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

test.each([
  ['nothing', 0],
  ['as much as ever', 30],
])('who uses %s writes every six hours or so that it is there, and no more', async (_, count) => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask } = start(time, store, { 'a/own': 120 });
  ask(count);
  await pass(time, 61_000);
  const [texts, { writes }] = [new Set<string | undefined>(), store];
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    ask(count);
    await pass(time, 60_600);
    texts.add(store.stored.texts[0]);
  }
  expect([texts.size, store.writes - writes]).toEqual([5, 4]);
});

test('who is refused the record tries no more often that it is there', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const { ask } = start(time, store, { 'a/own': 120 }, { log });
  ask(7);
  await pass(time, 1_000);
  store.isReadOnly = true;
  ask(1);
  await pass(time, 24 * 3_600_000);
  expect(warnings).toHaveLength(2);
  store.isReadOnly = false;
  await pass(time, 61_000);
  expect(store.stored.texts).toEqual([expect.stringContaining('"renewal":4')]);
});

test('blocks that are not needed any more are given back', async () => {
  const time = new ManualClock();
  const store = new MemoryStore(time);
  const { ask } = start(time, store, { 'a/own': 120 });
  ask(100);
  await pass(time, 6 * 60_000);
  expect(JSON.parse(store.stored.texts[0] ?? '')).toMatchObject({ free: true, starts: [], accounts: {} });
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

test.each([
  ['that of who keeps the record forward', { keepers: 120_000, writers: 0 }],
  ['that of who keeps the record back', { keepers: -120_000, writers: 0 }],
  ["the operator's own forward", { keepers: 0, writers: 120_000 }],
  ["the operator's own back", { keepers: 0, writers: -120_000 }],
  ['none', {}],
])(
  'where a clock is set while no process runs, %s, what was sent counts for its minute, and no longer than another',
  async (_, ahead) => {
    const time = new ManualClock();
    await time.advance(3_600_000);
    const store = new MemoryStore(time);
    const first = start(time, store, { 'a/own': 120 });
    first.ask(50);
    await pass(time, 0);
    await first.budgets.close(0);
    await pass(time, 40_000);
    const next = store.reopened();
    Object.assign(next.ahead, ahead);
    const { ask, sent } = start(time, next, { 'a/own': 120 });
    ask(200);
    await pass(time, 20_000);
    expect(sent).toHaveLength(70);
    await pass(time, 41_000);
    expect(sent).toHaveLength(70 + 120);
  },
);

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
    expect.stringMatching(
      /^\{"by":"p\d+","renewal":0,"free":true,"starts":\[\],"accounts":\{"a\/own https:\/\/api.test":\{"open":56,"past":\[\]\}\}\}$/,
    ),
  ]);
});

test('until it can be written nothing is sent that is not on record; where there is no place it is done without', async () => {
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
  const nowhere = new MemoryStore(time);
  nowhere.errors.push(new Error('no such namespace'));
  const without = start(time, nowhere, { 'a/own': 120 }, { log: log });
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
    writtenAt: { keepers: time.now(), writers: time.now() },
  };
  ask(10);
  await pass(time, 0);
  expect(sent).toHaveLength(17);
  expect(JSON.parse(store.stored.texts[0] ?? '').accounts).toEqual({
    'a/other https://api.test': { open: 0, past: [[9, 0, '']] },
    'a/own https://api.test': { open: 28, past: [] },
  });
});

test('what is wanted as a write ends is written too', async () => {
  const time = new ManualClock();
  let isAsked = false;
  const need = () => {
    if (!isAsked) record.need({ name: 'a', limit: 120, own: 7, past: () => [] });
    isAsked = true;
  };
  const record: UseRecord = new UseRecord({
    ...{ monotonic: time, random: () => 1, uuid: () => 'one', store: new MemoryStore(time), log: silentLog },
    uses: () => [],
    onChange: () => queueMicrotask(need),
  });
  void record.run();
  await pass(time, 0);
  expect(record.openOf('a')).toBe(14);
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
  store.stored = { texts: [free, named], writtenAt: { keepers: time.now() - 50_000, writers: time.now() - 50_000 } };
  const { ask, sent } = start(time, store, { 'a/own': 120, 'b/other': 1 });
  ask(200, 'a/own');
  ask(1, 'b/other');
  await pass(time, 30_000);
  expect(sent).toHaveLength(63);
  await pass(time, 31_000);
  expect(sent).toHaveLength(63 + 120 + 1);
});
