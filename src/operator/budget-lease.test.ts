import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRuntime } from '../common/runtime.ts';
import { BudgetLease } from './budget-lease.ts';
import { ManualClock } from './controller/manual-clock.fixture.ts';
import type { KubeClient } from './kube/client.ts';
import { FakeApi } from './kube/fake-api.fixture.ts';

let api: FakeApi;
let client: KubeClient;
let monotonic: ManualClock;
beforeEach(async () => {
  api = await FakeApi.start();
  client = await api.client();
  monotonic = new ManualClock();
});
afterEach(() => api.stop());

const never = new AbortController().signal;
const lease = (shards: number, shard = 0, scope?: string) =>
  new BudgetLease({ ...systemRuntime, client, monotonic, namespace: 'ops', scope, shard, shards });
const record = (open: number) => JSON.stringify({ free: false, starts: [], accounts: { 'a/own': { open, past: [] } } });
const opensIn = (texts: readonly string[]) => texts.map((text) => JSON.parse(text).accounts['a/own']?.open);

async function write(store: BudgetLease, open: number): Promise<void> {
  await store.read(never);
  expect(await store.write(record(open), never)).toBeDefined();
}

test('each shard has a record of its own, and nothing of the others', async () => {
  await write(lease(2, 0), 7);
  await write(lease(2, 1), 9);
  expect(opensIn((await lease(2, 0).read(never)).texts)).toEqual([7]);
  expect(opensIn((await lease(2, 1).read(never)).texts)).toEqual([9]);
});

test('what those have on record who divided the work otherwise counts for all, until a minute after it was last changed', async () => {
  await write(lease(1), 30);
  const shard = lease(2, 1);
  await write(shard, 5);
  expect(opensIn((await lease(2, 0).read(never)).texts)).toEqual([30]);
  expect(opensIn((await lease(2, 1).read(never)).texts)).toEqual([5, 30]);
  expect(opensIn((await lease(1).read(never)).texts)).toEqual([30, 5]);
  await monotonic.advance(60_000);
  await shard.write(record(6), never);
  expect(opensIn((await lease(2, 0).read(never)).texts)).toEqual([]);
  expect(opensIn((await lease(2, 1).read(never)).texts)).toEqual([6]);
});

test('the records of all shards together fit into the annotations of one object, twice', () => {
  expect([lease(1).most, lease(4).most]).toEqual([100_000, 25_000]);
});

test('what tells keys apart is the same for each process, from the first record on', async () => {
  const [first, second] = [lease(2, 0), lease(2, 1)];
  expect(first.secret).toBeUndefined();
  await write(first, 7);
  await second.read(never);
  expect(first.secret).toMatch(/./);
  expect(second.secret).toBe(first.secret);
});

test('an operator of other namespaces is none of its business', async () => {
  await write(lease(1, 0, '["b"]'), 30);
  await write(lease(4, 3, '["b"]'), 30);
  expect((await lease(2, 0).read(never)).texts).toEqual([]);
  expect((await lease(2, 0, '["a"]').read(never)).texts).toEqual([]);
});

test('a record is dated by the API server and by who wrote it', async () => {
  const before = Date.now();
  const store = lease(1);
  expect((await store.read(never)).writtenAt).toBeUndefined();
  await write(store, 7);
  const { writtenAt } = await lease(1).read(never);
  expect(writtenAt?.writers).toBeGreaterThanOrEqual(before);
  expect(writtenAt?.keepers).toBeGreaterThanOrEqual(before - 1_000);
});
