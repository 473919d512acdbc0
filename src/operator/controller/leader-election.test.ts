import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { KubeClient } from '../kube/client.ts';
import { FakeApi, json, type SeenRequest, status, until } from '../kube/fake-api.fixture.ts';
import { LeaderElector } from './leader-election.ts';
import { claimed, type Lease, leaseType } from './lease.ts';
import { ManualClock } from './manual-clock.fixture.ts';

let api: FakeApi;
let client: KubeClient;
const path = '/apis/coordination.k8s.io/v1/namespaces/ops/leases/operator';
const isWrite = (request: SeenRequest) => request.method !== 'GET';

beforeEach(async () => {
  api = await FakeApi.start();
  client = await api.client();
});

afterEach(() => api.stop());

/** So that a busy machine deposes nobody: what is to be quick is quicker than these by far. */
const times = { leaseDurationMs: 10_000, renewDeadlineMs: 6_000, retryPeriodMs: 60 };
/** Some ten times shorter than the defaults, for those that are to be deposed. */
const deadlineMs = 800;
const doomed = { leaseDurationMs: 1_500, renewDeadlineMs: deadlineMs };

function replica(
  identity: string,
  options: Partial<typeof times> & { readonly monotonic?: ManualClock; readonly log?: Log } = {},
) {
  const elector = new LeaderElector({
    ...systemRuntime,
    client,
    namespace: 'ops',
    name: 'operator',
    identity,
    log: silentLog,
    ...times,
    ...options,
  });
  const stop = new AbortController();
  const terms: AbortSignal[] = [];
  const finish = Promise.withResolvers<void>();
  const lead = async (leading: AbortSignal) => {
    terms.push(leading);
    await new Promise<void>((resolve) => {
      leading.addEventListener('abort', () => resolve());
      void finish.promise.then(resolve);
    });
  };
  const ended = elector.run({ signal: stop.signal, lead });
  const shutDown = async () => {
    stop.abort();
    finish.resolve();
    return ended;
  };
  return { elector, terms, ended, stop, finish, shutDown };
}

async function leaseNow(): Promise<Lease['spec']> {
  return (await client.get<Lease>(leaseType, { namespace: 'ops', name: 'operator' }))?.spec;
}

test('one of two leads, renews, and hands over at once when it shuts down', async () => {
  const one = replica('one');
  await until('a leader', () => one.terms.length === 1);
  const told: string[] = [];
  const two = replica('two', { log: { ...silentLog, info: (message) => void told.push(message) } });
  await until('renewals', () => api.requests.filter((request) => request.method === 'PUT').length >= 3);
  expect([one.elector.holdsLease(), two.elector.holdsLease(), two.terms.length]).toEqual([true, false, 0]);
  expect(told).toEqual(['waiting for leadership', 'one leads; waiting for it to give that up']);
  expect(await leaseNow()).toMatchObject({ holderIdentity: 'one', leaseTransitions: 0, leaseDurationSeconds: 10 });
  const startedAt = Date.now();
  expect(await one.shutDown()).toBe('finished');
  await until('the successor', () => two.terms.length === 1);
  expect(Date.now() - startedAt).toBeLessThan(times.leaseDurationMs / 2);
  expect(await leaseNow()).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  expect((await leaseNow())?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  await two.shutDown();
  expect(await leaseNow()).toMatchObject({ holderIdentity: '' });
});

test('while it winds up a leader still leads; only then is the lease given away', async () => {
  const one = replica('one');
  await until('a leader', () => one.terms.length === 1);
  one.stop.abort();
  const renewals = api.requests.length;
  await until('more renewals', () => api.requests.length >= renewals + 3);
  expect(one.elector.holdsLease()).toBe(true);
  expect(one.terms[0]?.aborted).toBe(false);
  one.finish.resolve();
  expect(await one.ended).toBe('finished');
  expect(one.elector.holdsLease()).toBe(false);
  expect(await leaseNow()).toMatchObject({ holderIdentity: '' });
});

test('a lease that somebody wrote to just before is given away all the same', async () => {
  const one = replica('one');
  await until('a leader', () => one.terms.length === 1);
  const isRelease = (request: SeenRequest) => request.method === 'PUT' && request.body.includes('"holderIdentity":""');
  api.script(isRelease, async (response) => {
    const body = { metadata: { annotations: { 'edge-operator.dev/asked-for-by': 'two' } } };
    await client.patch(leaseType, { namespace: 'ops', name: 'operator' }, { type: 'merge', body });
    status(response, 409, 'Conflict');
  });
  await one.shutDown();
  expect(await leaseNow()).toMatchObject({ holderIdentity: '' });
});

test('a crashed leader is followed when its lease has not changed for its duration, whatever its clock said', async () => {
  const long = { renewTime: '2099-01-01T00:00:00.000000Z', acquireTime: '2099-01-01T00:00:00.000000Z' };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'ops', name: 'operator' },
  };
  await client.create<Lease>(leaseType, {
    ...lease,
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 1, leaseTransitions: 4, ...long },
  });
  const startedAt = Date.now();
  const two = replica('two');
  await until('the takeover', () => two.terms.length === 1);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
  expect(Date.now() - startedAt).toBeLessThan(times.leaseDurationMs / 2);
  expect(await leaseNow()).toMatchObject({ holderIdentity: 'two', leaseTransitions: 5 });
  await two.shutDown();
});

