import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CloudClient } from './client.ts';
import type { ScriptedAPI } from './scripted-api.fixture.ts';
import { call, failure, foreign404s, json, startScriptedAPI, text } from './scripted-api.fixture.ts';

const created_at = '2026-01-02T03:04:05Z';
const ref = { id: 'x_1', uri: 'https://api.test/x_1' };
const addr = {
  id: 'ra_1',
  uri: 'https://api.test/reserved_addrs/ra_1',
  created_at,
  description: 'db',
  metadata: '{"env":"test"}',
  addr: '1.tcp.test:20001',
  region: 'eu',
  endpoint_configuration: null,
};
const bot = { id: 'bot_1', uri: 'https://api.test/bot_users/bot_1', name: 'ci', active: true, created_at };
const endpoint = {
  id: 'ep_1',
  region: 'us',
  created_at,
  updated_at: created_at,
  public_url: 'https://a.test',
  proto: 'https',
  hostport: 'a.test:443',
  type: 'edge',
  metadata: '',
  domain: ref,
  edge: ref,
};
const samlRequest = {
  enabled: true,
  idp_metadata: '<EntityDescriptor/>',
  authorized_groups: ['a'],
  maximum_duration: 60,
};
const saml = {
  enabled: true,
  options_passthrough: false,
  cookie_prefix: 'edge.',
  inactivity_timeout: 0,
  maximum_duration: 60,
  idp_metadata: '<EntityDescriptor/>',
  force_authn: false,
  allow_idp_initiated: true,
  authorized_groups: ['a'],
  nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  idp_metadata_url: '',
  entity_id: 'https://a.test/saml/sp/1',
  assertion_consumer_service_url: 'https://a.test/acs',
  single_logout_url: 'https://a.test/slo',
  request_signing_certificate_pem: 'PEM',
  metadata_url: 'https://a.test/saml/sp/1',
};
const ipRestriction = { enabled: true, ip_policies: [ref] };
const webhook = { enabled: true, provider: 'github', secret: 'shh' };
const compression = { enabled: false };
const policy = { enabled: true, value: '{"inbound":[]}' };
const mutualTLS = { enabled: true, certificate_authorities: [ref] };
const termination = { enabled: true, terminate_at: 'edge', min_version: '1.2' };
const route = { edgeID: 'edghts_1', routeID: 'edghtsrt_1' };
const routePath = '/edges/https/edghts_1/routes/edghtsrt_1';

