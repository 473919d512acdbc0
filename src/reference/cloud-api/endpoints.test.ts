import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud({
    seeds: [
      {
        reserved_domains: ['rd_a'],
        https_edges: [{ id: 'edghts_a' }],
        endpoints: [
          {
            id: 'ep_edge',
            public_url: 'https://a.localhost',
            proto: 'https',
            hostport: 'a.localhost:443',
            type: 'edge',
            metadata: 'm',
            domain: 'rd_a',
            edge: 'edghts_a',
          },
          {
            id: 'ep_tunnel',
            region: 'eu',
            public_url: 'tcp://1.tcp.eu.localhost:1',
            proto: 'tcp',
            hostport: '1.tcp.eu.localhost:1',
            type: 'ephemeral',
            tcp_addr: 'ra_a',
            tunnel: 'tn_a',
          },
        ],
      },
    ],
  });
});
afterAll(() => cloud.stop());

const time = expect.stringMatching(/Z$/);

test('an edge endpoint has the fields of section 2 and omits what does not apply', async () => {
  const { status, body } = await cloud.call('GET', '/endpoints/ep_edge');
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    id: 'ep_edge',
    region: 'us',
    created_at: time,
    updated_at: time,
    public_url: 'https://a.localhost',
    proto: 'https',
    hostport: 'a.localhost:443',
    type: 'edge',
    metadata: 'm',
    domain: { id: 'rd_a', uri: `${cloud.url}/reserved_domains/rd_a` },
    edge: { id: 'edghts_a', uri: `${cloud.url}/edges/https/edghts_a` },
  });
});

test('an ephemeral endpoint names its tunnel and address', async () => {
  const { body } = await cloud.call('GET', '/endpoints/ep_tunnel');
  expect(body).toStrictEqual({
    id: 'ep_tunnel',
    region: 'eu',
    created_at: time,
    updated_at: time,
    public_url: 'tcp://1.tcp.eu.localhost:1',
    proto: 'tcp',
    hostport: '1.tcp.eu.localhost:1',
    type: 'ephemeral',
    tcp_addr: { id: 'ra_a', uri: `${cloud.url}/reserved_addrs/ra_a` },
    tunnel: { id: 'tn_a', uri: `${cloud.url}/tunnels/tn_a` },
  });
});

test('the list holds active endpoints only', async () => {
  cloud.seed({
    endpoints: [
      { id: 'ep_gone', public_url: 'tls://g:1', proto: 'tls', hostport: 'g:1', type: 'ephemeral', tunnel: 'tn_g' },
    ],
  });
  expect((await cloud.call('GET', '/endpoints/ep_gone')).status).toBe(200);
  expect(cloud.unseed('ep_gone')).toBe(true);
  const { body } = await cloud.call('GET', '/endpoints');
  expect(body.endpoints.map((endpoint: { id: string }) => endpoint.id)).toEqual(['ep_tunnel', 'ep_edge']);
  expect((await cloud.call('GET', '/endpoints/ep_gone')).status).toBe(404);
});

test.each(['POST /endpoints', 'PATCH /endpoints/ep_edge', 'DELETE /endpoints/ep_edge'])('%s is 405', async (what) => {
  const [method = '', path = ''] = what.split(' ');
  const answer = await cloud.call(method, path);
  expect(answer).toMatchObject({ status: 405, body: { error_code: 'ERR_EDGE_201' } });
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
});
