import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../../common/runtime.ts';
import { readSeedFile } from './read.ts';
import type { Seed } from './schema.ts';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'seed-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function read(text: string): Promise<Seed> {
  const file = join(dir, 'seed.yaml');
  await writeFile(file, text);
  return readSeedFile(file);
}

describe('readSeedFile', () => {
  test('reads YAML; an empty file seeds nothing', async () => {
    expect(await read('ip_policies:\n  - ipp_a\n')).toEqual({ ip_policies: ['ipp_a'] });
    expect(await read('')).toEqual({});
  });

  const endpoint = 'id: ep_a, public_url: "tcp://a:1", proto: tcp, hostport: "a:1"';
  test.each([
    ['an id of another type', 'ip_policies: [ipp_a, ca_b]', 'seed.yaml: ip_policies[1]: must be an id: ipp_…'],
    ['an unknown field', 'https_edges: [{id: edghts_a, colour: red}]', 'https_edges[0].colour: is no field of a seed'],
    ['a nested wrong value', 'https_edges: [{id: edghts_a, terminate_at: moon}]', 'https_edges[0].terminate_at:'],
    ['an edge endpoint without its edge', `endpoints: [{${endpoint}, type: edge}]`, 'endpoints[0]: of type edge needs'],
    [
      'an ephemeral one without tunnel',
      `endpoints: [{${endpoint}, type: ephemeral}]`,
      'endpoints[0]: of type ephemeral',
    ],
    [
      'a route of two edges',
      'https_edges: [{id: edghts_a, routes: [edghtsrt_a]}, {id: edghts_b, routes: [edghtsrt_b, edghtsrt_a]}]',
      'https_edges[1].routes[1]: is given twice',
    ],
    ['a list at the top', '[]', 'seed.yaml: must be a map'],
    ['no list', 'https_edges: 5', 'https_edges: must be a list'],
    ['broken YAML', 'a: [', 'is not YAML'],
  ])('%s is one line naming file and path', async (_, text, message) => {
    const error = await read(text).catch((reason: Error) => reason);
    expect(error).toMatchObject({ name: 'SetupError', message: expect.stringContaining(message) });
    expect((error as Error).message).toContain(join(dir, 'seed.yaml'));
    expect((error as Error).message).not.toContain('\n');
  });

  test('a missing file', async () => {
    await expect(readSeedFile(join(dir, 'none'))).rejects.toThrow('cannot be read');
  });
});

const edgeEndpoint = {
  id: 'ep_a',
  public_url: 'https://a',
  proto: 'https',
  hostport: 'a:443',
  type: 'edge',
  edge: 'edghts_a',
} as const;
const seed: Seed = { https_edges: [{ id: 'edghts_a' }], endpoints: [edgeEndpoint] };

describe('seeding', () => {
  const stop = (cloud: TestCloud) => cloud.stop();

  test('again changes nothing; a changed endpoint keeps its place and created_at', async () => {
    let now = 0;
    const runtime = { ...systemRuntime, clock: { ...systemRuntime.clock, now: () => now } };
    const cloud = await startTestCloud({ seeds: [seed], runtime });
    const before = (await cloud.call('GET', '/endpoints')).body;
    now = 60_000;
    cloud.seed(seed);
    expect((await cloud.call('GET', '/endpoints')).body).toEqual(before);
    cloud.seed({ ...seed, endpoints: [{ ...edgeEndpoint, metadata: 'new' }] });
    const [endpoint] = (await cloud.call('GET', '/endpoints')).body.endpoints;
    expect(endpoint).toEqual({ ...before.endpoints[0], metadata: 'new', updated_at: '1970-01-01T00:01:00Z' });
    await stop(cloud);
  });

  test('what is taken away takes its modules along', async () => {
    const seeds: Seed[] = [{ https_edges: [{ id: 'edghts_a', routes: ['edghtsrt_a'] }] }];
    const cloud = await startTestCloud({ seeds });
    const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
    expect((await cloud.call('PUT', path, {})).status).toBe(200);
    expect(cloud.unseed('edghtsrt_a')).toBe(true);
    expect((await cloud.call('GET', path)).body.error_code).toBe('ERR_EDGE_202');
    for (const seed of seeds) cloud.seed(seed);
    expect((await cloud.call('GET', path)).body.error_code).toBe('ERR_EDGE_203');
    await stop(cloud);
  });

  test('is for every account, or for those it names', async () => {
    const seeds: Seed[] = [seed, { accounts: ['blue'], endpoints: [{ ...edgeEndpoint, id: 'ep_b' }] }];
    const cloud = await startTestCloud({ seeds, apiKeys: ['blue=blue-key'] });
    const ids = async (key: string) => {
      const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
      const list = (await (await fetch(`${cloud.url}/endpoints`, { headers })).json()) as {
        endpoints: { id: string }[];
      };
      return list.endpoints.map((endpoint) => endpoint.id);
    };
    expect(await ids(cloud.apiKey)).toEqual(['ep_a']);
    expect(await ids('blue-key')).toEqual(['ep_b', 'ep_a']);
    await stop(cloud);
  });

  test.each([
    ['an account that no key opens', { accounts: ['nobody'] }, 'seed: accounts: no API key opens account nobody'],
    ['an unknown edge', { endpoints: [edgeEndpoint] }, 'endpoints[0].edge: no edge with id edghts_a'],
    [
      'an unknown domain',
      { ...seed, endpoints: [{ ...edgeEndpoint, domain: 'rd_x' }] },
      'endpoints[0].domain: no domain',
    ],
  ])('%s is refused and nothing is laid', async (_, wrong: Seed, message) => {
    await expect(startTestCloud({ seeds: [wrong] })).rejects.toThrow(message);
    const cloud = await startTestCloud();
    expect(() => cloud.seed({ ...wrong, endpoint_configurations: ['ec_a'] })).toThrow(message);
    const { id } = (await cloud.call('POST', '/reserved_addrs', {})).body;
    const answer = await cloud.call('PATCH', `/reserved_addrs/${id}`, { endpoint_configuration_id: 'ec_a' });
    expect(answer.status).toBe(400);
    await stop(cloud);
  });
});