const own404 = json(404, { error_code: 'ERR_EDGE_404', status_code: 404, msg: 'no such thing' });
const strange404s = [...foreign404s, ['a code that is not of the API', json(404, { error_code: 112 })]] as const;
const is404OfAnother = {
  reason: 'Unreachable',
  definite: false,
  message: expect.stringMatching(/: a 404 that is not of the service's own form; check the API URL$/),
};

/** operation, call, method and path, request body, answer (undefined: 204 or what the result says) */
type Case = readonly [string, (cloud: CloudClient) => Promise<unknown>, string, object | undefined, unknown];

const collections: readonly Case[] = [
  [
    'reserved_addrs.create',
    (cloud) => cloud.reservedAddrs.create({ description: 'db', metadata: undefined, region: 'eu' }, call),
    'POST /reserved_addrs',
    { description: 'db', region: 'eu' },
    addr,
  ],
  ['reserved_addrs.get', (cloud) => cloud.reservedAddrs.get('ra_1', call), 'GET /reserved_addrs/ra_1', undefined, addr],
  [
    'reserved_addrs.update',
    (cloud) => cloud.reservedAddrs.update('ra_1', { description: '', endpoint_configuration_id: 'ec_1' }, call),
    'PATCH /reserved_addrs/ra_1',
    { description: '', endpoint_configuration_id: 'ec_1' },
    { ...addr, endpoint_configuration: ref },
  ],
  [
    'reserved_addrs.delete',
    (cloud) => cloud.reservedAddrs.delete('ra_1', call),
    'DELETE /reserved_addrs/ra_1',
    undefined,
    204,
  ],
  [
    'bot_users.create',
    (cloud) => cloud.botUsers.create({ name: 'ci', active: true }, call),
    'POST /bot_users',
    { name: 'ci', active: true },
    bot,
  ],
  ['bot_users.get', (cloud) => cloud.botUsers.get('bot_1', call), 'GET /bot_users/bot_1', undefined, bot],
  [
    'bot_users.update',
    (cloud) => cloud.botUsers.update('bot_1', { active: false }, call),
    'PATCH /bot_users/bot_1',
    { active: false },
    { ...bot, active: false },
  ],
  ['bot_users.delete', (cloud) => cloud.botUsers.delete('bot_1', call), 'DELETE /bot_users/bot_1', undefined, 204],
  ['endpoints.get', (cloud) => cloud.endpoints.get('ep_1', call), 'GET /endpoints/ep_1', undefined, endpoint],
];

const lists: readonly Case[] = [
  [
    'reserved_addrs.list',
    (cloud) => cloud.reservedAddrs.list({ limit: 5, before_id: 'ra_9' }, call),
    'GET /reserved_addrs?limit=5&before_id=ra_9',
    undefined,
    { uri: '/', next_page_uri: 'https://other.test/reserved_addrs?limit=5&before_id=ra_1', reserved_addrs: [addr] },
  ],
  [
    'bot_users.list',
    (cloud) => cloud.botUsers.list({}, call),
    'GET /bot_users',
    undefined,
    { uri: '/', next_page_uri: 'https://other.test/bot_users?limit=5&before_id=ra_1', bot_users: [bot] },
  ],
  [
    'endpoints.list',
    (cloud) => cloud.endpoints.list({ limit: 1 }, call),
    'GET /endpoints?limit=1',
    undefined,
    { uri: '/', next_page_uri: 'https://other.test/endpoints?limit=5&before_id=ra_1', endpoints: [endpoint] },
  ],
];

interface AnyModule {
  replace: Case[1];
  get: Case[1];
  delete: Case[1];
}

function moduleCases(name: string, path: string, fields: object, answer: object, module: AnyModule): readonly Case[] {
  return [
    [`${name}.replace`, module.replace, `PUT ${path}`, fields, answer],
    [`${name}.get`, module.get, `GET ${path}`, undefined, answer],
    [`${name}.delete`, module.delete, `DELETE ${path}`, undefined, 204],
  ];
}

const modules: readonly Case[] = [
  ...moduleCases('https_route_saml', `${routePath}/saml`, samlRequest, saml, {
    replace: (cloud) => cloud.routeModules.saml.replace(route, samlRequest, call),
    get: (cloud) => cloud.routeModules.saml.get(route, call),
    delete: (cloud) => cloud.routeModules.saml.delete(route, call),
  }),
  ...moduleCases(
    'https_route_ip_restriction',
    `${routePath}/ip_restriction`,
    { ip_policy_ids: ['ipp_1'] },
    ipRestriction,
    {
      replace: (cloud) => cloud.routeModules.ipRestriction.replace(route, { ip_policy_ids: ['ipp_1'] }, call),
      get: (cloud) => cloud.routeModules.ipRestriction.get(route, call),
      delete: (cloud) => cloud.routeModules.ipRestriction.delete(route, call),
    },
  ),
  ...moduleCases('https_route_webhook_verification', `${routePath}/webhook_verification`, webhook, webhook, {
    replace: (cloud) => cloud.routeModules.webhookVerification.replace(route, webhook, call),
    get: (cloud) => cloud.routeModules.webhookVerification.get(route, call),
    delete: (cloud) => cloud.routeModules.webhookVerification.delete(route, call),
  }),
  ...moduleCases('https_route_compression', `${routePath}/compression`, compression, compression, {
    replace: (cloud) => cloud.routeModules.compression.replace(route, compression, call),
    get: (cloud) => cloud.routeModules.compression.get(route, call),
    delete: (cloud) => cloud.routeModules.compression.delete(route, call),
  }),
  ...moduleCases('tls_edge_traffic_policy', '/edges/tls/edgtls_1/traffic_policy', policy, policy, {
    replace: (cloud) => cloud.tlsEdges.trafficPolicy.replace('edgtls_1', policy, call),
    get: (cloud) => cloud.tlsEdges.trafficPolicy.get('edgtls_1', call),
    delete: (cloud) => cloud.tlsEdges.trafficPolicy.delete('edgtls_1', call),
  }),
  ...moduleCases(
    'https_edge_mutual_tls',
    '/edges/https/edghts_1/mutual_tls',
    { enabled: true, certificate_authority_ids: ['ca_1'] },
    mutualTLS,
    {
      replace: (cloud) =>
        cloud.httpsEdges.mutualTLS.replace('edghts_1', { enabled: true, certificate_authority_ids: ['ca_1'] }, call),
      get: (cloud) => cloud.httpsEdges.mutualTLS.get('edghts_1', call),
      delete: (cloud) => cloud.httpsEdges.mutualTLS.delete('edghts_1', call),
    },
  ),
  ...moduleCases(
    'https_edge_tls_termination',
    '/edges/https/edghts_1/tls_termination',
    { min_version: null },
    termination,
    {
      replace: (cloud) => cloud.httpsEdges.tlsTermination.replace('edghts_1', { min_version: null }, call),
      get: (cloud) => cloud.httpsEdges.tlsTermination.get('edghts_1', call),
      delete: (cloud) => cloud.httpsEdges.tlsTermination.delete('edghts_1', call),
    },
  ),
];

let api: ScriptedAPI;

beforeAll(async () => {
  api = await startScriptedAPI();
});

afterAll(() => api.close());

test('the table below has every operation of the reference', () => {
  const names = [...collections, ...lists, ...modules].map(([operation]) => operation);
  expect(new Set(names).size).toBe(33);
});

describe.each([...collections, ...modules])('%s', (operation, send, target, body, answer) => {
  test('sends what the reference says and reads the answer', async () => {
    const status = operation.endsWith('.create') ? 201 : 200;
    api.play(answer === 204 ? text(204) : json(status, { ...(answer as object), added_in_a_later_version: 1 }));
    const result = await send(api.client());
    expect(result).toEqual(answer === 204 ? 'deleted' : answer);
    const request = api.requests.at(-1);
    expect(`${request?.method} ${request?.url}`).toBe(target);
    expect(request?.body).toBe(body === undefined ? '' : JSON.stringify(body));
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer key-for-tests',
      'service-version': '2',
      accept: 'application/json',
      'user-agent': 'edge-operator/test',
    });
    expect(request?.headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
    expect(api.reports.at(-1)).toMatchObject({ operation, method: request?.method, outcome: 'ok', priority: 'change' });
  });

  test('a 404 of the API means what the operation says', async () => {
    api.play(own404);
    const result = send(api.client());
    if (operation.endsWith('.get')) expect(await result).toBeUndefined();
    else if (operation.endsWith('.delete')) expect(await result).toBe('absent');
    else {
      const isCreate = operation.endsWith('.create');
      const reason = isCreate ? 'Unreachable' : 'NotFound';
      await expect(result).rejects.toMatchObject({ operation, reason, definite: !isCreate, status: 404 });
    }
  });

  test.each(strange404s)('a 404 of something else, with %s, is never "absent"', async (_, respond) => {
    api.play(respond);
    await expect(send(api.client())).rejects.toMatchObject({ operation, ...is404OfAnother });
    expect(api.reports.at(-1)).toMatchObject({ operation, status: 404, outcome: 'Unreachable' });
  });
});

