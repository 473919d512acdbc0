import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { KubeClient } from '../kube/client.ts';
import { KubeError } from '../kube/errors.ts';
import { FakeApi, until } from '../kube/fake-api.fixture.ts';
import { Leadership, LeadershipLostError } from './leadership.ts';
import { type Lease, type LeaseName, leaseType } from './lease.ts';
import { ManualClock } from './manual-clock.fixture.ts';

let api: FakeApi;
let client: KubeClient;
const replicas: Replica[] = [];

/** So that a busy machine deposes nobody. */
const times = { leaseDurationMs: 10_000, renewDeadlineMs: 8_000, retryPeriodMs: 40 };

beforeEach(async () => {
  api = await FakeApi.start();
  client = await api.client();
});

afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await api.stop();
});

class Replica {
  readonly held = new Set<number>();
  readonly leadership: Leadership;
  readonly ended: Promise<unknown>;
  readonly #stop = new AbortController();

  constructor(identity: string, shards: number, more: Partial<typeof times> = {}) {
    const lease = { namespace: 'ops', name: 'operator', identity, log: silentLog, ...times, ...more };
    this.leadership = new Leadership({ shards, lease: { ...systemRuntime, client, ...lease } });
    const hold = async (shard: number, term: AbortSignal) => {
      this.held.add(shard);
      await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve()));
      this.held.delete(shard);
    };
    this.ended = this.leadership.run(this.#stop.signal, hold).catch((error: unknown) => error);
    replicas.push(this);
  }

  get mayCall(): boolean {
    try {
      this.leadership.check();
      return true;
    } catch {
      return false;
    }
  }

  stop(): Promise<unknown> {
    this.#stop.abort();
    return this.ended;
  }
}

const holderOf = async (name: string) =>
  (await client.get<Lease>(leaseType, { namespace: 'ops', name }))?.spec?.holderIdentity;

test('one shard is the Lease itself, and nobody is asked for it', async () => {
  const one = new Replica('one', 1);
  await until('a leader', () => one.held.has(0));
  const two = new Replica('two', 1);
  await until('looks', () => api.requests.filter(({ method }) => method === 'GET').length > 5);
  expect([await holderOf('operator'), one.mayCall, two.mayCall]).toEqual(['one', true, false]);
  await one.stop();
  await until('the next', () => two.held.has(0));
});

test('several are shared out, each with one holder at every moment, and come back when a replica ends', async () => {
  const one = new Replica('one', 4);
  await until('all of them', () => one.held.size === 4);
  expect(await holderOf('operator')).toBe('4 shards');
  const two = new Replica('two', 4);
  await until('half of them', () => {
    expect([...one.held].filter((shard) => two.held.has(shard))).toEqual([]);
    return one.held.size === 2 && two.held.size === 2;
  });
  expect([one.mayCall, two.mayCall]).toEqual([true, true]);
  await one.stop();
  expect([one.held.size, one.mayCall]).toEqual([0, false]);
  await until('all of them', () => two.held.size === 4);
});

test('those who think of another number wait until none of the others is left', async () => {
  const four = new Replica('four', 4);
  await until('all of them', () => four.held.size === 4);
  const others = [new Replica('one', 1), new Replica('two', 2)];
  const looks = api.requests.length;
  await until('some looks', () => api.requests.length > looks + 60);
  expect(others.map(({ held, mayCall }) => [held.size, mayCall])).toEqual([
    [0, false],
    [0, false],
  ]);
  expect(four.held.size).toBe(4);
});

test('those who are left go on when their number is another, once the Lease has run out', async () => {
  const brief = { leaseDurationMs: 2_000, renewDeadlineMs: 1_600 };
  const two = new Replica('two', 2, brief);
  await until('both of them', () => two.held.size === 2);
  const one = new Replica('one', 1);
  await two.stop();
  // Others of the same number may believe that they hold it.
  expect(await holderOf('operator')).toBe('2 shards');
  expect(one.held.size).toBe(0);
  await until('the only one', () => one.held.size === 1);
});

test('the Lease of a shard that somebody deletes is made again', async () => {
  const one = new Replica('one', 2);
  await until('both of them', () => one.held.size === 2);
  const isMade = ({ method, path }: { method: string; path: string }) => method === 'POST' && path.endsWith('/leases');
  const made = api.requests.filter(isMade).length;
  await client.delete(leaseType, { namespace: 'ops', name: 'operator-1' });
  await until('another Lease', () => api.requests.filter(isMade).length > made);
  expect([one.held.size, one.mayCall, await holderOf('operator-1')]).toEqual([2, true, 'one']);
});

test('who loses one shard ends with all', async () => {
  const one = new Replica('one', 2);
  await until('both of them', () => one.held.size === 2);
  const thief = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 100 } };
  await client.patch(leaseType, { namespace: 'ops', name: 'operator-1' }, { type: 'merge', body: thief });
  expect(await one.ended).toBeInstanceOf(LeadershipLostError);
  expect([one.held.size, one.mayCall, await holderOf('operator-0')]).toEqual([0, false, '']);
});

test('without leader election all of them are held all the time', async () => {
  const leadership = new Leadership({ shards: 3, lease: undefined });
  const held: number[] = [];
  const stop = new AbortController();
  const running = leadership.run(stop.signal, async (shard) => void held.push(shard));
  await running;
  leadership.check();
  expect(held).toEqual([0, 1, 2]);
});

/** Leases that are read and written in no time, as a clock needs that stands still. */
function leasesInMemory(): KubeClient {
  const leases = new Map<string, Lease>();
  let version = 0;
  const put = async (_: unknown, lease: Lease): Promise<Lease> => {
    const { name, resourceVersion } = lease.metadata;
    if (leases.get(name)?.metadata.resourceVersion !== resourceVersion)
      throw new KubeError('writing', { status: 409, reason: 'Conflict', message: 'not the newest' });
    version += 1;
    const written = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(version) } };
    leases.set(name, written);
    return written;
  };
  const get = async (_: unknown, { name }: LeaseName) => leases.get(name);
  return { get, create: put, update: put } as unknown as KubeClient;
}

test.each([13_000, 18_000])('a shard whose work takes %i ms to end goes to who asked, once', async (windingUpMs) => {
  const time = new ManualClock();
  const memory = leasesInMemory();
  const stop = new AbortController();
  const begun: string[] = [];
  const start = (identity: string) => {
    const lease = { client: memory, namespace: 'ops', name: 'operator', identity, log: silentLog };
    const runtime = { clock: time, monotonic: time, random: () => 0.5 };
    const hold = async (_: number, term: AbortSignal) => {
      begun.push(identity);
      await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve()));
      await time.sleep(windingUpMs);
    };
    return new Leadership({ shards: 4, lease: { ...lease, ...runtime } }).run(stop.signal, hold);
  };
  const running = [start('one')];
  await time.advance(30_000);
  running.push(start('two'));
  await time.advance(180_000);
  expect(begun).toEqual(['one', 'one', 'one', 'one', 'two', 'two']);
  stop.abort();
  await time.advance(30_000);
  await Promise.all(running);
});
