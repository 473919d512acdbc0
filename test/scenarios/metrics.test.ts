import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { metricDefinitions } from '../../src/operator/metrics/metric-names.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { labelValues } from '../observability/known-metrics.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { type Family, parseMetrics } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/* What a real operator serves as metrics and writes as log after a busy minute with many resources. */

const each = 15;
const readyBots = { ready: 'True', kind: 'BotUser' };

let world: World;
let operator: OperatorProcess;
let namespace: string;
let families: readonly Family[];
const ids: string[] = [];

beforeAll(async () => {
  world = await startWorld();
  namespace = await world.namespace();
  world.cloud.seed({ endpoints: Array.from({ length: each }, (_, i) => endpoint(`ep_named${i}`)) });
  const mirror = ['--mirror-interval', '1s', '--mirror-namespace', namespace];
  operator = world.startOperator([...mirror, '--requests-per-minute', '100000', '--resync-interval', '1s']);
  await openAccount();
  world.cloud.fault('GET /bot_users status=503 count=1');
  world.cloud.fault('POST /reserved_addrs status=429 retry-after=1 count=1');
  const objects = (await Promise.all(Array.from({ length: each }, (_, i) => createTwo(i)))).flat();
  ids.push(...objects.map((object) => String(object.status?.id)));
  await world.reason(await world.apply('BotUser', namespace, 'named-twin', { name: 'named-twin' }), 'Available');
  await causeTrouble(objects);
  // The 503 of a list may reach many of them, for a moment.
  families = await until('all to be Ready again', async () => {
    const scraped = parseMetrics(await operator.metrics());
    return sumOf(scraped, 'edge_operator_resources', readyBots) === each + 1 && scraped;
  });
}, 60_000);
afterAll(() => world.stop());

async function openAccount(): Promise<void> {
  await world.give('Secret', namespace, 'named-key', { apiKey: world.cloud.apiKey });
  const spec = { apiKeySecretRef: { name: 'named-key', key: 'apiKey' }, apiURL: world.cloud.url };
  await world.reason(await world.apply('CloudAccount', namespace, 'named-account', spec), 'Available');
}

function createTwo(i: number): Promise<readonly ManagedObject[]> {
  const accountRef = i % 2 === 0 ? {} : { accountRef: { name: 'named-account' } };
  const create = async (kind: string, spec: object) =>
    world.reason(await world.apply(kind, namespace, `named-${i}`, { ...spec, ...accountRef }), 'Available', 30_000);
  return Promise.all([
    create('BotUser', { name: `named-${i}` }),
    create('ReservedAddr', { description: `named-${i}`, metadata: `named-${i}`, region: 'us' }),
  ]);
}

/** A refusal, a missing route, a drift and a deletion. */
async function causeTrouble([drifted, deleted]: readonly ManagedObject[]): Promise<void> {
  if (drifted === undefined || deleted === undefined) throw new Error('nothing was created');
  world.cloud.fault('POST /bot_users status=400 count=1');
  await world.reason(await world.apply('BotUser', namespace, 'named-refused', { name: 'named-refused' }), 'Rejected');
  const route = { edgeID: 'edghts_named', routeID: 'edghtsrt_named', compression: {} };
  await world.reason(await world.apply('HttpsRouteModules', namespace, 'named-route', route), 'DependencyNotReady');
  await world.cloud.call('PATCH', `/bot_users/${drifted.status?.id}`, { name: 'named-by-somebody' });
  await world.annotate(drifted, { 'edge-operator.dev/reconcile-at': 'now' });
  await until('the drift to be corrected', async () =>
    (await operator.metrics()).includes('edge_operator_drift_corrected_total{kind="BotUser"} 1'),
  );
  await world.delete(deleted);
  await world.gone(deleted);
}

function endpoint(id: string) {
  const proto = 'tcp' as const;
  const type = 'ephemeral' as const;
  return {
    id,
    public_url: `tcp://${id}.example.test`,
    proto,
    type,
    hostport: `${id}.example.test:443`,
    tunnel: 'tn_1',
  };
}

const samples = () => families.flatMap((family) => family.samples);

function sumOf(from: readonly Family[], name: string, labels: Readonly<Record<string, string>>): number {
  return from
    .flatMap((family) => family.samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, text]) => sample.labels[label] === text))
    .reduce((sum, sample) => sum + sample.value, 0);
}

