import { expect, test } from '@jest/globals';
import { chance, type Process, World } from './shared-key.fixture.ts';

const names = ['a/one', 'b/two', 'c/three'];

/** A process that is killed as its record is written for the nth time: before it is, or when it has been. */
async function killedAt(
  world: World,
  write: number,
  how: 'before' | 'after',
  live: (process: Process) => Promise<void>,
) {
  const process = world.process();
  let writes = 0;
  world.place.onWrite = () => {
    writes += 1;
    if (writes === write && how === 'before') process.kill();
    if (writes === write + 1 && how === 'after') process.kill();
  };
  await live(process);
  process.kill();
  world.place.onWrite = () => {};
  return writes;
}

/** Of what is used by one, and then by another: who has left by the next process, and who is new. */
test.each([
  ['all', names],
  ['the first alone', ['a/one']],
  ['the last alone', ['c/three']],
  ['another', ['d/four']],
])('accounts of one key keep its budget, wherever their process is killed: then there is %s', async (_, then) => {
  for (const how of ['before', 'after'] as const) {
    for (let write = 1; write <= 12; write += 1) {
      const world = new World();
      await killedAt(world, write, how, async (process) => {
        for (const name of names) process.join(name, 'k');
        process.run();
        for (const count of [3, 4, 20]) {
          for (const name of names) process.ask(name, count);
          await world.pass(500);
        }
      });
      const next = world.process();
      for (const name of then) next.join(name, 'k');
      next.run();
      for (const name of then) next.ask(name, 200);
      await world.pass(50_000);
      expect([how, write, world.busiest <= 120 ? 'kept' : world.busiest]).toEqual([how, write, 'kept']);
    }
  }
});

test('an account that was alone with its key, and gone, has had the free share of it', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k' });
  first.ask('a/one', 7);
  await world.pass(100);
  first.leave('a/one');
  first.join('b/two', 'k');
  first.ask('b/two', 7);
  await world.pass(100);
  expect(world.sent).toHaveLength(14);
  first.kill();
  const second = world.start({ 'b/two': 'k' });
  second.ask('b/two', 200);
  await world.pass(50_000);
  expect(world.busiest).toBeLessThanOrEqual(120);
});

test('of an account that took its use to another key the accounts that stay know after a restart', async () => {
  const world = new World();
  const first = world.process();
  for (const name of names) first.join(name, 'k');
  first.run();
  // No more than is free.
  for (const name of names) first.ask(name, 7);
  await world.pass(1_000);
  first.keys.set('a/one', 'k2');
  first.ask('a/one', 7);
  await world.pass(1_000);
  first.kill();
  const second = world.start({ 'b/two': 'k', 'a/one': 'k2' });
  second.ask('b/two', 200);
  second.ask('a/one', 200);
  await world.pass(20_000);
  second.keys.set('a/one', 'k');
  second.ask('a/one', 200);
  await world.pass(20_000);
  expect(world.busiest).toBeLessThanOrEqual(120);
});

test('where the record is gone, the next one has everything again', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k', 'b/two': 'k', 'z/other': 'other' });
  first.ask('a/one', 40);
  first.ask('b/two', 20);
  await world.pass(1_000);
  first.leave('b/two');
  world.place.delete();
  first.ask('z/other', 30);
  await world.pass(1_000);
  expect(world.sent).toHaveLength(90);
  first.kill();
  const second = world.start({ 'c/three': 'k' });
  second.ask('c/three', 200);
  await world.pass(50_000);
  expect(world.busiest).toBeLessThanOrEqual(120);
});

test('what a process before it sent stays on record where that is gone and made again', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k' });
  first.ask('a/one', 60);
  await world.pass(1_000);
  first.kill();
  const second = world.start({ 'a/one': 'k' });
  await world.pass(1_000);
  world.place.delete();
  second.ask('a/one', 30);
  await world.pass(1_000);
  second.kill();
  const third = world.start({ 'a/one': 'k' });
  third.ask('a/one', 200);
  await world.pass(40_000);
  expect(world.busiest).toBeLessThanOrEqual(120);
});

test('an answer that is lost is no use of anybody else', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k' });
  await world.pass(100);
  let calls = 0;
  first.view.fate = () => {
    calls += 1;
    return calls === 1 ? 'unanswered' : 'well';
  };
  first.ask('a/one', 40);
  await world.pass(5_000);
  expect(world.sent).toHaveLength(40);
  const { starts, accounts } = JSON.parse(world.place.text ?? '');
  expect([starts, Object.values(accounts)]).toEqual([[], [{ open: 56, past: [] }]]);
});

test('after a failover what the one before sent counts once, also where that one ends later', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k' });
  first.ask('a/one', 40);
  await world.pass(1_000);
  const second = world.start({ 'a/one': 'k' });
  await world.pass(1_000);
  expect(second.used('a/one')).toBe(56 + 7);
  await first.budgets.close(0);
  second.ask('a/one', 40);
  await world.pass(1_000);
  expect(world.sent).toHaveLength(80);
  second.kill();
  const third = world.start({ 'a/one': 'k' });
  await world.pass(1_000);
  // Of the first 40, exactly; of the second what it had on record, and a free share.
  expect(third.used('a/one')).toBeLessThanOrEqual(40 + 80 + 7);
  expect(third.used('a/one')).toBeGreaterThanOrEqual(80);
});

