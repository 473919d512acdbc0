import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../../test/support/until.ts';
import { silentLog } from '../../../common/log.ts';
import { type Runtime, systemRuntime } from '../../../common/runtime.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import type { KubeClient, Selection, WatchEvent, WatchOptions } from '../../kube/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { History } from '../../kube/history.ts';
import { type KubeObject, type ResourceType, secretType } from '../../kube/types.ts';
import { Coverage } from './coverage.ts';
import type { Target } from './scope.ts';

type Event = WatchEvent<KubeObject>;

interface OpenWatch {
  readonly selection: Selection;
  readonly send: (event: Event) => void;
  readonly end: () => void;
}

/** Secrets of a cluster, with watches and lists that may be refused or cut. */
class Cluster {
  readonly objects = new Map<string, KubeObject>();
  readonly watches = new Set<OpenWatch>();
  refuses: (selection: Selection) => boolean = () => false;
  /** Every watch ends, without an error, once it has told what there is. */
  endsWatches = false;
  mostWatches = 0;
  lists = 0;
  #version = 0;

  put(namespace: string, name: string): string {
    const resourceVersion = String(++this.#version);
    const metadata = { namespace, name, resourceVersion, uid: name };
    const object = { apiVersion: 'v1', kind: 'Secret', metadata };
    const type = this.objects.has(`${namespace}/${name}`) ? 'MODIFIED' : 'ADDED';
    this.objects.set(`${namespace}/${name}`, object);
    for (const { selection, send } of this.watches) if (selects(selection, object)) send({ type, object });
    return resourceVersion;
  }

  remove(namespace: string, name: string): void {
    const object = this.objects.get(`${namespace}/${name}`) as KubeObject;
    this.objects.delete(`${namespace}/${name}`);
    for (const { selection, send } of this.watches) if (selects(selection, object)) send({ type: 'DELETED', object });
  }

  cut(): void {
    const status = { status: 410, message: 'too old', reason: 'Expired' };
    for (const { send } of this.watches) send({ type: 'ERROR', error: new KubeError('watching', status) });
  }

  /** As servers do every few minutes. */
  end(): void {
    for (const { end } of this.watches) end();
  }

  client(): KubeClient {
    const list = async (_: ResourceType, selection: Selection) => {
      this.lists++;
      this.#check(selection);
      return { items: [...this.objects.values()].filter((each) => selects(selection, each)), resourceVersion: '1' };
    };
    const watch = (_: ResourceType, options: WatchOptions) => this.#watch(options);
    return { list, watch, history: new History(systemRuntime.monotonic) } as unknown as KubeClient;
  }

  async *#watch(selection: WatchOptions): AsyncGenerator<Event> {
    this.#check(selection);
    expect(selection.metadataOnly).toBe(true);
    const queue = selection.sendInitialEvents === true ? this.#initialEvents(selection) : [];
    let wake = Promise.withResolvers<void>();
    const abort = () => {
      wake.promise.catch(() => {});
      wake.reject(selection.signal?.reason);
    };
    selection.signal?.addEventListener('abort', abort);
    let hasEnded = this.endsWatches;
    const own = {
      selection,
      send: (event: Event) => {
        queue.push(event);
        wake.resolve();
      },
      end: () => {
        hasEnded = true;
        wake.resolve();
      },
    };
    this.watches.add(own);
    this.mostWatches = Math.max(this.mostWatches, this.watches.size);
    try {
      for (;;) {
        yield* queue.splice(0);
        if (queue.length > 0) continue;
        if (hasEnded) return;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      selection.signal?.removeEventListener('abort', abort);
      this.watches.delete(own);
    }
  }

  #initialEvents(selection: Selection): Event[] {
    const objects = [...this.objects.values()].filter((each) => selects(selection, each));
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { name: '', resourceVersion: String(this.#version), annotations };
    return [
      ...objects.map((object) => ({ type: 'ADDED' as const, object })),
      { type: 'BOOKMARK', object: { metadata } },
    ];
  }

  #check(selection: Selection): void {
    if (this.refuses(selection)) throw new KubeError('listing', { status: 403, message: 'forbidden' });
  }
}

function selects({ namespace, fieldSelector }: Selection, { metadata }: KubeObject): boolean {
  const named = fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`;
  return named && (namespace === undefined || namespace === metadata.namespace);
}

let cluster: Cluster;
let coverage: Coverage;
let told: Map<string, string | undefined>;

beforeEach(() => {
  cluster = new Cluster();
  told = new Map();
  begin({ clusterWide: true });
});
afterEach(() => coverage.close());

function begin(options: { readonly clusterWide: boolean } & Partial<Runtime>): void {
  coverage = new Coverage({ ...systemRuntime, log: silentLog, client: cluster.client(), ...options });
}

function follow(namespace: string, name: string): Target {
  const changed = (version: string | undefined) => told.set(`${namespace}/${name}`, version);
  const target = { type: secretType, namespace, name, changed };
  coverage.add(target);
  return target;
}

/** Changes every object that is followed and waits until that is told. */
async function allAreTold(timeoutMs = 1_000): Promise<void> {
  const expected = new Map([...told.keys()].map((key) => [key, cluster.put(...(key.split('/') as [string, string]))]));
  await until('every change', () => [...expected].every(([key, version]) => told.get(key) === version), timeoutMs);
}

const scopes = () =>
  [...cluster.watches]
    .map(({ selection: { namespace = '*', fieldSelector = '' } }) => `${namespace} ${fieldSelector}`.trim())
    .sort();

test('800 objects of one namespace are told of by one watch', async () => {
  for (let index = 0; index < 800; index++) follow('a', `s${index}`);
  await until('the first look', () => told.size === 800 && coverage.watches === 1);
  expect(scopes()).toEqual(['a']);
  await allAreTold();
  cluster.remove('a', 's7');
  await until('the end of one', () => told.get('a/s7') === undefined);
  expect(cluster.lists).toBe(0);
});

test('few objects of a namespace are watched one by one: nothing is asked for that might be refused', async () => {
  const asked: Selection[] = [];
  cluster.refuses = (selection) => asked.push(selection) === 0;
  for (const name of ['one', 'two', 'three']) follow('a', name);
  await until('the first look', () => told.size === 3);
  expect(asked.every(({ namespace, fieldSelector }) => namespace === 'a' && fieldSelector !== undefined)).toBe(true);
  await allAreTold();
});

test('a namespace with many gets its watch though all are taken by single objects', async () => {
  for (const namespace of ['a', 'b']) for (const name of ['one', 'two', 'three']) follow(namespace, name);
  await until('all watches', () => cluster.watches.size === 6);
  for (let index = 0; index < 10; index++) follow('c', `s${index}`);
  await until('the first look', () => told.size === 16 && scopes().includes('c'), 10_000);
  expect(coverage.watches).toBe(6);
  await allAreTold(5_000);
});

test('of objects in many namespaces one watch over the cluster tells, and nothing is told of others', async () => {
  for (let index = 0; index < 5_000; index++) {
    cluster.put(`ns${index}`, 'foreign');
    cluster.put(`ns${index}`, 'key');
    follow(`ns${index}`, 'key');
  }
  await until('the first look', () => told.size === 5_000 && coverage.watches === 1, 10_000);
  expect(scopes()).toEqual(['*']);
  expect(cluster.mostWatches).toBeLessThanOrEqual(4);
  await allAreTold();
  expect([...told.keys()].filter((key) => key.endsWith('foreign'))).toEqual([]);
});

test('when the last is let go its watch ends', async () => {
  const targets = [follow('a', 'one'), follow('a', 'two')];
  await until('the watches', () => cluster.watches.size === 2);
  for (const target of targets) coverage.remove(target);
  await until('its end', () => cluster.watches.size === 0);
  cluster.put('a', 'one');
  expect(coverage.watches).toBe(0);
});

test('a watch that is cut goes on, and nothing is missed', async () => {
  follow('a', 'one');
  await until('the first look', () => told.size === 1);
  cluster.cut();
  const version = cluster.put('a', 'one');
  await until('the change', () => told.get('a/one') === version, 5_000);
});

describe('a watch that ends without an error', () => {
  let time: ManualClock;

  beforeEach(async () => {
    coverage.close();
    time = new ManualClock();
    begin({ clusterWide: true, monotonic: time, random: () => 0.9 });
    cluster.put('a', 'one');
  });

  test('at once, for ever, is one that does not work: its object is looked at in turn', async () => {
    cluster.endsWatches = true;
    follow('a', 'one');
    // By now the watch is tried again twice a minute.
    await time.advance(180_000);
    for (let change = 0; change < 20; change++) {
      const version = cluster.put('a', 'one');
      await time.advance(4_000);
      expect([change, told.get('a/one')]).toEqual([change, version]);
    }
    cluster.endsWatches = false;
    await time.advance(40_000);
    const { lists } = cluster;
    await time.advance(60_000);
    expect(cluster.lists).toBe(lists);
  });

  test('after a while is followed by the next one, and nothing need be looked at', async () => {
    follow('a', 'one');
    await time.advance(0);
    for (let watch = 0; watch < 5; watch++) {
      await time.advance(60_000);
      cluster.end();
    }
    await time.advance(60_000);
    expect([cluster.watches.size, cluster.lists]).toEqual([1, 0]);
  });
});

describe('where rights are few', () => {
  test('objects are watched one by one, and beyond the bound looked at in turn', async () => {
    cluster.refuses = ({ fieldSelector }) => fieldSelector === undefined;
    for (let index = 0; index < 20; index++) {
      cluster.put('a', `s${index}`);
      follow('a', `s${index}`);
    }
    await until('the first look at all', () => told.size === 20, 10_000);
    expect(coverage.watches).toBe(6);
    await allAreTold(5_000);
  });

  test('a namespace that may not be read troubles nobody else', async () => {
    cluster.refuses = ({ namespace }) => namespace === undefined || namespace === 'closed';
    for (const namespace of ['closed', 'a', 'b', 'c', 'd']) follow(namespace, 'key');
    await until('the first look', () => told.size === 4);
    expect(scopes()).toEqual(['a', 'b', 'c', 'd'].map((name) => `${name} metadata.name=key`));
    await allAreTold();
    expect(told.has('closed/key')).toBe(false);
  });

  test('an operator of some namespaces never asks for the cluster', async () => {
    coverage.close();
    begin({ clusterWide: false });
    const asked: (string | undefined)[] = [];
    cluster.refuses = ({ namespace }) => asked.push(namespace) === 0;
    for (let index = 0; index < 10; index++) follow(`ns${index}`, 'key');
    await until('the first look at all', () => told.size === 10, 10_000);
    expect(asked).not.toContain(undefined);
    expect(coverage.watches).toBe(6);
  });
});
