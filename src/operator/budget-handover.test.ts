import { expect, test } from '@jest/globals';
import { silentLog } from '../common/log.ts';
import { BudgetLease } from './budget-lease.ts';
import type { Lease } from './controller/lease.ts';
import { ManualClock } from './controller/manual-clock.fixture.ts';
import { Budgets, type BudgetUser } from './kinds/cloud/accounts/budgets.ts';
import type { KubeClient } from './kube/client.ts';
import { KubeError } from './kube/errors.ts';

/** One Lease on an API server whose calls take a while. */
class SlowApi {
  readonly time: ManualClock;
  latencyMs = 0;
  lease: Lease | undefined;
  #version = 0;

  constructor(time: ManualClock) {
    this.time = time;
  }

  readonly client = {
    get: async () => {
      await this.#way();
      const found = this.lease;
      await this.#way();
      return found;
    },
    create: (_: unknown, lease: Lease) => this.#put(lease, undefined),
    update: (_: unknown, lease: Lease) => this.#put(lease, lease.metadata.resourceVersion),
  } as unknown as KubeClient;

  async #put(lease: Lease, version: string | undefined): Promise<Lease> {
    await this.#way();
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

  async #way(): Promise<void> {
    if (this.latencyMs > 0) await this.time.sleep(this.latencyMs / 2);
  }
}

const shards = 4;
const last = shards - 1;
let processes = 0;

/** @param shard in which the account is */
function start(api: SlowApi, sent: number[], shard = last) {
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
        new BudgetLease({ client: api.client, namespace: 'ops', shard: of, shards, clock: time, monotonic: time }),
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
  const second = start(api, sent, shard);
  await pass(0);
  second.ask(200);
  await pass(120_000);
  void second.close();
  await pass(10_000);
  const most = Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + 60_000).length));
  expect([sent.length > 200, most]).toEqual([true, 120]);
});
