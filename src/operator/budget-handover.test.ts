import { expect, test } from '@jest/globals';
import { silentLog } from '../common/log.ts';
import { BudgetLease } from './budget-lease.ts';
import type { Lease } from './controller/lease.ts';
import { ManualClock } from './controller/manual-clock.fixture.ts';
import { Budgets, type BudgetUser } from './kinds/cloud/accounts/budgets.ts';
import { mostInAMinute } from './kinds/cloud/accounts/use-record.fixture.ts';
import type { KubeClient } from './kube/client.ts';
import { KubeError } from './kube/errors.ts';
import { errorFromResponse } from './kube/status.ts';

/** One Lease on an API server whose calls take a while. */
class SlowApi {
  readonly time: ManualClock;
  latencyMs = 0;
  lease: Lease | undefined;
  /** What the next calls fail with. */
  readonly errors: Error[] = [];
  #version = 0;

  constructor(time: ManualClock) {
    this.time = time;
  }

  readonly client = {
    get: async () => {
      await this.#way();
      this.#fail();
      const found = this.lease;
      await this.#way();
      return found;
    },
    create: (_: unknown, lease: Lease) => this.#put(lease, undefined),
    update: (_: unknown, lease: Lease) => this.#put(lease, lease.metadata.resourceVersion),
  } as unknown as KubeClient;

  async #put(lease: Lease, version: string | undefined): Promise<Lease> {
    await this.#way();
    this.#fail();
    const stands = this.lease?.metadata.resourceVersion;
    if (stands !== version) {
      await this.#way();
      throw new KubeError('writing', {
        status: 409,
        reason: version === undefined ? 'AlreadyExists' : 'Conflict',
        message: 'no',
      });
    }
    this.#version += 1;
    const time = `${new Date(this.time.now()).toISOString().slice(0, 19)}Z`;
    const metadata = { ...lease.metadata, uid: 'uid', resourceVersion: `${this.#version}`, managedFields: [{ time }] };
    const stored = { ...lease, metadata } as Lease;
    this.lease = stored;
    await this.#way();
    return stored;
  }

  #fail(): void {
    const error = this.errors.shift();
    if (error !== undefined) throw error;
  }

  async #way(): Promise<void> {
    if (this.latencyMs > 0) await this.time.sleep(this.latencyMs / 2);
  }
}

const last = 3;
let processes = 0;

interface Started {
  /** In which the account is. */
  readonly shard?: number;
  readonly shards?: number;
  readonly scope?: string;
}

function start(api: SlowApi, sent: number[], { shard = last, shards = last + 1, scope }: Started = {}) {
  const { time } = api;
  processes += 1;
  const name = `p${processes}`;
  const budgets = new Budgets(
    { monotonic: time, requestsPerMinute: 120 },
    {
      monotonic: time,
      random: () => 1,
      uuid: () => name,
      log: silentLog,
      shardOf: () => shard,
      store: (of) =>
        new BudgetLease({
          client: api.client,
          namespace: 'ops',
          scope,
          shard: of,
          shards,
          clock: time,
          monotonic: time,
        }),
    },
  );
  const user: BudgetUser = {
    ...{ account: 'a/own', url: 'https://api.test', apiKey: () => 'key', requestsPerMinute: 120 },
    ...{ isDefault: false, isShared: false },
  };
  budgets.join(user);
  for (let of = 0; of < shards; of += 1) void budgets.run(of);
  const ask = (count: number) => {
    for (let i = 0; i < count; i += 1)
      void budgets
        .of(user)
        .limiter.acquire({ priority: 'change', account: user.account })
        .then((slot) => {
          sent.push(time.now());
          slot.release();
        });
  };
  const close = () => Promise.all(Array.from({ length: shards }, (_, of) => budgets.close(of)));
  return { ask, close };
}

test.each([
  ['an API server that takes 0 ms a call', 0, last],
  ['an API server that takes 200 ms a call', 200, last],
  ['an API server that takes 500 ms a call', 500, last],
  ['an API server that takes 1,000 ms a call', 1_000, last],
  ['another shard, as of an account whose key is the own one by then', 0, 0],
])('%s costs nothing at a handover of all shards', async (_, latencyMs, shard) => {
  const time = new ManualClock();
  const api = new SlowApi(time);
  const sent: number[] = [];
  const first = start(api, sent);
  const pass = async (ms: number) => {
    for (let part = 0; part < 5; part += 1) await time.advance(0);
    await time.advance(ms);
  };
  await pass(20_000);
  first.ask(120);
  await pass(10_000);
  await first.close();
  await pass(1_000);
  api.latencyMs = latencyMs;
  const second = start(api, sent, { shard });
  await pass(0);
  second.ask(200);
  await pass(120_000);
  void second.close();
  await pass(10_000);
  expect([sent.length > 200, mostInAMinute(sent)]).toEqual([true, 120]);
});

test.each([
  [404, '<html>404 no such route</html>'],
  [503, '<html>503 try again</html>'],
])('a %i of something in front of the API server costs nothing after a kill', async (status, page) => {
  const time = new ManualClock();
  const api = new SlowApi(time);
  const sent: number[] = [];
  const first = start(api, sent);
  await time.advance(20_000);
  first.ask(120);
  await time.advance(10_000);
  const refusal = () => errorFromResponse('getting Lease', status, undefined, page);
  api.errors.push(...Array.from({ length: last + 1 }, refusal));
  const second = start(api, sent);
  await time.advance(1_000);
  second.ask(200);
  await time.advance(120_000);
  expect([sent.length > 200, mostInAMinute(sent)]).toEqual([true, 120]);
  await Promise.all([first.close(), second.close()]);
});

test('operators of several namespaces keep the records of each other while they run, and not for good', async () => {
  const time = new ManualClock();
  const api = new SlowApi(time);
  const one = { shard: 0, shards: 1 };
  const [busy, idle] = [start(api, [], { ...one, scope: '["a"]' }), start(api, [], { ...one, scope: '["b"]' })];
  const records = () => Object.keys(api.lease?.metadata.annotations ?? {}).length;
  const recordsAfter = async (hours: number) => {
    const seen = new Set<number>();
    for (let hour = 0; hour < hours; hour += 1) {
      busy.ask(hour % 100);
      await time.advance(3_600_000);
      seen.add(records());
    }
    return [...seen];
  };
  expect(await recordsAfter(26)).toEqual([2]);
  await idle.close();
  expect(await recordsAfter(22)).toEqual([2]);
  await recordsAfter(9);
  expect(records()).toBe(1);
  await busy.close();
});
