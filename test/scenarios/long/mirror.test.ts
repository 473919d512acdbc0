import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../../src/common/log.ts';
import { systemRuntime } from '../../../src/common/runtime.ts';
import { CloudClient } from '../../../src/operator/cloud/client.ts';
import { Limiter } from '../../../src/operator/cloud/limiter.ts';
import type { RequestReport } from '../../../src/operator/cloud/transport.ts';
import { KubeClient } from '../../../src/operator/kube/client.ts';
import { connect, type KubeConnection, type KubeRequest } from '../../../src/operator/kube/connection.ts';
import { KubeError } from '../../../src/operator/kube/errors.ts';
import type { KubeObject } from '../../../src/operator/kube/types.ts';
import { type ConfigMap, configMapType, endpointName } from '../../../src/operator/mirror/config-map.ts';
import { EndpointMirror, type EndpointMirrorOptions } from '../../../src/operator/mirror/mirror.ts';
import { removeMirrored } from '../../../src/operator/mirror/remove.ts';
import { startTestCloud, type TestCloud } from '../../support/cloud-api.ts';
import { elapsedMs, quickestMs } from '../../support/elapsed.ts';
import { startTestKubeApi, type TestKubeApi } from '../../support/kube-api.ts';
import { until } from '../../support/until.ts';
import { namespaceType } from '../../support/world.ts';

/* The endpoint mirror, between a Kubernetes API and the reference cloud. Every test has its own cloud and namespace. */

const hourMs = 3_600_000;

let kube: TestKubeApi;
let connection: KubeConnection;
let client: KubeClient;
let cloud: TestCloud;
let namespace: string;
let namespaces = 0;
let stops: (() => Promise<void>)[];

beforeAll(async () => {
  kube = await startTestKubeApi();
  connection = await connect({ ...systemRuntime, kubeconfig: kube.kubeconfig, userAgent: 'test', log: silentLog });
  client = new KubeClient(connection, systemRuntime);
});
afterAll(async () => {
  await connection.close();
  await kube.stop();
});
beforeEach(async () => {
  cloud = await startTestCloud();
  namespace = `mirror-${namespaces++}`;
  stops = [];
  await createNamespace(namespace);
});
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await cloud.stop();
});

const createNamespace = (name: string) =>
  client.create<KubeObject>(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

interface Started {
  readonly mirror: EndpointMirror;
  /** Writes to Kubernetes: `METHOD name`. */
  readonly writes: string[];
  readonly reports: RequestReport[];
  /** Warnings, with their fields. */
  readonly warnings: string[];
  stop(): Promise<void>;
}

function start(options: Partial<EndpointMirrorOptions> = {}): Started {
  const [writes, reports, warnings]: [string[], RequestReport[], string[]] = [[], [], []];
  const record = ({ method, path }: KubeRequest) => writes.push(`${method} ${path.split('/').at(-1)}`);
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 100_000 });
  const account = new CloudClient({
    ...systemRuntime,
    baseURL: cloud.url,
    apiKey: () => cloud.apiKey,
    userAgent: 'test',
    limiter: () => limiter,
    onRequest: (report) => reports.push(report),
  });
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
    error: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
    child: () => log,
  };
  const asked = new WeakSet<object>();
  const mirror = new EndpointMirror({
    account: 'default',
    endpoints: account.endpoints,
    reader: client,
    client: new KubeClient(
      // Asked twice for each.
      connection.withGuard((request) => {
        if (request.method !== 'GET' && !asked.has(request)) record(request);
        asked.add(request);
      }),
      systemRuntime,
    ),
    namespace,
    intervalMs: 500,
    ...systemRuntime,
    random: () => 0,
    log,
    ...options,
  });
  const stopping = new AbortController();
  const running = mirror.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
    await account.close();
  };
  stops.push(stop);
  return { mirror, writes, reports, warnings, stop };
}

const endpoint = (id: string, more: object = {}) => ({
  id,
  public_url: `tcp://${id.toLowerCase()}.example.test:1`,
  proto: 'tcp' as const,
  hostport: `${id.toLowerCase()}.example.test:1`,
  type: 'ephemeral' as const,
  tunnel: 'tn_1',
  ...more,
});
const named = (name: string) => ({ installation: { name, plain: name } });
const many = (count: number) => Array.from({ length: count }, (_, index) => endpoint(`ep_${index}`));
const listed = async (): Promise<readonly ConfigMap[]> =>
  (await client.listAll<ConfigMap>(configMapType, { namespace })).items;
const ids = async () => (await listed()).flatMap(({ data }) => data?.id ?? []).sort();
const get = (id: string) => client.get<ConfigMap>(configMapType, { namespace, name: endpointName(id) });
const patch = (id: string, body: unknown) =>
  client.patch<ConfigMap>(configMapType, { namespace, name: endpointName(id) }, { type: 'merge', body });
