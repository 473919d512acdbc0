import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Lease, leaseType } from '../../../src/operator/controller/lease.ts';
import { conditionOf } from '../../../src/operator/reconcile/resource/resource.ts';
import type { JournalEntry } from '../../../src/reference/cloud-api/journal.ts';
import { quickestMs } from '../../support/elapsed.ts';
import { until } from '../../support/until.ts';
import { secretMark, startWorld, type World } from '../../support/world.ts';

/*
 * Module drift on a tight budget: 100 resources of four parts each, whose checks alone would take several times the
 * 120 requests a minute. Every request is counted where it arrives.
 */

const resources = 100;
const budget = 120;
const minuteMs = 60_000;

const edge = 'edghts_2budgetBudgetBudgetBudget01';
const policy = 'ipp_2budgetBudgetBudgetBudget0001';
const route = (index: number) => `edghtsrt_2budgetBudgetBudgetBud${String(index).padStart(4, '0')}`;
const spec = (index: number, more: object = {}) => ({
  edgeID: edge,
  routeID: route(index),
  saml: { idpMetadata: `<EntityDescriptor entityID="${secretMark}"/>`, ...more },
  ipRestriction: { ipPolicyIDs: [policy] },
  webhookVerification: { provider: 'sns' },
  compression: {},
});

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const routes = Array.from({ length: resources }, (_, index) => route(index));
  world.cloud.seed({ https_edges: [{ id: edge, routes }], ip_policies: [policy] });
});
afterAll(() => world.stop());

test('drift never exceeds the budget in any 60 s, and a change made meanwhile is sent in under 2 s', async () => {
  const namespace = await world.namespace();
  const options = ['--watch-namespaces', namespace, '--concurrency', '8'];
  await Promise.all(
    Array.from({ length: resources }, (_, index) =>
      world.apply('HttpsRouteModules', namespace, `r${index}`, spec(index)),
    ),
  );
  const first = world.startOperator([...options, '--requests-per-minute', '100000', '--concurrency', '16']);
  await until(
    'all to be Ready',
    async () => {
      const all = await world.list('HttpsRouteModules', namespace);
      return all.every((object) => conditionOf(object, 'Ready')?.status === 'True');
    },
    60_000,
  );
  await first.stop();
  // As if the first one had sent nothing in its last minute.
  const [record] = (await world.client.listAll<Lease>(leaseType)).items.filter(isBudget);
  if (record !== undefined) await world.client.delete(leaseType, record.metadata);
  world.cloud.clearRequests();

  const second = world.startOperator([...options, '--requests-per-minute', String(budget), '--resync-interval', '30s']);
  const drift = () => world.cloud.requests().filter((request) => request.method === 'GET');
  await until('drift to be waiting for its budget', () => drift().length >= budget / 2, 30_000);
  const startedAt = Date.now();
  const change = async (index: number) => {
    const changedAt = Date.now();
    const object = await world.apply(
      'HttpsRouteModules',
      namespace,
      `r${index}`,
      spec(index, { cookiePrefix: 'new.' }),
    );
    const put = await until('the change to be sent', () =>
      world.cloud.requests().find(({ method, path }) => method === 'PUT' && path.includes(route(index))),
    );
    await world.reason(object, 'Available');
    return Date.parse(put.at) - changedAt;
  };
  expect(await quickestMs(2_000, change)).toBeLessThan(2_000);

  await until('more than a minute of it', () => Date.now() - startedAt > minuteMs + 10_000, minuteMs + 30_000);
  expect(drift().length).toBeGreaterThan(budget / 2);
  expect(mostInAMinute(world.cloud.requests())).toBeLessThanOrEqual(budget);
  // What it sends is not of the next test.
  await second.stop();
}, 240_000);

test('processes that are killed send together no more than one may, and what is on record names no key', async () => {
  const namespace = await world.namespace();
  const most = 30;
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      world.apply('BotUser', namespace, `killed-${index}`, { name: `k${index}` }),
    ),
  );
  world.cloud.clearRequests();
  const sent = () => world.cloud.requests().length;
  for (let process = 0; process < 4; process += 1) {
    const operator = world.startOperator(['--watch-namespaces', namespace, '--requests-per-minute', String(most)]);
    // What was sent before the test leaves the first one nothing for up to a minute.
    if (process === 0) await until('more than half to be sent', () => sent() > most / 2, 150_000);
    else await until('it to have started', () => operator.logs().includes('"started"'));
    // Each may find nothing left.
    const before = sent();
    await until('more to be sent', () => sent() - before > most / 4, 5_000).catch(() => {});
    await operator.stop('SIGKILL');
  }
  expect(mostInAMinute(world.cloud.requests())).toBeLessThanOrEqual(most);
  const { items } = await world.client.listAll<Lease>(leaseType);
  const [record] = items.filter(isBudget);
  const text = JSON.stringify(record?.metadata.annotations);
  expect(text).toContain('default http://');
  expect(text).not.toContain(world.cloud.apiKey);
}, 240_000);

const isBudget = ({ metadata }: Lease): boolean => metadata.name === 'edge-operator-budget';

function mostInAMinute(requests: readonly JournalEntry[]): number {
  const times = requests.map((request) => Date.parse(request.at)).sort((a, b) => a - b);
  return Math.max(...times.map((from, index) => times.slice(index).filter((at) => at - from < minuteMs).length));
}