test('a Lease whose count of changes somebody filled up can be taken', () => {
  const full = { holderIdentity: 'dead', leaseTransitions: 2_147_483_647 };
  expect(claimed(full, 'two', 10_000, 0).leaseTransitions).toBe(2_147_483_647);
});

const patched = (body: object) => () =>
  client.patch(leaseType, { namespace: 'ops', name: 'operator' }, { type: 'merge', body });

test.each([
  ['deletes', async () => api.forget(path)],
  ['takes the holder out of', patched({ spec: { holderIdentity: '' } })],
  ['empties', patched({ spec: null })],
])("a Lease that somebody %s is still its holder's, until it would have expired", async (_what, spoil) => {
  const one = replica('one');
  await until('a leader', () => one.terms.length === 1);
  const two = replica('two');
  await until('a look', () => two.elector.holder === 'one');
  // It hears of that later than the other.
  const isOnes = (request: SeenRequest) => isWrite(request) && request.body.includes('"one"');
  for (let time = 0; time < 3; time++) api.script(isOnes, (response) => status(response, 503, 'ServiceUnavailable'));
  await spoil();
  const renewals = api.requests.filter(isWrite).length;
  await until('another Lease', () => api.requests.filter(isWrite).length > renewals + 6);
  expect([one.elector.holdsLease(), two.elector.holdsLease(), two.terms.length]).toEqual([true, false, 0]);
  expect(await leaseNow()).toMatchObject({ holderIdentity: 'one' });
  await Promise.all([one.shutDown(), two.shutDown()]);
});

test('a Lease that is deleted after its holder died is made by another when it would have expired', async () => {
  const metadata = { namespace: 'ops', name: 'operator' };
  const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1 };
  await client.create<Lease>(leaseType, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  const startedAt = Date.now();
  const two = replica('two');
  await until('a look', () => two.elector.holder === 'dead');
  api.forget(path);
  await until('the takeover', () => two.terms.length === 1);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
  await two.shutDown();
});

describe('a leader that cannot renew', () => {
  /** What it tells of the loss, and of what else is worth a look. */
  function teller() {
    const told: string[] = [];
    const tell = (message: string) => void told.push(message);
    return { told, log: { ...silentLog, info: tell, error: tell } };
  }

  test('is deposed at the deadline, and what it led has returned before run does', async () => {
    const { told, log } = teller();
    const one = replica('one', { ...doomed, log });
    await until('a leader', () => one.terms.length === 1);
    for (let time = 0; time < 100; time++)
      api.script(
        () => true,
        (response) => status(response, 500, 'InternalError'),
      );
    await until('the deposition', () => one.terms[0]?.aborted === true);
    expect(one.elector.holdsLease()).toBe(false);
    expect(await one.ended).toBe('deposed');
    expect(told.at(-1)).toBe('lost leadership: the lease could not be renewed in time');
  });

  test('is deposed although the API server never answers', async () => {
    const one = replica('one', doomed);
    await until('a leader', () => one.terms.length === 1);
    for (let time = 0; time < 100; time++) api.script(isWrite, () => {});
    const startedAt = Date.now();
    expect(await one.ended).toBe('deposed');
    expect(Date.now() - startedAt).toBeLessThan(times.renewDeadlineMs);
  });

  test('survives an outage that is shorter than the deadline', async () => {
    const one = replica('one');
    await until('a leader', () => one.terms.length === 1);
    for (let time = 0; time < 2; time++) api.script(isWrite, (response) => response.socket?.resetAndDestroy());
    const renewals = api.requests.length;
    await until('renewals after it', () => api.requests.length >= renewals + 8);
    expect(one.elector.holdsLease()).toBe(true);
    await one.shutDown();
  });

  test('goes on after a renewal whose answer was lost', async () => {
    const one = replica('one');
    await until('a leader', () => one.terms.length === 1);
    api.script(isWrite, (response, request) => {
      void client.update(leaseType, JSON.parse(request.body)).then(
        () => response.socket?.resetAndDestroy(),
        () => response.socket?.resetAndDestroy(),
      );
    });
    const renewals = api.requests.length;
    await until('renewals after it', () => api.requests.length >= renewals + 8);
    expect([one.elector.holdsLease(), one.terms.length]).toEqual([true, 1]);
    await one.shutDown();
  });

  test('is deposed at once when it sees another holder', async () => {
    const { told, log } = teller();
    const one = replica('one', { log });
    await until('a leader', () => one.terms.length === 1);
    await client.patch(
      leaseType,
      { namespace: 'ops', name: 'operator' },
      { type: 'merge', body: { spec: { holderIdentity: 'thief', leaseDurationSeconds: 1 } } },
    );
    expect(await one.ended).toBe('deposed');
    expect(await leaseNow()).toMatchObject({ holderIdentity: 'thief' });
    expect(told).toEqual(['waiting for leadership', 'became the leader', 'lost leadership: thief has taken the lease']);
  });
});