describe.each(lists)('%s', (operation, send, target, _body, answer) => {
  test('sends what the reference says and reads one page', async () => {
    api.play(json(200, answer));
    const name = operation.split('.')[0] ?? '';
    const items = (answer as Record<string, unknown>)[name];
    expect(await send(api.client())).toMatchObject({ items, odd: [], next: 'limit=5&before_id=ra_1' });
    const request = api.requests.at(-1);
    expect(`${request?.method} ${request?.url}`).toBe(target);
  });

  test('a 404 is an error', async () => {
    api.play(json(404, { error_code: 'ERR_EDGE_404' }));
    await expect(send(api.client())).rejects.toMatchObject({
      operation,
      reason: 'Unreachable',
      definite: false,
      message: `${operation}: the API answered 404: ERR_EDGE_404: check the API URL`,
    });
  });

  test.each(strange404s)('a 404 of something else, with %s, is an error', async (_, respond) => {
    api.play(respond);
    await expect(send(api.client())).rejects.toMatchObject({ operation, ...is404OfAnother });
  });
});

test('the base URL may have a prefix, and ids are encoded', async () => {
  api.play(text(204), text(204));
  const client = api.client({ baseURL: `${api.url}/edge/api/` });
  await client.botUsers.delete('a/b?c#d e', call);
  await client.routeModules.saml.delete({ edgeID: '../x', routeID: 'ü' }, call);
  expect(api.requests.slice(-2).map(({ url }) => url)).toEqual([
    '/edge/api/bot_users/a%2Fb%3Fc%23d%20e',
    '/edge/api/edges/https/..%2Fx/routes/%C3%BC/saml',
  ]);
});

