import { describe, expect, test } from '@jest/globals';
import { silentLog } from '../../../../common/log.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { MemoryStore, mostInAMinute, pass, start } from './use-record.fixture.ts';

describe('who may not keep the record', () => {
  const forbidden = () => Array.from({ length: 100 }, () => new Error('forbidden'));

  test('has the free share for a minute, and then all', async () => {
    const time = new ManualClock();
    const store = new MemoryStore(time);
    store.errors.push(...forbidden());
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
    const { ask, sent } = start(time, store, { 'a/own': 120 }, { log });
    ask(200);
    await pass(time, 3_000);
    expect(sent).toEqual([]);
    await pass(time, 6_000);
    expect(sent).toHaveLength(7);
    expect(warnings).toEqual(['cannot record what is sent; a sixteenth of each budget at most is used for a minute']);
    await pass(time, 50_000);
    expect(sent).toHaveLength(7);
    for (let second = 0; second < 20; second += 1) await pass(time, 1_000);
    expect(mostInAMinute(sent)).toBe(120);
    expect(warnings).toEqual([
      'cannot record what is sent; a sixteenth of each budget at most is used for a minute',
      'cannot record what is sent; a restart may exceed the budgets of accounts for a minute',
    ]);
  });

  /** One process after the other, each killed after so long. */
  async function sentByMany(time: ManualClock, count: number, ms: number, next: () => MemoryStore) {
    const sent: number[] = [];
    for (let process = 0; process < count; process += 1) {
      const each = start(time, next(), { 'a/own': 120 });
      each.ask(200);
      await pass(time, ms);
      each.kill();
      sent.push(...each.sent);
    }
    return sent;
  }

  test.each([
    [10, 7_000],
    [60, 2_000],
    [15, 4_500],
  ])('and is started again and again sends no more than its budget: %i times after %i ms', async (count, ms) => {
    const time = new ManualClock();
    const sent = await sentByMany(time, count, ms, () => {
      const store = new MemoryStore(time);
      store.errors.push(...forbidden());
      return store;
    });
    expect(mostInAMinute(sent)).toBeLessThanOrEqual(120);
  });

  test('and where somebody before it could, who may have used all, sends nothing for a minute', async () => {
    const time = new ManualClock();
    const store = new MemoryStore(time);
    const before = start(time, store, { 'a/own': 120 });
    before.ask(120);
    await pass(time, 1_000);
    before.kill();
    const sent = await sentByMany(time, 4, 15_000, () => {
      const next = store.reopened();
      next.isReadOnly = true;
      return next;
    });
    expect([before.sent.length, sent.length]).toEqual([120, 0]);
  });

  test('puts what it has used on record within a minute of when it may again', async () => {
    const time = new ManualClock();
    const store = new MemoryStore(time);
    store.isReadOnly = true;
    const before = start(time, store, { 'a/own': 120 });
    await pass(time, 70_000);
    before.ask(200);
    await pass(time, 1_000);
    expect(before.sent).toHaveLength(120);
    store.isReadOnly = false;
    for (let second = 0; second < 70; second += 1) await pass(time, 1_000);
    expect(before.sent).toHaveLength(200);
    before.kill();
    const after = start(time, store.reopened(), { 'a/own': 120 });
    after.ask(200);
    await pass(time, 1_000);
    expect(mostInAMinute([...before.sent, ...after.sent])).toBeLessThanOrEqual(120);
  });

  test('writes when it may again also where nobody needs more by then', async () => {
    const time = new ManualClock();
    const store = new MemoryStore(time);
    const { ask } = start(time, store, { 'a/own': 120 });
    await pass(time, 0);
    store.isReadOnly = true;
    ask(20);
    for (let second = 0; second < 200; second += 1) await pass(time, 1_000);
    const { writes } = store;
    store.isReadOnly = false;
    for (let second = 0; second < 61; second += 1) await pass(time, 1_000);
    expect(store.writes).toBeGreaterThan(writes);
  });

  test('goes on with what is on record when it may again', async () => {
    const time = new ManualClock();
    const store = new MemoryStore(time);
    const { ask, sent } = start(time, store, { 'a/own': 120 });
    ask(7);
    await pass(time, 0);
    store.errors.push(...forbidden().slice(0, 3));
    ask(100);
    await pass(time, 100);
    expect(sent).toHaveLength(7);
    await pass(time, 5_000);
    expect(sent).toHaveLength(107);
  });
});
