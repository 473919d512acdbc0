import { beforeEach, expect, test } from '@jest/globals';
import { cpuTimer } from '../../../../../test/support/elapsed.ts';
import { silentLog } from '../../../../common/log.ts';
import { systemRuntime } from '../../../../common/runtime.ts';
import { mayBeTwoKeys } from '../../../reconcile/ownership/key-mark.ts';
import { account, options, scene, setScene, use } from './budgets.fixture.ts';
import { Budgets } from './budgets.ts';
import type { Stored } from './use-store.ts';

beforeEach(setScene);

/** Nothing is known of the record yet: nothing may be sent. */
function withUnreadRecord(): Budgets {
  const store = () => ({
    read: () => new Promise<Stored>(() => {}),
    write: async () => undefined,
    lastsMs: () => undefined,
  });
  const made = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  void made.run(0);
  return made;
}

test('hundreds of accounts of one key that wait for what is on record wait for nothing else', async () => {
  const text = JSON.stringify({ free: true, starts: [0, 5_000], accounts: {} });
  const known = Promise.withResolvers<Stored>();
  const store = () => ({ read: () => known.promise, write: () => known.promise, lastsMs: () => undefined });
  const plenty = { ...options, requestsPerMinute: 100_000 };
  scene.budgets = new Budgets(plenty, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const running = scene.budgets.run(0);
  const users = Array.from({ length: 600 }, () => account('k', 100_000));
  const slots = users.map((user) =>
    scene.budgets.of(user).limiter.acquire({ priority: 'first', account: user.account }),
  );
  const tookMs = cpuTimer();
  known.resolve({ texts: [text], writtenAt: undefined });
  for (const slot of await Promise.all(slots)) slot.release();
  expect(tookMs()).toBeLessThan(3_000);
  await scene.budgets.close(0);
  await running;
});

test('an account at another address is recorded by that while the one before still answers', async () => {
  const written: string[] = [];
  const write = async (text: string) => {
    written.push(text);
    return { texts: [text], writtenAt: undefined };
  };
  // Killed so often of late that nothing is free.
  const text = JSON.stringify({ free: true, starts: [0, 5_000, 10_000], accounts: {} });
  const store = () => ({
    read: async () => ({ texts: [text], writtenAt: undefined }),
    write,
    lastsMs: () => undefined,
  });
  scene.budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const running = scene.budgets.run(0);
  const before = account('k');
  const moved = { ...before, url: 'https://other.example.test' };
  scene.budgets.join(moved);
  await use(moved, 1);
  expect(written.at(-1)).toContain(`${moved.account} ${moved.url}`);
  scene.budgets.leave(before);
  await scene.budgets.close(0);
  await running;
});

test('one that follows in an account waits for what is on record, also when the one before has left', async () => {
  scene.budgets = withUnreadRecord();
  const before = account('k');
  scene.budgets.of(before);
  const follower = { ...before };
  scene.budgets.join(follower);
  let isGranted = false;
  const waits = scene.budgets.of(follower).limiter.acquire({ priority: 'change', account: follower.account });
  void waits.then(() => {
    isGranted = true;
  });
  scene.budgets.leave(before);
  await new Promise(setImmediate);
  expect(isGranted).toBe(false);
  scene.budgets.leave(follower);
  await waits;
});

test('what waits for the record goes on waiting for it where a key that two accounts share is rotated', async () => {
  scene.budgets = withUnreadRecord();
  let key = 'old';
  const [one, two] = [account(''), account('')];
  for (const each of [one, two]) each.apiKey = () => key;
  const { limiter } = scene.budgets.of(one);
  scene.budgets.of(two);
  const waits = limiter.acquire({ priority: 'change', account: one.account });
  key = 'new';
  const { limiter: next } = scene.budgets.of(one);
  // Who is given a turn that is void asks for another, with the key in force.
  expect(await waits).toMatchObject({ isVoid: true });
  let isGranted = false;
  void next.acquire({ priority: 'change', account: one.account }).then(() => {
    isGranted = true;
  });
  await new Promise(setImmediate);
  expect(isGranted).toBe(false);
});

test("what another replica sent with a key counts when it becomes the operator's own", async () => {
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined });
  const stored = { texts: [], writtenAt: undefined };
  const shardOf = (name: string) => (name.endsWith('elsewhere') ? 1 : 0);
  scene.budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf });
  const running = scene.budgets.run(0);
  const own = account('old', 100, undefined, true);
  scene.budgets.join({ ...account('k'), account: 'a/elsewhere', apiKey: () => 'k' });
  const used = () => scene.budgets.of(own).limiter.state().used;
  const before = used();
  own.apiKey = () => 'new';
  expect([before, used()]).toEqual([0, 0]);
  own.apiKey = () => 'k';
  expect([used(), used()]).toEqual([100, 100]);
  await scene.budgets.close(0);
  await running;
});

test("who has yet to lead knows of nobody that uses the operator's own key elsewhere", async () => {
  const stored = { texts: [], writtenAt: undefined };
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined });
  scene.budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const own = account('k', 100, undefined, true);
  account('k');
  const used = () => scene.budgets.of(own).limiter.state().used;
  // As a scrape asks, on a replica that waits for the Lease.
  const before = used();
  const running = scene.budgets.run(0);
  const then = used();
  await scene.budgets.close(0);
  await running;
  expect([before, then]).toEqual([0, 0]);
});

test('the keys of an account are told apart where what is sent is on record, and nothing is without a key', async () => {
  const stored = { texts: [], writtenAt: undefined };
  const store = () => ({ read: async () => stored, write: async () => stored, lastsMs: () => undefined, secret: 's' });
  scene.budgets = new Budgets(options, { ...systemRuntime, log: silentLog, store, shardOf: () => 0 });
  const own = account('k');
  const marks = [scene.budgets.keyMarkOf(own)];
  const running = scene.budgets.run(0);
  marks.push(scene.budgets.keyMarkOf(own));
  own.apiKey = () => 'another';
  marks.push(scene.budgets.keyMarkOf(own));
  own.apiKey = () => {
    throw new Error('the Secret was not read');
  };
  marks.push(scene.budgets.keyMarkOf(own));
  await scene.budgets.close(0);
  await running;
  const [before, first, second, none] = marks;
  expect([before, none]).toEqual([undefined, undefined]);
  expect(mayBeTwoKeys(first, second)).toBe(true);
});