test.each(['', 'ra.v2:1', '../../x', 'x'.repeat(129)])(
  'an answer with the id "%s" is none: nothing could be done by that',
  async (id) => {
    api.play(json(201, { ...bot, id }));
    expect(await failure(api.client().botUsers.create({}, call))).toMatchObject({
      ...{ reason: 'Unreachable', definite: false },
      message: expect.stringContaining('bot_users.create: the response is malformed: id'),
    });
  },
);

test.each(['.', '..'])('nothing named "%s" is there to be deleted', async (id) => {
  const before = api.requests.length;
  expect(await api.client().reservedAddrs.delete(id, call)).toBe('absent');
  expect(await api.client().httpsEdges.mutualTLS.delete(id, call)).toBe('absent');
  expect(api.requests.length).toBe(before);
});

test.each(['', '.', '..'])('the id "%s" is refused without a request', async (id) => {
  const before = api.requests.length;
  for (const attempt of [
    () => api.client().botUsers.get(id, call),
    () => api.client().reservedAddrs.update(id, {}, call),
    () => api.client().routeModules.compression.get({ edgeID: 'edghts_1', routeID: id }, call),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ reason: 'Rejected', definite: true });
  }
  expect(api.requests.length).toBe(before);
});

test.each(['ftp://x', 'not a url', 'https://user:pass@x', 'https://x?key=1', 'https://x#y'])(
  'the base URL %s is refused',
  (baseURL) => {
    expect(() => api.client({ baseURL })).toThrow(TypeError);
    expect(() => api.client({ baseURL })).not.toThrow('pass');
  },
);

describe('tolerance', () => {
  test('what may be omitted may be null, and lists that are null are empty', async () => {
    const { metadata: _, endpoint_configuration: __, ...least } = addr;
    api.play(json(200, least), json(200, { ...addr, metadata: null }), json(200, { enabled: true, ip_policies: null }));
    const client = api.client();
    expect(await client.reservedAddrs.get(addr.id, call)).toEqual(least);
    expect((await client.reservedAddrs.get(addr.id, call))?.metadata ?? 'unset').toBe('unset');
    expect(await client.routeModules.ipRestriction.get(route, call)).toEqual({ enabled: true, ip_policies: [] });
  });
});
