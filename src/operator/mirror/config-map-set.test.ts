import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { Endpoint } from '../cloud/schemas.ts';
import { ManualClock } from '../controller/manual-clock.fixture.ts';
import type { KubeClient, WatchEvent } from '../kube/client.ts';
import { KubeError } from '../kube/errors.ts';
import type { ObjectRef } from '../kube/types.ts';
import { type ConfigMap, endpointJSON, endpointName } from './config-map.ts';
import { ConfigMapSet } from './config-map-set.ts';

const namespace = 'team';
const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];

/** ConfigMaps of a namespace, some of which are not the mirror's and not told of. */
class FakeApi {
  /** What is asked, as `create NAME`. */
  readonly asked: string[] = [];
  /** So many may be there. */
  quota = Number.POSITIVE_INFINITY;
  /** Why this is refused besides: a status. */
  refuse: (verb: string, name: string) => number | undefined = () => undefined;
  readonly objects = new Map<string, ConfigMap>();
  readonly foreign = new Set<string>();
  #version = 1;
  readonly #events: WatchEvent<ConfigMap>[] = [];
  #wake = Promise.withResolvers<void>();

  readonly history = { era: 0, doubt: () => {} };

  async *watch(_type: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<WatchEvent<ConfigMap>> {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    yield {
      type: 'BOOKMARK',
      object: { ...this.#object(''), metadata: { name: '', resourceVersion: '1', annotations } },
    } as WatchEvent<ConfigMap>;
    signal.addEventListener('abort', () => this.#wake.resolve());
    while (!signal.aborted) {
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) yield event;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  async get(_type: unknown, { name }: ObjectRef): Promise<ConfigMap | undefined> {
    this.#ask('get', name);
    return this.foreign.has(name) ? this.#object(name) : this.objects.get(name);
  }

  async create(_type: unknown, object: ConfigMap): Promise<ConfigMap> {
    const { name } = object.metadata;
    this.#ask('create', name);
    if (this.objects.size >= this.quota) throw refusal(403);
    if (this.foreign.has(name)) throw refusal(409, 'AlreadyExists');
    return this.#store(object);
  }

  async update(_type: unknown, object: ConfigMap): Promise<ConfigMap> {
    this.#ask('update', object.metadata.name);
    return this.#store(object);
  }

  async delete(_type: unknown, { name }: ObjectRef): Promise<void> {
    this.#ask('delete', name);
    this.remove(name);
  }

  /** Somebody deletes it. */
  remove(name: string): void {
    const object = this.objects.get(name) ?? this.#object(name);
    this.objects.delete(name);
    const metadata = { ...object.metadata, resourceVersion: `${++this.#version}` };
    this.#events.push({ type: 'DELETED', object: { ...object, metadata } });
    this.#wake.resolve();
  }

  #ask(verb: string, name: string): void {
    this.asked.push(`${verb} ${name}`);
    const status = this.refuse(verb, name);
    if (status !== undefined) throw refusal(status);
  }

  #store(object: ConfigMap): ConfigMap {
    const resourceVersion = `${++this.#version}`;
    const stored = { ...object, metadata: { uid: resourceVersion, ...object.metadata, resourceVersion } };
    this.objects.set(object.metadata.name, stored);
    return stored;
  }

  #object(name: string): ConfigMap {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, uid: `u-${name}` } };
  }
}

function refusal(status: number, reason = ''): KubeError {
  return new KubeError('writing', { status, reason, message: 'no' });
}

const endpoint = (id: string, region = 'us'): Endpoint => ({
  id,
  region,
  created_at: '',
  updated_at: '',
  public_url: `tcp://${id}.example.test:1`,
  proto: 'tcp',
  hostport: `${id}.example.test:1`,
  type: 'ephemeral',
});
const ids = (count: number, prefix = 'ep') => Array.from({ length: count }, (_, index) => `${prefix}_${index}`);

let clock: ManualClock;
let api: FakeApi;
let set: ConfigMapSet;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  clock = new ManualClock();
  api = new FakeApi();
  const client = api as unknown as KubeClient;
  const runtime = { ...systemRuntime, monotonic: clock, random: () => 1 };
  set = new ConfigMapSet({ ...runtime, account: 'default', reader: client, client, namespace, log: silentLog });
  stop = new AbortController();
  running = set.run(stop.signal, async () => {});
  await clock.advance(0);
});
afterEach(async () => {
  stop.abort();
  await running;
});

/** What is asked while so much time passes. */
async function askedIn(ms: number): Promise<readonly string[]> {
  api.asked.length = 0;
  // A controller begins so many before everything else has its turn.
  for (let turn = 0; turn < 10; turn += 1) await clock.advance(0);
  await clock.advance(ms);
  for (let turn = 0; turn < 10; turn += 1) await clock.advance(0);
  return [...api.asked];
}

const want = (wanted: readonly string[], region?: string) => {
  for (const id of wanted) set.want(endpointName(id), endpointJSON(endpoint(id, region)));
};
const has = (id: string) => api.objects.has(endpointName(id));