test('every metric is served under its name, with its type and labels', () => {
  const served = new Map(families.map((family) => [family.name, family]));
  const withoutLe = ({ le, ...labels }: Readonly<Record<string, string>>) => Object.keys(labels).sort().join();
  for (const { name, type, labelNames } of metricDefinitions) {
    expect([name, served.get(name)?.type]).toEqual([name, type]);
    const sets = new Set(served.get(name)?.samples.map(({ labels }) => withoutLe(labels)));
    // Of tunnels, and of --watch-namespaces: there are none here.
    const without = /^edge_operator_(tunnel|namespace)_/.test(name);
    expect([name, [...sets]]).toEqual([name, without ? [] : [[...labelNames].sort().join()]]);
  }
  const defined = new Set(metricDefinitions.map(({ name }) => name));
  const others = families.filter(({ name }) => !defined.has(name)).map(({ name }) => name);
  expect(others.filter((name) => !/^(process|nodejs)_/.test(name))).toEqual([]);
});

test('labels take only values that are known beforehand, but for accounts', () => {
  const accounts = ['default', `${namespace}/named-account`];
  const open: Readonly<Record<string, RegExp>> = {
    operation: /^(reserved_addrs|bot_users|endpoints|https_edge_\w+|https_route_\w+|tls_edge_\w+)\.[a-z]+$/,
    le: /^(\+Inf|[\d.e-]+)$/,
    name: /^[a-z]+$/,
    shard: /^\d+$/,
    verb: /^(get|list|watch|watchlist|create|update|patch|delete)$/,
    resource: /^[a-z]+$/,
  };
  const isStatus = (name: string, label: string, value: string) =>
    label === 'code' && name.startsWith('edge_operator_kubernetes_') && /^[2-5]\d\d$/.test(value);
  const own = samples().filter(({ name }) => !/^(process|nodejs)_/.test(name));
  const unknown = own.flatMap(({ name, labels }) =>
    Object.entries(labels)
      .filter(([label, value]) => {
        if (name === 'edge_operator_build_info') return false;
        if (isStatus(name, label, value)) return false;
        if (label === 'account') return !accounts.includes(value);
        return !(labelValues[label]?.includes(value) ?? open[label]?.test(value) ?? false);
      })
      .map(([label, value]) => `${name}{${label}="${value}"}`),
  );
  expect(unknown).toEqual([]);
});

test('no name or id of an object is anywhere in them', () => {
  const texts = samples().flatMap(({ labels }) => Object.values(labels));
  const named = texts.filter((text) => text.includes('named-') && text !== `${namespace}/named-account`);
  expect(named).toEqual([]);
  expect(ids.filter((id) => texts.some((text) => text.includes(id)))).toEqual([]);
  expect(ids.length).toBe(2 * each);
  expect(samples().length).toBeLessThan(1_500);
});

test('they tell what happened', () => {
  const value = (name: string, labels: Readonly<Record<string, string>>) => sumOf(families, name, labels);
  expect(value('edge_operator_resources', readyBots)).toBe(each + 1);
  expect(value('edge_operator_resources', { ready: 'False', reason: 'Rejected' })).toBe(1);
  expect(value('edge_operator_cloud_rate_limited_total', {})).toBe(1);
  expect(value('edge_operator_cloud_requests_total', { operation: 'bot_users.list', code: '5xx' })).toBe(1);
  expect(value('edge_operator_cloud_account_state', { state: 'usable' })).toBe(2);
  expect(value('edge_operator_mirrored_endpoints', { account: 'default' })).toBe(each);
  expect(value('edge_operator_mirror_interval_seconds', { account: 'default' })).toBe(1);
  expect(value('edge_operator_leader', {})).toBe(1);
  const age = Date.now() / 1_000 - value('edge_operator_mirror_last_sweep_timestamp_seconds', { account: 'default' });
  expect(age).toBeLessThan(60);
});

test('each log line is an object with time, level and message, and names its resource', () => {
  const lines = operator
    .logs()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const line of lines) {
    expect(line).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: expect.stringMatching(/^(error|warn|info)$/),
      message: expect.any(String),
    });
  }
  const created = lines.filter(({ event, kind }) => event === 'Created' && kind === 'BotUser');
  expect(new Set(created.map(({ name }) => name)).size).toBeGreaterThanOrEqual(each);
  const resource = { controller: 'botuser', kind: 'BotUser', namespace, name: expect.any(String) };
  for (const line of created) expect(line).toMatchObject({ ...resource, reconcileID: expect.any(String) });
  const failed = lines.find(({ event, name }) => event === 'Failed' && name === 'named-refused');
  const operationID = expect.stringMatching(/^op_/);
  expect(failed).toMatchObject({ ...resource, account: 'default', reconcileID: expect.any(String), operationID });
  // Checks for drift every second, sweeps and unchanged reconciles leave no line.
  const perResource = lines.filter(({ kind, name }) => kind === 'BotUser' && name === 'named-3');
  const events = perResource.map(({ event }) => event);
  // The 503 of a list may have reached it.
  expect(events.filter((event) => event !== 'Failed' && event !== 'Recovered')).toEqual(['Created']);
});