test('who ends does not wipe what another one has on record by then', async () => {
  const world = new World();
  const first = world.start({ 'a/one': 'k' });
  first.ask('a/one', 10);
  await world.pass(1_000);
  const second = world.start({ 'b/two': 'k' });
  second.ask('b/two', 40);
  await world.pass(1_000);
  // It sees that somebody wrote, and has no time to look at what.
  first.view.latencyMs = 100;
  first.ask('a/one', 30);
  await world.pass(250);
  await Promise.all([first.budgets.close(0), world.pass(5_000)]);
  second.kill();
  const third = world.start({ 'c/three': 'k' });
  await world.pass(0);
  expect(third.used('c/three')).toBeGreaterThanOrEqual(world.sent.length);
  third.ask('c/three', 200);
  await world.pass(40_000);
  expect(world.busiest).toBeLessThanOrEqual(120);
});

test('accounts of one key have what the operator says, whatever they say, over restarts', async () => {
  const world = new World();
  world.requestsPerMinute = 60;
  for (let n = 0; n < 4; n += 1) {
    const process = world.process();
    for (const name of names) process.join(name, 'k', n % 2 === 0 ? 1_000 : 40);
    process.run();
    for (const name of names) process.ask(name, 200);
    await world.pass(7_000);
    process.kill();
  }
  expect(world.sent.length).toBeGreaterThan(30);
  expect(world.busiest).toBeLessThanOrEqual(60);
});

test('a tenant with any number of accounts of one key leaves the others room on record', async () => {
  const world = new World();
  world.requestsPerMinute = 100_000;
  const process = world.process();
  const crowd = Array.from({ length: 400 }, (_, index) => `a/${index}`);
  for (const name of crowd) process.join(name, 'crowd', 100_000);
  process.join('b/own', 'k');
  process.run();
  for (const name of crowd) process.ask(name, 1);
  await world.pass(2_000);
  process.ask('b/own', 60);
  await world.pass(2_000);
  expect(world.sent.filter(({ key }) => key === 'k')).toHaveLength(60);
  // Those by name, and the free share of the key.
  expect(world.sent.filter(({ key }) => key === 'crowd')).toHaveLength(120);
  expect(world.place.text?.length).toBeLessThan(100_000);
  expect(Object.keys(JSON.parse(world.place.text ?? '').accounts)).toHaveLength(101);
  const { writes } = world.place;
  await world.pass(20_000);
  expect(world.place.writes).toBe(writes);
  // The others wait until there is room, and not for ever.
  await world.pass(30 * 60_000);
  expect(world.sent.filter(({ key }) => key === 'crowd')).toHaveLength(400);
});

test('where the record is full, those wait who are not on it, and all have their turn', async () => {
  const world = new World();
  const process = world.process(2_000);
  const accounts = Array.from({ length: 60 }, (_, index) => `a/${index}`);
  for (const name of accounts) process.join(name, name);
  process.run();
  for (const name of accounts) process.ask(name, 50);
  await world.pass(2_000);
  expect(world.place.text?.length).toBeLessThanOrEqual(2_000);
  expect(world.sent.length).toBeLessThan(60 * 50);
  await world.pass(60 * 60_000);
  expect(world.sent).toHaveLength(60 * 50);
  await process.budgets.close(0);
  expect(world.place.text?.length).toBeLessThanOrEqual(2_000);
});

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'whatever happens, no key is used more than it may be (%d)',
  async (seed) => {
    const random = chance(seed + 1);
    const below = (limit: number) => Math.floor(random() * limit);
    const pick = <T>(from: readonly T[]) => from[below(from.length)] as T;
    const world = new World();
    const all = ['a/one', 'b/two', 'c/three', 'd/four'];
    const limit = pick([16, 48, 120]);
    world.requestsPerMinute = limit;
    const own = new Map(all.map((name) => [name, pick([limit / 4, limit, limit])]));
    const holds = new Map<string, string>(all.map((name) => [name, pick(['k', 'k', 'l'])]));
    const begin = () => {
      const process = world.process();
      for (const name of all) if (random() < 0.7) process.join(name, holds.get(name) ?? '', own.get(name));
      process.view.latencyMs = pick([0, 0, 30, 300]);
      process.view.fate = () => (random() < 0.9 ? 'well' : pick(['lost', 'unanswered']));
      return process.run();
    };
    let process = begin();
    for (let step = 0; step < 60; step += 1) {
      const name = pick(all);
      const act = pick(['ask', 'ask', 'ask', 'ask', 'look', 'join', 'leave', 'rekey', 'kill', 'stop', 'delete']);
      if (act === 'ask') process.ask(name, pick([1, 2, 3, 5, 7, 150]));
      if (act === 'look') process.look(name);
      if (act === 'join' && !process.users.has(name)) process.join(name, holds.get(name) ?? '', own.get(name));
      if (act === 'leave') process.leave(name);
      if (act === 'rekey') {
        holds.set(name, pick(['k', 'l', 'm']));
        process.keys.set(name, holds.get(name) ?? '');
      }
      if (act === 'kill') {
        process.kill();
        process = begin();
      }
      if (act === 'stop') {
        process.isAlive = false;
        const before = process;
        const closing = before.budgets.close(0);
        if (random() < 0.5) await Promise.all([closing, world.pass(6_000)]);
        process = begin();
      }
      // Of what stood there when it was deleted somebody must know.
      if (act === 'delete' && random() < 0.3 && process.hasWritten) {
        world.place.delete();
        // Another account makes it write.
        process.join(`z/${step}`, `z${step}`, limit);
        process.ask(`z/${step}`, 10);
        await world.pass(30_000);
      }
      await world.pass(pick([0, 10, 100, 1_000, 1_000, 5_000, 70_000]));
      expect(world.busiest).toBeLessThanOrEqual(limit);
    }
    process.view.fate = () => 'well';
    const before = world.sent.length;
    await world.pass(90_000);
    for (const each of all) {
      if (!process.users.has(each)) process.join(each, holds.get(each) ?? '', own.get(each));
      process.ask(each, 1);
    }
    await world.pass(90_000);
    expect(world.sent.length).toBeGreaterThanOrEqual(before + all.length);
  },
);