const shows = (count: number, timeoutMs?: number) =>
  until(`${count} ConfigMaps`, async () => (await listed()).length === count, timeoutMs);
const isSynced = ({ mirror }: Started) => until('the mirror to be synced', () => mirror.status().synced, 60_000);

/** Waits until a sweep that began after now has ended whole. */
async function swept({ mirror }: Started, count = 1): Promise<void> {
  for (let sweep = 0; sweep < count; sweep++) {
    const before = Date.now();
    await until('another sweep', () => (mirror.status().sweptAt ?? 0) > before);
  }
}

describe('1,000 endpoints', () => {
  // Sweeps begin every four fifths of the interval, so a fifth of a minute's is left for reading and writing.
  const leftMs = 12_000;
  /** How long a machine that is so busy that this is too short takes for as many writes of the test's own. */
  const byHandMs = () =>
    elapsedMs(async () => {
      const create = (name: string) =>
        client.create<ConfigMap>(configMapType, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
      await Promise.all(many(1_000).map((_, index) => create(`by-hand-${index}`)));
    });

  test('appear and disappear within one interval, and cost nothing when nothing changes', async () => {
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    expect(await listed()).toEqual([]);
    const untilSynced = async () => {
      const { sweptAt } = started.mirror.status();
      started.mirror.sweepNow();
      await until('the sweep', () => started.mirror.status().sweptAt !== sweptAt);
      await isSynced(started);
    };

    const comeAndGo = async () => {
      started.writes.length = 0;
      cloud.seed({ endpoints: many(1_000) });
      const appearedMs = await elapsedMs(untilSynced);
      expect((await ids()).length).toBe(1_000);
      expect(started.mirror.status()).toMatchObject({ endpoints: 1_000, pending: 0, error: undefined });
      expect(started.writes).toHaveLength(1_000);

      const versions = (await listed()).map(({ metadata }) => metadata.resourceVersion);
      started.reports.length = 0;
      for (let sweep = 0; sweep < 3; sweep++) await untilSynced();
      expect((await listed()).map(({ metadata }) => metadata.resourceVersion)).toEqual(versions);
      expect(started.writes).toHaveLength(1_000);
      expect(started.reports.map(({ priority }) => priority)).toEqual(Array(30).fill('resync'));

      for (const { id } of many(1_000)) cloud.unseed(id);
      const goneMs = await elapsedMs(untilSynced);
      expect(await listed()).toEqual([]);
      expect(started.writes).toHaveLength(2_000);
      return Math.max(appearedMs, goneMs);
    };
    const tookMs = await quickestMs(leftMs, comeAndGo);
    expect(tookMs).toBeLessThan(tookMs < leftMs ? leftMs : 3 * (await byHandMs()));
  }, 240_000);

  test('are found again by the next process without a write', async () => {
    cloud.seed({ endpoints: many(1_000) });
    const before = start();
    await isSynced(before);
    await before.stop();

    const after = start();
    await isSynced(after);
    expect(after.reports.slice(0, 10).map(({ priority }) => priority)).toEqual(Array(10).fill('first'));
    expect(after.mirror.status()).toMatchObject({ endpoints: 1_000, error: undefined });
    expect(after.writes).toEqual([]);
  }, 120_000);
});

test('an endpoint is shown with every field, follows changes, and each costs one write', async () => {
  cloud.seed({ reserved_domains: ['rd_1'], https_edges: [{ id: 'edghts_1' }] });
  cloud.seed({
    endpoints: [endpoint('ep_other'), endpoint('ep_a', { region: 'eu', metadata: '{"team":"a"}', tcp_addr: 'ra_1' })],
  });
  const started = start();
  await isSynced(started);
  const { body } = await cloud.call('GET', '/endpoints/ep_a');
  const configMap = await get('ep_a');
  expect(configMap?.metadata.name).toMatch(/^endpoint-ep-a-[0-9a-f]{10}$/);
  expect(configMap?.metadata.labels).toEqual({
    'app.kubernetes.io/managed-by': 'edge-operator',
    'edge-operator.dev/mirror': 'endpoints',
    'edge-operator.dev/account': 'default',
    'edge-operator.dev/proto': 'tcp',
    'edge-operator.dev/type': 'ephemeral',
    'edge-operator.dev/region': 'eu',
  });
  const { tcp_addr, tunnel, ...plain } = body;
  expect(configMap?.data).toEqual({
    ...plain,
    'tcp_addr.id': tcp_addr.id,
    'tcp_addr.uri': tcp_addr.uri,
    'tunnel.id': tunnel.id,
    'tunnel.uri': tunnel.uri,
    'endpoint.json': expect.any(String),
  });
  expect(JSON.parse(configMap?.data?.['endpoint.json'] ?? '')).toEqual(body);

  started.writes.length = 0;
  const edge = { type: 'edge' as const, tunnel: undefined, edge: 'edghts_1', domain: 'rd_1', proto: 'https' as const };
  cloud.seed({ endpoints: [endpoint('ep_a', edge)] });
  const changed = await until('the change', async () => {
    const found = await get('ep_a');
    return found?.data?.type === 'edge' ? found : undefined;
  });
  expect(changed.data).toMatchObject({ 'edge.id': 'edghts_1', 'domain.id': 'rd_1', proto: 'https' });
  expect(Object.keys(changed.data ?? {})).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/tunnel|tcp_addr|metadata/)]),
  );
  expect(changed.metadata.labels).toMatchObject({
    'edge-operator.dev/type': 'edge',
    'edge-operator.dev/proto': 'https',
  });
  await swept(started);
  expect(started.writes).toEqual([`PUT ${endpointName('ep_a')}`]);
});