describe('creates that are refused', () => {
  test.each([
    ['for want of a right', 403],
    ['by a policy', 422],
    ['for want of the namespace', 404],
  ])('%s: each is tried once, then one for all', async (_why, status) => {
    api.refuse = (verb) => (verb === 'create' ? status : undefined);
    want(ids(300));
    const asked = await askedIn(minuteMs);
    expect(new Set(asked).size).toBe(300);
    expect(asked.length).toBeLessThan(310);
    expect((await askedIn(hourMs)).length).toBeLessThanOrEqual(121);
    expect([set.size, set.pending, set.cause]).toEqual([0, 300, status === 404 ? undefined : 'no right']);
  });

  test('are not tried sooner because their endpoints change', async () => {
    api.quota = 0;
    want(ids(300));
    await askedIn(hourMs);
    let asked = 0;
    for (let sweep = 0; sweep < 10; sweep += 1) {
      want(ids(300), `region-${sweep}`);
      asked += (await askedIn(minuteMs)).length;
    }
    expect(asked).toBeLessThanOrEqual(21);
    api.quota = 300;
    await askedIn(35 * secondMs);
    expect(api.objects.get(endpointName('ep_9'))?.data?.region).toBe('region-9');
  });

  test('go on all at once when one is through', async () => {
    api.quota = 100;
    want(ids(300));
    await askedIn(hourMs);
    expect(api.objects.size).toBe(100);
    api.quota = 1_000;
    await askedIn(35 * secondMs);
    expect([api.objects.size, set.pending, set.error]).toEqual([300, 0, undefined]);
  });

  test('of which a few are through: the rest is not all tried for that', async () => {
    api.quota = 100;
    want(ids(300));
    await askedIn(hourMs);
    api.quota = 102;
    expect((await askedIn(5 * minuteMs)).length).toBeLessThan(30);
    expect(api.objects.size).toBe(102);
  });

  test('by what is alone in that hold up no other', async () => {
    const odd = new Set(ids(20, 'odd').map(endpointName));
    api.refuse = (_, name) => (odd.has(name) ? 422 : undefined);
    want(ids(20, 'odd'));
    await askedIn(hourMs);
    want(ids(50));
    await askedIn(secondMs);
    expect([api.objects.size, set.pending]).toEqual([50, 20]);
  });

  test('hold up no update, no delete and no restoration', async () => {
    want(ids(3, 'old'));
    await askedIn(secondMs);
    api.quota = 3;
    want(ids(100));
    await askedIn(10 * minuteMs);
    want(['old_0'], 'eu');
    await askedIn(secondMs);
    expect(api.objects.get(endpointName('old_0'))?.data?.region).toBe('eu');
    api.quota = 4;
    api.remove(endpointName('old_1'));
    await askedIn(secondMs);
    expect(has('old_1')).toBe(true);
    set.complete(new Set([...ids(100), 'old_0', 'old_1'].map(endpointName)));
    await askedIn(secondMs);
    expect(has('old_2')).toBe(false);
  });

  test('are over for endpoints that end, and another has its turn', async () => {
    api.quota = 0;
    want(ids(50));
    await askedIn(hourMs);
    set.complete(new Set(ids(2).map(endpointName)));
    await askedIn(secondMs);
    expect(set.pending).toBe(2);
    api.quota = 10;
    await askedIn(35 * secondMs);
    expect(set.pending).toBe(0);
  });

  test('and then fail otherwise, as while the API server is away, wait for their turns as before', async () => {
    api.quota = 0;
    want(ids(50));
    await askedIn(hourMs);
    api.refuse = () => 503;
    expect((await askedIn(hourMs)).length).toBeLessThanOrEqual(121);
    [api.refuse, api.quota] = [() => undefined, 100];
    await askedIn(35 * secondMs);
    expect(api.objects.size).toBe(50);
  });
});

test.each(['update', 'delete'])('a refused %s is tried once of each, then of one for all', async (verb) => {
  want(ids(100));
  await askedIn(secondMs);
  api.refuse = (asked) => (asked === verb ? 403 : undefined);
  if (verb === 'update') want(ids(100), 'eu');
  else set.complete(new Set());
  expect((await askedIn(minuteMs)).length).toBeLessThan(110);
  want(['new']);
  await askedIn(secondMs);
  expect(has('new')).toBe(true);
  api.refuse = () => undefined;
  await askedIn(35 * secondMs);
  expect(set.pending).toBe(0);
});

describe("somebody else's ConfigMaps", () => {
  test('hold up no other, and one is looked at again every half minute', async () => {
    api.foreign.add(endpointName('ep_0'));
    want(ids(100));
    await askedIn(secondMs);
    expect([api.objects.size, set.pending, set.cause]).toEqual([99, 1, 'in the way']);
    await askedIn(10 * minuteMs);
    api.foreign.clear();
    await askedIn(31 * secondMs);
    expect([has('ep_0'), set.pending]).toEqual([true, 0]);
  });

  test('are looked at again one at a time where there are many, and all at once when one is gone', async () => {
    for (const id of ids(300)) api.foreign.add(endpointName(id));
    want(ids(310));
    await askedIn(minuteMs);
    expect(api.objects.size).toBe(10);
    // Each costs a create and a get.
    expect((await askedIn(hourMs)).length).toBeLessThanOrEqual((2 * hourMs) / (5 * secondMs));
    api.foreign.clear();
    await askedIn(10 * secondMs);
    expect(set.pending).toBe(0);
  });

  test('are each looked at again within half a minute where there are a few', async () => {
    for (const id of ids(5)) api.foreign.add(endpointName(id));
    want(ids(5));
    await askedIn(hourMs);
    api.foreign.delete(endpointName('ep_3'));
    await askedIn(31 * secondMs);
    expect(has('ep_3')).toBe(true);
  });
});