test('a process that was stopped does not hold the lease when it wakes', async () => {
  const monotonic = new ManualClock();
  const one = replica('one', { ...doomed, monotonic });
  await until('a leader', () => one.terms.length === 1);
  monotonic.freeze(deadlineMs - 1);
  expect(one.elector.holdsLease()).toBe(true);
  monotonic.freeze(1);
  expect(one.elector.holdsLease()).toBe(false);
  await monotonic.advance(0);
  await until('the deposition', () => one.terms[0]?.aborted === true);
  expect(await one.ended).toBe('deposed');
});

test('the deadline counts from the start of a renewal, not from its answer', async () => {
  const monotonic = new ManualClock();
  api.script(isWrite, async (response, request) => {
    const lease = await client.create(leaseType, JSON.parse(request.body));
    monotonic.freeze(500);
    json(response, 201, lease);
  });
  const one = replica('one', { ...doomed, monotonic });
  await until('a leader', () => one.terms.length === 1);
  monotonic.freeze(deadlineMs - 501);
  expect(one.elector.holdsLease()).toBe(true);
  monotonic.freeze(1);
  expect(one.elector.holdsLease()).toBe(false);
  await monotonic.advance(0);
  expect(await one.ended).toBe('deposed');
});

test('what leading rejects with is passed on, and the lease is released', async () => {
  const elector = new LeaderElector({
    ...systemRuntime,
    ...{ client, namespace: 'ops', name: 'operator', identity: 'one', log: silentLog },
  });
  const run = elector.run({ signal: new AbortController().signal, lead: () => Promise.reject(new Error('no kinds')) });
  await expect(run).rejects.toThrow('no kinds');
  expect(await leaseNow()).toMatchObject({ holderIdentity: '' });
  expect(api.requests.map((request) => request.path)).toContain(path);
});

test('durations that cannot keep two leaders apart are refused', () => {
  const options = { ...systemRuntime, client, namespace: 'ops', name: 'operator', identity: 'one', log: silentLog };
  expect(() => new LeaderElector({ ...options, leaseDurationMs: 5_000 })).toThrow(RangeError);
});

test('a Lease of a backup, of when a process had it that has given it away since, is not taken from who has it', async () => {
  const slow = { leaseDurationMs: 1_500, renewDeadlineMs: 1_000, retryPeriodMs: 600 };
  const before = replica('two');
  await until('two leads', () => before.terms.length === 1);
  const backup = (await client.get<Lease>(leaseType, { namespace: 'ops', name: 'operator' }))?.spec;
  before.finish.resolve();
  await before.ended;
  const one = replica('one', slow);
  await until('one leads', () => one.terms.length === 1);
  const lease = (await client.get<Lease>(leaseType, { namespace: 'ops', name: 'operator' })) as Lease;
  await client.update<Lease>(leaseType, { ...lease, spec: { ...backup, leaseDurationSeconds: 2 } });
  const met: boolean[] = [];
  const signal = AbortSignal.timeout(30_000);
  await before.elector.run({ signal, lead: async () => void met.push(one.elector.holdsLease()) });
  expect(met).toEqual([false]);
  await one.shutDown();
});

test('a Lease that could not be given away is its holder’s as before', async () => {
  const one = replica('one');
  await until('one leads', () => one.terms.length === 1);
  let refused = 0;
  const isGift = (request: SeenRequest) => isWrite(request) && request.body.includes('"holderIdentity":""');
  api.script(isGift, (response) => {
    refused += 1;
    status(response, 500, 'InternalError');
  });
  one.finish.resolve();
  await one.ended;
  const began = performance.now();
  await one.elector.run({ signal: AbortSignal.timeout(30_000), lead: async () => {} });
  expect(refused).toBe(1);
  expect(performance.now() - began).toBeLessThan(times.leaseDurationMs / 2);
});
