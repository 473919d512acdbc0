import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { testRuntime } from '../../../test/support/in-memory.ts';
import { CloudClient } from '../../operator/cloud/client.ts';
import { Limiter } from '../../operator/cloud/limiter.ts';
import { readContract } from './contract.fixture.ts';

/*
 * The operator's client and this server, each with schemas of its own. The client drops fields that it does not know,
 * so equal means that it knows and reads every one.
 */

const call = { priority: 'change' } as const;
const route = { edgeID: 'edghts_a', routeID: 'edghtsrt_a' };
const routePath = '/edges/https/edghts_a/routes/edghtsrt_a';
const served = { region: 'eu', public_url: 'tcp://t:1', proto: 'tcp', hostport: 't:1', metadata: 'm' } as const;

const called = new Set<string>();
let cloud: TestCloud;
let client: CloudClient;

beforeAll(async () => {
  cloud = await startTestCloud({
    seeds: [
      {
        endpoint_configurations: ['ec_a'],
        ip_policies: ['ipp_a'],
        certificate_authorities: ['ca_a'],
        reserved_domains: ['rd_a'],
        https_edges: [{ id: route.edgeID, routes: [route.routeID] }],
        tls_edges: ['edgtls_a'],
        endpoints: [
          { ...served, id: 'ep_edge', type: 'edge', edge: route.edgeID, domain: 'rd_a' },
          { ...served, id: 'ep_tunnel', type: 'ephemeral', tunnel: 'tn_a', tcp_addr: 'ra_a' },
        ],
      },
    ],
  });
  const limiter = new Limiter({ ...testRuntime, requestsPerMinute: 10_000 });
  client = new CloudClient({
    ...testRuntime,
    baseURL: cloud.url,
    apiKey: () => cloud.apiKey,
    limiter: () => limiter,
    userAgent: 'test',
    onRequest: ({ operation }) => called.add(operation),
  });
});
afterAll(async () => {
  await client.close();
  await cloud.stop();
});

const read = async (path: string): Promise<unknown> => (await cloud.call('GET', path)).body;

test('ReservedAddr', async () => {
  const made = await client.reservedAddrs.create({ description: 'd', metadata: 'm', region: 'jp' }, call);
  const path = `/reserved_addrs/${made.id}`;
  expect(made).toEqual(await read(path));
  const changed = await client.reservedAddrs.update(made.id, { endpoint_configuration_id: 'ec_a' }, call);
  expect(changed).toEqual(await read(path));
  expect(changed.endpoint_configuration?.id).toBe('ec_a');
  expect(await client.reservedAddrs.get(made.id, call)).toEqual(changed);
  expect((await client.reservedAddrs.list({ limit: 1 }, call)).items).toEqual([changed]);
  expect(await client.reservedAddrs.delete(made.id, call)).toBe('deleted');
  expect(await client.reservedAddrs.delete(made.id, call)).toBe('absent');
});

test('BotUser', async () => {
  const made = await client.botUsers.create({ name: 'a' }, call);
  expect(made).toEqual(await read(`/bot_users/${made.id}`));
  const changed = await client.botUsers.update(made.id, { active: false }, call);
  expect(changed).toEqual({ ...made, active: false });
  expect(await client.botUsers.get(made.id, call)).toEqual(changed);
  const newer = await client.botUsers.create({ name: 'b', active: false }, call);
  const first = await client.botUsers.list({ limit: 1 }, call);
  expect(first.items).toEqual([newer]);
  expect(first.next).toBe(`before_id=${newer.id}&limit=1`);
  expect(await Array.fromAsync(client.botUsers.listAll(call, { pageSize: 1 }))).toEqual([newer, changed]);
  expect(await client.botUsers.delete(made.id, call)).toBe('deleted');
});

test.each(['ep_edge', 'ep_tunnel'])('Endpoint %s', async (id) => {
  const shown = await read(`/endpoints/${id}`);
  expect(await client.endpoints.get(id, call)).toEqual(shown);
  expect((await client.endpoints.list({}, call)).items).toContainEqual(shown);
});

interface Handle {
  replace(): Promise<unknown>;
  get(): Promise<unknown>;
  delete(): Promise<unknown>;
}

interface AnyModule<Parent, Fields> {
  replace(parent: Parent, fields: Fields, options: typeof call): Promise<unknown>;
  get(parent: Parent, options: typeof call): Promise<unknown>;
  delete(parent: Parent, options: typeof call): Promise<unknown>;
}

const handle = <Parent, Fields>(module: AnyModule<Parent, Fields>, parent: Parent, fields: Fields): Handle => ({
  replace: () => module.replace(parent, fields, call),
  get: () => module.get(parent, call),
  delete: () => module.delete(parent, call),
});

const policy = '{"inbound":[{"name":"n","expressions":[],"actions":[{"type":"deny"}]}]}';

describe.each<readonly [string, string, () => Handle]>([
  [
    'SAML',
    `${routePath}/saml`,
    () => handle(client.routeModules.saml, route, { idp_metadata: '<x/>', authorized_groups: ['a'] }),
  ],
  [
    'IP restriction',
    `${routePath}/ip_restriction`,
    () => handle(client.routeModules.ipRestriction, route, { ip_policy_ids: ['ipp_a'] }),
  ],
  [
    'webhook verification',
    `${routePath}/webhook_verification`,
    () => handle(client.routeModules.webhookVerification, route, { provider: 'github', secret: 's' }),
  ],
  ['compression', `${routePath}/compression`, () => handle(client.routeModules.compression, route, { enabled: false })],
  [
    'traffic policy',
    '/edges/tls/edgtls_a/traffic_policy',
    () => handle(client.tlsEdges.trafficPolicy, 'edgtls_a', { value: policy }),
  ],
  [
    'mutual TLS',
    `/edges/https/${route.edgeID}/mutual_tls`,
    () => handle(client.httpsEdges.mutualTLS, route.edgeID, { certificate_authority_ids: ['ca_a'] }),
  ],
  [
    'TLS termination',
    `/edges/https/${route.edgeID}/tls_termination`,
    () => handle(client.httpsEdges.tlsTermination, route.edgeID, { min_version: '1.3' }),
  ],
])('%s module', (_, path, open) => {
  test('is set, read and removed', async () => {
    const module = open();
    expect(await module.get()).toBeUndefined();
    const shown = await module.replace();
    expect(shown).toEqual(await read(path));
    expect(await module.get()).toEqual(shown);
    expect(await module.delete()).toBe('deleted');
    expect(await module.delete()).toBe('absent');
  });
});

test('refusals say what the server says, with its code', async () => {
  const refused = client.reservedAddrs.create({ metadata: 'm'.repeat(4097) }, call);
  await expect(refused).rejects.toMatchObject({
    reason: 'Rejected',
    definite: true,
    status: 400,
    code: 'ERR_EDGE_307',
    message: expect.stringContaining('"metadata"'),
  });
});

test('these were all 33 operations, under the names of the OpenAPI document', () => {
  const documented = Object.values(readContract().paths).flatMap(({ parameters: _, ...methods }) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect([...called].toSorted()).toEqual(documented.toSorted());
});
