import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRuntime } from '../common/runtime.ts';
import { BudgetLease } from './budget-lease.ts';
import { type Lease, leaseType } from './controller/lease.ts';
import { ManualClock } from './controller/manual-clock.fixture.ts';
import type { KubeClient } from './kube/client.ts';
import { KubeError } from './kube/errors.ts';
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

const day = 24 * 3_600_000;
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

test.each([
  ['everything', undefined, 1],
  ['other namespaces', '["b"]', 1],
  ['other namespaces, in shards', '["b"]', 4],
])('what an operator of %s has on record goes when it has stood unchanged for a day', async (_, scope, shards) => {
  const [idle, gone, own] = [lease(2, 0, '["c"]'), lease(shards, 0, scope), lease(2, 0, '["a"]')];
  await write(idle, 7);
  await write(gone, 30);
  const opens = async () => {
    const stored = [idle, lease(shards, 0, scope), lease(2, 0, '["a"]')].map((each) => each.read(never));
    return (await Promise.all(stored)).map(({ texts }) => opensIn(texts));
  };
  await write(own, 1);
  await monotonic.advance(day - 1);
  await own.write(record(2), never);
  const before = await opens();
  await write(idle, 8);
  await monotonic.advance(1);
  // Of the two the one was changed, of which this one does not know yet.
  expect(await own.write(record(3), never)).toBeDefined();
  expect([before, await opens()]).toEqual([
    [[7], [30], [2]],
    [[8], [], [3]],
  ]);
});

test('what a process does not know to have stood for a day stays, and so does what is no record', async () => {
  await write(lease(1, 0, '["b"]'), 30);
  const stored = async () =>
    (await client.get<Lease>(leaseType, { namespace: 'ops', name: 'edge-operator-budget' })) as Lease;
  const { metadata, ...rest } = await stored();
  const annotations = { ...metadata.annotations, note: 'of a person' };
  await client.update<Lease>(leaseType, { ...rest, metadata: { ...metadata, annotations } });
  await monotonic.advance(day);
  const own = lease(1, 0, '["a"]');
  for (const open of [1, 2]) {
    await write(own, open);
    expect(opensIn((await lease(1, 0, '["b"]').read(never)).texts)).toEqual([30]);
    await monotonic.advance(day / 2);
  }
  await write(own, 3);
  expect(Object.values((await stored()).metadata.annotations ?? {})).toEqual(['of a person', record(3)]);
});

test.each([
  ['there is no such namespace', 404, 'NotFound', 0],
  ['something in front of the API server answers 404', 404, undefined, 60_000],
  ['something in front of the API server answers 503', 503, undefined, undefined],
  ['the API server is asked too much', 429, 'TooManyRequests', undefined],
  ['the right is missing', 403, 'Forbidden', 60_000],
])('where %s, it may be kept again by itself, later or never', (_, status, reason, lastsMs) => {
  expect(lease(1).lastsMs(new KubeError('getting Lease', { status, reason, message: 'no' }))).toBe(lastsMs);
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