test('an endpoint appears and disappears within one interval', async () => {
  const started = start({ intervalMs: 3_000 });
  await isSynced(started);
  const comeAndGo = async () => {
    cloud.seed({ endpoints: many(1) });
    const appearedMs = await elapsedMs(() => shows(1));
    cloud.unseed('ep_0');
    return Math.max(appearedMs, await elapsedMs(() => shows(0)));
  };
  expect(await quickestMs(3_000, comeAndGo)).toBeLessThan(3_000);
});

test('one empty list deletes nothing where there are many; a second one, some time later, does', async () => {
  cloud.seed({ endpoints: many(3) });
  const started = start();
  await shows(3);
  const empty = async () => {
    for (const { id } of many(3)) cloud.unseed(id);
    await until('doubt', () => started.mirror.status().error?.startsWith('the list is empty') === true);
  };
  await empty();
  cloud.seed({ endpoints: many(3) });
  await until('no doubt', () => started.mirror.status().error === undefined);
  expect(started.writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
  await empty();
  await shows(0);
  await until('no doubt', () => started.mirror.status().error === undefined);
});

test('no empty list deletes anything where there are many, while one of them is found alone', async () => {
  let [isListed, isThere] = [true, true];
  const all = many(4).map((each) => ({ ...each, region: 'us', created_at: '', updated_at: '', hostport: 'h:1' }));
  const endpoints = {
    listAll: async function* () {
      if (isListed) yield* all;
    },
    get: async (id: string) => (isThere ? all.find((each) => each.id === id) : undefined),
  } as EndpointMirrorOptions['endpoints'];
  const started = start({ endpoints });
  await shows(4);
  isListed = false;
  await until('one to be found', () =>
    /^the list is empty, but endpoint ep_\d is/.test(started.mirror.status().error ?? ''),
  );
  await started.stop();
  // Of what another process made, too, and whatever somebody puts beside them.
  const forged = { apiVersion: 'v1', kind: 'ConfigMap', data: { id: '..' } };
  const { labels } = (await get('ep_0'))?.metadata ?? {};
  await client.create<ConfigMap>(configMapType, {
    ...forged,
    metadata: { name: 'aaa', namespace, ...(labels && { labels }) },
  });
  const next = start({ endpoints });
  await until('it again', () => /^the list is empty, but endpoint ep_\d is/.test(next.mirror.status().error ?? ''));
  expect([...started.writes, ...next.writes].filter((write) => write.startsWith('DELETE'))).toEqual([]);
  isThere = false;
  await until('all but that to go', async () => (await ids()).join() === '..');
});

test('an endpoint that a list shows twice is written as it is shown first, and once', async () => {
  const shown = ['us', 'eu'].map((region) => ({ ...endpoint('ep_0'), region, created_at: '', updated_at: '' }));
  const listAll = async function* () {
    yield* shown;
  };
  const started = start({ endpoints: { listAll, get: async () => undefined } as never });
  await swept(started, 3);
  expect([started.writes, (await get('ep_0'))?.data?.region]).toEqual([['POST configmaps'], 'us']);
});

test('ids that differ only in case have a ConfigMap each', async () => {
  const alike = ['ep_aBc', 'ep_abC', 'ep_ABC', 'ep_abc'];
  cloud.seed({ endpoints: alike.map((id) => endpoint(id)) });
  await isSynced(start());
  expect(await ids()).toEqual([...alike].sort());
});

test.each([
  ['protocol', { protocols: ['http', 'https'] }, ['ep_https']],
  ['type', { types: ['ephemeral'] }, ['ep_tcp', 'ep_tls']],
  ['both', { protocols: ['tls', 'https'], types: ['ephemeral'] }, ['ep_tls']],
  ['neither, by empty lists', { protocols: [], types: [] }, ['ep_https', 'ep_tcp', 'ep_tls']],
])('filters by %s, and what a filter leaves out goes', async (_by, filter, left) => {
  const edge = { proto: 'https', type: 'edge', tunnel: undefined, edge: 'edghts_1' };
  cloud.seed({ https_edges: [{ id: 'edghts_1' }] });
  cloud.seed({ endpoints: [endpoint('ep_https', edge), endpoint('ep_tcp'), endpoint('ep_tls', { proto: 'tls' })] });
  const all = start();
  await isSynced(all);
  await all.stop();
  await isSynced(start(filter));
  await until('what is left out to go', async () => (await listed()).length === left.length);
  expect(await ids()).toEqual(left);
});

describe('a sweep that fails', () => {
  test('on a later page deletes nothing, and the first page is still shown', async () => {
    cloud.seed({ endpoints: many(250) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    cloud.fault('GET /endpoints status=500 skip=1');
    for (const { id } of many(200)) cloud.unseed(id);
    cloud.seed({ endpoints: [...many(60).map(({ id }) => endpoint(`${id}new`)), endpoint('ep_new')] });
    started.mirror.sweepNow();
    await until('the failure to show', () => started.mirror.status().error);
    expect(started.mirror.status().error).toContain('endpoints.list: the API answered 500');
    await until('the new one', () => get('ep_new'));
    await until('all writes', () => started.mirror.status().pending === 0);
    expect(started.writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    expect((await listed()).length).toBe(250 + 61);
    expect(started.warnings.filter((warning) => warning.includes('listing endpoints failed'))).toHaveLength(1);

    cloud.clearFaults();
    started.mirror.sweepNow();
    await until('the gone ones to go', async () => (await listed()).length === 50 + 61);
    await until('the failure to pass', () => started.mirror.status().error === undefined);
  });

  test.each(['status=401', 'html', 'malformed=endpoints', 'reset', 'malformed=next_page_uri'])(
    'as the first one with %s deletes nothing that an earlier process made',
    async (what) => {
      cloud.seed({ endpoints: many(3) });
      const earlier = start();
      await isSynced(earlier);
      await earlier.stop();
      cloud.fault(`GET /endpoints ${what}`);
      const started = start();
      await until('the failure to show', () => started.mirror.status().error);
      expect(started.mirror.status()).toMatchObject({ synced: false, sweptAt: undefined });
      expect(started.writes).toEqual([]);
      expect(await ids()).toEqual(['ep_0', 'ep_1', 'ep_2']);
    },
  );
});

test('a sweep that never ends whole is the first one once, and then one like all others', async () => {
  const priorities: string[] = [];
  const listAll = async function* ({ priority }: { readonly priority: string }) {
    priorities.push(priority);
    yield* [];
    throw new Error('the second page fails');
  };
  start({ endpoints: { listAll, get: async () => undefined } as never });
  await until('some sweeps', () => priorities.length >= 3);
  expect(priorities.slice(0, 3)).toEqual(['first', 'resync', 'resync']);
});

describe('an endpoint that cannot be read', () => {
  test.each(['region', 'id'])(
    'by its %s, leaves the ConfigMaps that may be its own and stops nothing',
    async (field) => {
      cloud.seed({ endpoints: many(3) });
      const earlier = start();
      await isSynced(earlier);
      await earlier.stop();
      cloud.fault(`GET /endpoints malformed=${field}`);
      const started = start();
      await until('the end of the sweep', () => started.mirror.status().sweptAt);
      expect(await ids()).toEqual(['ep_0', 'ep_1', 'ep_2']);
      expect(started.mirror.status().error).toBeUndefined();
      expect(started.writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
      expect(started.warnings).toEqual([expect.stringContaining(`${field}: expected string`)]);
    },
  );
});

describe('a ConfigMap that somebody touches is restored within a second, without asking the cloud', () => {
  const labels = (changes: Record<string, string | null>) => ({ metadata: { labels: changes } });
  let forged = 0;
  const forgery = () => ({ metadata: { annotations: { 'edge-operator.dev/mirrored-by': `forged-${forged++}` } } });

  test.each<[string, () => Promise<unknown>]>([
    ['deleted', () => client.delete(configMapType, { namespace, name: endpointName('ep_0') })],
    ['a value changed', () => patch('ep_0', { data: { hostport: 'elsewhere.example.test:1' } })],
    ['a key removed', () => patch('ep_0', { data: { 'endpoint.json': null } })],
    ['a key added', () => patch('ep_0', { data: { more: '1' } })],
    ['binary data added', () => patch('ep_0', { binaryData: { more: 'AA==' } })],
    ['made immutable', () => patch('ep_0', { immutable: true, data: { region: 'eu' } })],
    ['a label changed', () => patch('ep_0', labels({ 'edge-operator.dev/region': 'mars' }))],
    ['given to another account', () => patch('ep_0', labels({ 'edge-operator.dev/account': 'other' }))],
    ['a mark forged', () => patch('ep_0', { ...forgery(), data: { region: 'eu' } })],
    ['the mark removed', () => patch('ep_0', { metadata: { annotations: null } })],
    ['all annotations and data replaced', () => patch('ep_0', { metadata: { annotations: null }, data: { x: 'y' } })],
    ['all labels removed', () => patch('ep_0', { metadata: { labels: null }, data: null })],
  ])('%s', async (_what, touch) => {
    cloud.seed({ endpoints: many(2) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    const [before, other] = [await get('ep_0'), await get('ep_1')];
    cloud.clearRequests();
    const restored = async () => {
      const found = await get('ep_0');
      const { data, binaryData, immutable, metadata } = found ?? { metadata: { name: '' } };
      expect({ data, binaryData, immutable, labels: metadata.labels }).toEqual({
        data: before?.data,
        labels: before?.metadata.labels,
      });
      return true;
    };
    const restore = async () => {
      started.writes.length = 0;
      await touch();
      const tookMs = await elapsedMs(() => until('the restored ConfigMap', restored));
      await isSynced(started);
      expect(started.writes.length).toBeLessThanOrEqual(2);
      return tookMs;
    };
    expect(await quickestMs(1_000, restore)).toBeLessThan(1_000);
    expect(await get('ep_1')).toEqual(other);
    expect(cloud.requests()).toEqual([]);
    expect(started.warnings).toEqual([]);
  });

  test('anew, where its labels were removed and it was made immutable', async () => {
    cloud.seed({ endpoints: many(1) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    const before = await get('ep_0');
    const restore = async () => {
      await patch('ep_0', { metadata: { labels: null }, immutable: true });
      const restored = async () => (await get('ep_0'))?.metadata.labels !== undefined;
      return elapsedMs(() => until('the new ConfigMap', restored));
    };
    expect(await quickestMs(1_000, restore)).toBeLessThan(1_000);
    expect((await get('ep_0'))?.data).toEqual(before?.data);
  });

  test('once a finalizer lets it go, also without its labels', async () => {
    cloud.seed({ endpoints: many(1) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    const before = await get('ep_0');
    await patch('ep_0', { metadata: { labels: null, finalizers: ['example.test/held'] }, immutable: true });
    await until('its end to be waited for', () => started.mirror.status().error?.includes('is being deleted'));
    await patch('ep_0', { metadata: { finalizers: null } });
    await isSynced(started);
    const found = await get('ep_0');
    expect(found?.metadata.labels).toEqual(before?.metadata.labels);
    expect(found?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  test('later and later, where somebody changes it again and again, and that is said', async () => {
    cloud.seed({ endpoints: many(2) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    started.writes.length = 0;
    const change = async () => {
      const isRestored = (await get('ep_0'))?.data?.region === 'us';
      if (isRestored) await patch('ep_0', { data: { region: 'eu' } });
      return started.mirror.status().error;
    };
    expect(await until('that to be said', change)).toMatch(/^somebody else changes ConfigMap .* again and again/);
    expect(started.writes.length).toBeLessThanOrEqual(15);
    expect(started.mirror.status()).toMatchObject({ synced: false, endpoints: 1, pending: 1, cause: undefined });
    expect(started.warnings).toHaveLength(1);
    await isSynced(started);
    expect((await get('ep_0'))?.data?.region).toBe('us');
  });

  test('labels and annotations of other tools stay, also when something is restored', async () => {
    cloud.seed({ endpoints: many(1) });
    const started = start({ intervalMs: hourMs });
    await isSynced(started);
    const foreign = { labels: { team: 'a' }, annotations: { 'example.test/tracking': 'x' } };
    started.writes.length = 0;
    await patch('ep_0', { metadata: foreign });
    await patch('ep_0', { data: { region: 'eu' } });
    const found = await until('the restored ConfigMap', async () => {
      const now = await get('ep_0');
      return now?.data?.region === 'us' ? now : undefined;
    });
    expect(found.metadata).toMatchObject(foreign);
    expect(started.writes).toEqual([`PUT ${endpointName('ep_0')}`]);
  });

  test('while a thousand others are being written', async () => {
    cloud.seed({ endpoints: many(1) });
    const started = start();
    await isSynced(started);
    const restored = async () => (await get('ep_0'))?.data?.region === 'us';
    const restore = async (index: number) => {
      cloud.seed({ endpoints: many(1_000).map(({ id }) => endpoint(`${id}x${index}`)) });
      await until('writing to begin', () => started.mirror.status().pending > 100);
      await patch('ep_0', { data: { region: 'eu' } });
      return elapsedMs(() => until('the restored ConfigMap', restored));
    };
    expect(await quickestMs(1_000, restore)).toBeLessThan(1_000);
  });
});

describe("somebody else's ConfigMap", () => {
  const foreign = (name: string, labels: Record<string, string> = {}) =>
    client.create<ConfigMap>(configMapType, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels },
      data: { mine: 'yes' },
    });

  test('is not touched, named once in a warning, and makes room when it goes', async () => {
    const theirs = await foreign(endpointName('ep_0'), { 'app.kubernetes.io/managed-by': 'edge-operator' });
    const unrelated = await foreign('settings');
    cloud.seed({ endpoints: many(2) });
    const started = start();
    await until('the other endpoint', () => get('ep_1'));
    await until('the conflict to show', () => started.mirror.status().error);
    expect(started.mirror.status()).toMatchObject({ synced: false, endpoints: 1, pending: 1, cause: 'in the way' });
    const attempts = () => started.writes.filter((write) => write === 'POST configmaps').length;
    await until('another attempt', () => attempts() >= 4);
    expect(await get('ep_0')).toEqual(theirs);
    expect(await client.get(configMapType, unrelated.metadata)).toEqual(unrelated);
    expect(started.warnings).toEqual([
      expect.stringContaining(`${namespace}/${endpointName('ep_0')} was not made by this mirror`),
    ]);
    expect(started.writes.filter((write) => !write.startsWith('POST'))).toEqual([]);

    await client.delete(configMapType, theirs.metadata);
    await isSynced(started);
    expect(await ids()).toEqual(['ep_0', 'ep_1']);

    cloud.unseed('ep_0');
    cloud.unseed('ep_1');
    await until('both to go', async () => (await listed()).length <= 2 && (await ids()).length === 0);
    expect(await client.get(configMapType, unrelated.metadata)).toEqual(unrelated);
  });

  test('outlives the endpoint whose name it has', async () => {
    const theirs = await foreign(endpointName('ep_0'));
    cloud.seed({ endpoints: many(1) });
    const started = start();
    await until('the conflict to show', () => started.mirror.status().error);
    cloud.unseed('ep_0');
    await isSynced(started);
    expect(started.mirror.status().error).toBeUndefined();
    expect(await get('ep_0')).toEqual(theirs);
  });

  test('that copies our labels under a name of its own is not touched', async () => {
    cloud.seed({ endpoints: many(1) });
    const started = start();
    await isSynced(started);
    const copy = await foreign('copy', { ...(await get('ep_0'))?.metadata.labels });
    cloud.unseed('ep_0');
    await until('ours to go', async () => (await get('ep_0')) === undefined);
    await swept(started, 2);
    expect(await client.get(configMapType, copy.metadata)).toEqual(copy);
    expect(started.writes).toEqual(['POST configmaps', `DELETE ${endpointName('ep_0')}`]);
  });

  test('that copies our labels under a name like ours is not touched', async () => {
    cloud.seed({ endpoints: many(2) });
    const started = start();
    await isSynced(started);
    const { labels } = (await get('ep_0'))?.metadata ?? {};
    const copy = await foreign(endpointName('ep_9'), { ...labels });
    await swept(started, 2);
    cloud.seed({ endpoints: [endpoint('ep_9')] });
    await until('the conflict to show', () => started.mirror.status().error);
    cloud.unseed('ep_9');
    await until('the conflict to pass', () => started.mirror.status().error === undefined);
    await swept(started, 2);
    expect(await client.get(configMapType, copy.metadata)).toEqual(copy);
    await started.stop();
    await removeMirrored(client, namespace, { ...named(''), account: 'default' });
    expect(await client.get(configMapType, copy.metadata)).toEqual(copy);
  });

  test('costs nothing: only those of the mirror are watched', async () => {
    const paths: string[] = [];
    const reader = new KubeClient(
      connection.withGuard(({ path }) => paths.push(decodeURIComponent(path))),
      systemRuntime,
    );
    await isSynced(start({ reader }));
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      expect(path).toContain(`/namespaces/${namespace}/`);
      expect(path).toContain('labelSelector=edge-operator.dev/mirror=endpoints,edge-operator.dev/account=default');
    }
  });
});

describe('two accounts in one namespace', () => {
  test('never touch what is the other one’s, and each removes only its own', async () => {
    cloud.seed({ endpoints: [endpoint('ep_tcp'), endpoint('ep_tls', { proto: 'tls' })] });
    const first = start({ protocols: ['tcp'] });
    const second = start({ account: 'team/prod', protocols: ['tls'] });
    await Promise.all([isSynced(first), isSynced(second)]);
    await Promise.all([swept(first, 2), swept(second, 2)]);
    expect(await ids()).toEqual(['ep_tcp', 'ep_tls']);
    expect([...first.writes, ...second.writes]).toEqual(['POST configmaps', 'POST configmaps']);
    expect((await get('ep_tls'))?.metadata.labels?.['edge-operator.dev/account']).toBe('team.prod');

    await Promise.all([first.stop(), second.stop()]);
    expect(await removeMirrored(client, namespace, { ...named(''), account: 'team/prod' })).toBe(1);
    expect(await ids()).toEqual(['ep_tcp']);
    expect(await removeMirrored(client, namespace, { ...named(''), account: 'team/prod' })).toBe(0);
  });

  test('on the same endpoint: the second leaves the first alone and takes over when it goes', async () => {
    cloud.seed({ endpoints: many(1) });
    const first = start();
    await isSynced(first);
    const second = start({ account: 'team/prod' });
    await until('the conflict to show', () => second.mirror.status().error);
    await swept(first);
    expect((await get('ep_0'))?.metadata.labels?.['edge-operator.dev/account']).toBe('default');
    await first.stop();
    await removeMirrored(client, namespace, { ...named(''), account: 'default' });
    await isSynced(second);
    expect((await get('ep_0'))?.metadata.labels?.['edge-operator.dev/account']).toBe('team.prod');
  });

  test('on the same endpoint do not take it from each other where they may take from other installations', async () => {
    cloud.seed({ endpoints: many(1) });
    const first = start({ takeOver: true });
    await isSynced(first);
    const second = start({ account: 'team/prod', takeOver: true });
    await until('the conflict to show', () => second.mirror.status().error);
    await Promise.all([swept(first, 2), swept(second, 2)]);
    expect(first.writes).toEqual(['POST configmaps']);
    expect((await get('ep_0'))?.metadata.labels?.['edge-operator.dev/account']).toBe('default');
  });
});

test('what a backup, or a person, brings back of an endpoint that is gone goes again', async () => {
  cloud.seed({ endpoints: [endpoint('ep_0'), endpoint('ep_1')] });
  const started = start();
  await shows(2);
  const { apiVersion, kind, data, metadata } = (await get('ep_1')) as ConfigMap;
  cloud.unseed('ep_1');
  await shows(1);
  const { name, labels, annotations, ownerReferences } = metadata;
  const saved = { apiVersion, kind, data, metadata: { name, namespace, labels, annotations, ownerReferences } };
  await client.create<ConfigMap>(configMapType, saved as ConfigMap);
  await shows(1);
  await until('the mirror to be synced', () => started.mirror.status().synced);
});

describe('two operators with one account name in one namespace', () => {
  const accountOf = (list: readonly string[]) => ({
    listAll: async function* () {
      yield* list.map((id) => ({ ...endpoint(id), region: 'us', created_at: '', updated_at: '', hostport: 'h:1' }));
    },
    get: async () => undefined,
  });

  test.each([
    ['of different installations', named('blue'), named('green')],
    ['that nobody named', {}, {}],
  ])('%s let each other be', async (_, blue, green) => {
    const endpointsOf = (...list: string[]) => ({ endpoints: accountOf(list) as EndpointMirrorOptions['endpoints'] });
    const [a, b] = [start({ ...blue, ...endpointsOf('ep_a') }), start({ ...green, ...endpointsOf('ep_b') })];
    await Promise.all([isSynced(a), isSynced(b)]);
    await until('both', async () => (await ids()).length === 2);
    // One that began last may not have seen yet that the other's is contested.
    const countOf = () => a.writes.length + b.writes.length;
    await until('quiet', async () => {
      const before = countOf();
      await Promise.all([swept(a, 3), swept(b, 3)]);
      return countOf() === before && (await ids()).length === 2;
    });
    // Fighting they would have written in each sweep.
    expect(countOf()).toBeLessThan(16);
  });

  test('and one endpoint: the second says so, and takes it over where it may', async () => {
    cloud.seed({ endpoints: many(1) });
    const blue = start(named('blue'));
    await isSynced(blue);
    const made = await get('ep_0');
    const green = start(named('green'));
    await until('the conflict to show', () => green.mirror.status().error?.includes('of another installation'));
    expect(await get('ep_0')).toEqual(made);
    await Promise.all([blue.stop(), green.stop()]);
    const heir = start({ ...named('green'), takeOver: true });
    await isSynced(heir);
    expect(heir.writes).toEqual([`PUT ${endpointName('ep_0')}`]);
  });

  test('and one endpoint: who had it lets it be from when the other took it over', async () => {
    cloud.seed({ endpoints: many(1) });
    const blue = start(named('blue'));
    await isSynced(blue);
    const heir = start({ ...named('green'), takeOver: true });
    await isSynced(heir);
    await until('the conflict to show', () => blue.mirror.status().error?.includes('of another installation'));
    await Promise.all([swept(blue, 2), swept(heir, 2)]);
    // A mark alone may be forged: it is overwritten once.
    const put = `PUT ${endpointName('ep_0')}`;
    expect(heir.writes).toEqual([put, put]);
    expect(blue.writes).toEqual(['POST configmaps', put]);
  });

  test('and one endpoint: where both may take over, it comes to rest', async () => {
    cloud.seed({ endpoints: many(1) });
    const blue = start({ ...named('blue'), takeOver: true });
    await isSynced(blue);
    const heir = start({ ...named('green'), takeOver: true });
    const refusal = () => blue.mirror.status().error ?? heir.mirror.status().error;
    await until('the conflict to show', () => refusal()?.includes('of another installation'));
    await Promise.all([swept(blue, 2), swept(heir, 2)]);
    expect(blue.writes.length + heir.writes.length).toBeLessThan(6);
  });

  test('and one that ended before the other was taken over: its ConfigMap goes', async () => {
    cloud.seed({ endpoints: many(2) });
    const blue = start(named('blue'));
    await isSynced(blue);
    await blue.stop();
    cloud.unseed('ep_1');
    const heir = start({ ...named('green'), takeOver: true });
    await isSynced(heir);
    await until('the other to go', async () => (await ids()).length === 1);
  });

  test('an earlier version made is marked, and what is no endpoint of it goes', async () => {
    cloud.seed({ endpoints: many(2) });
    await isSynced(start());
    await Promise.all(stops.map((stop) => stop()));
    for (const id of ['ep_0', 'ep_1']) await patch(id, { metadata: { annotations: null } });
    cloud.unseed('ep_1');
    const started = start(named('blue'));
    await isSynced(started);
    await until('the other to go', async () => (await ids()).length === 1);
    expect((await get('ep_0'))?.metadata.annotations).toHaveProperty(['edge-operator.dev/mirrored-by']);
  });
});

test('a namespace that is not there yet is one warning, and no obstacle once it is', async () => {
  cloud.seed({ endpoints: many(20) });
  const missing = `${namespace}-later`;
  const started = start({ namespace: missing, intervalMs: hourMs });
  await until('all to have failed', () => started.writes.length >= 20 && started.mirror.status().error);
  expect(started.mirror.status()).toMatchObject({ synced: false, pending: 20 });
  expect(started.warnings).toHaveLength(1);
  await createNamespace(missing);
  await isSynced(started);
  expect(
    (await client.listAll(configMapType, { namespace: missing, labelSelector: 'edge-operator.dev/mirror' })).items,
  ).toHaveLength(20);
});

test('ConfigMaps that may not be read are said to be in the way, until they may', async () => {
  cloud.seed({ endpoints: many(2) });
  let mayRead = false;
  const reader = connection.withGuard(({ doing }) => {
    if (!mayRead) throw new KubeError(doing, { status: 403, reason: 'Forbidden', message: 'no right to that' });
  });
  const started = start({ reader: new KubeClient(reader, systemRuntime) });
  await until('that to be said', () => started.mirror.status().error);
  expect(started.mirror.status()).toMatchObject({
    synced: false,
    error: `the operator may not list and watch the ConfigMaps of namespace ${namespace}`,
    cause: 'no right',
  });
  mayRead = true;
  await isSynced(started);
  expect([await ids(), started.mirror.status().error]).toEqual([['ep_0', 'ep_1'], undefined]);
});

test.each([
  ['role', 403, 'Forbidden'],
  ['policy', 422, 'Invalid'],
])('ConfigMaps that may not be written, by a %s, are said to be for want of a right', async (_, code, reason) => {
  cloud.seed({ endpoints: many(1) });
  const writer = connection.withGuard(({ doing }) => {
    throw new KubeError(doing, { status: code, reason, message: 'no right to that' });
  });
  const started = start({ client: new KubeClient(writer, systemRuntime) });
  await until('that to be said', () => started.mirror.status().error);
  expect(started.mirror.status()).toMatchObject({
    error: expect.stringMatching(/no right to that$/),
    cause: 'no right',
  });
});

test('ConfigMaps that may not be created are tried once each, then one for all, and go on together', async () => {
  cloud.seed({ endpoints: many(100) });
  let mayCreate = false;
  let refused = 0;
  const writer = connection.withGuard(({ doing, method }) => {
    if (mayCreate || method !== 'POST') return;
    refused += 1;
    throw new KubeError(doing, { status: 403, reason: 'Forbidden', message: 'exceeded quota' });
  });
  const started = start({ client: new KubeClient(writer, systemRuntime) });
  await until('all to be refused', () => refused >= 100);
  await swept(started, 10);
  expect(refused).toBeLessThan(110);
  mayCreate = true;
  await isSynced(started);
  expect((await listed()).length).toBe(100);
});

test('stopping finishes what is under way and leaves the ConfigMaps', async () => {
  cloud.seed({ endpoints: many(300) });
  const started = start();
  await until('writing to begin', () => started.writes.length > 10);
  await started.stop();
  const { length } = started.writes;
  expect((await listed()).length).toBe(length);
  await isSynced(start());
  expect((await listed()).length).toBe(300);
});
