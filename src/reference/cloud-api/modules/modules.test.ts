import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../../test/support/cloud-api.ts';

const route = '/edges/https/edghts_a/routes/edghtsrt_a';
const edge = '/edges/https/edghts_a';
const tls = '/edges/tls/edgtls_a';
const upstream = '/edges/https/edghts_up';
const upstreamRoute = `${upstream}/routes/edghtsrt_up`;

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud({
    seeds: [
      {
        ip_policies: ['ipp_a', 'ipp_b'],
        certificate_authorities: ['ca_a', 'ca_b'],
        https_edges: [
          { id: 'edghts_a', routes: ['edghtsrt_a'] },
          { id: 'edghts_up', terminate_at: 'upstream', routes: ['edghtsrt_up'] },
        ],
        tls_edges: ['edgtls_a'],
      },
    ],
  });
});
afterAll(() => cloud.stop());

const policy = { inbound: [{ name: 'n', expressions: ['e'], actions: [{ type: 'deny' }] }] };
const minimal: readonly (readonly [path: string, body: object])[] = [
  [`${route}/saml`, { idp_metadata: '<EntityDescriptor/>' }],
  [`${route}/ip_restriction`, { ip_policy_ids: ['ipp_a'] }],
  [`${route}/webhook_verification`, { provider: 'github', secret: 's' }],
  [`${route}/compression`, {}],
  [`${tls}/traffic_policy`, { value: JSON.stringify(policy) }],
  [`${edge}/mutual_tls`, { certificate_authority_ids: ['ca_a'] }],
  [`${edge}/tls_termination`, {}],
];

const put = (path: string, body: object) => cloud.call('PUT', path, body);

async function refused(path: string, body: object): Promise<[code: string, msg: string]> {
  const answer = await put(path, body);
  expect(answer.status).toBe(400);
  return [answer.body.error_code, answer.body.msg];
}

/** By the last path segment, besides `enabled`. */
const fields: Readonly<Record<string, readonly string[]>> = {
  saml: [
    ...['options_passthrough', 'cookie_prefix', 'inactivity_timeout', 'maximum_duration', 'idp_metadata'],
    ...['force_authn', 'allow_idp_initiated', 'authorized_groups', 'nameid_format', 'idp_metadata_url', 'entity_id'],
    ...['assertion_consumer_service_url', 'single_logout_url', 'request_signing_certificate_pem', 'metadata_url'],
  ],
  ip_restriction: ['ip_policies'],
  webhook_verification: ['provider', 'secret'],
  compression: [],
  traffic_policy: ['value'],
  mutual_tls: ['certificate_authorities'],
  tls_termination: ['terminate_at', 'min_version'],
};

describe.each(minimal)('%s', (path, body) => {
  const unset = { status: 404, body: { error_code: 'ERR_EDGE_203' } };

  test('is unset, put, read, removed', async () => {
    expect(await cloud.call('GET', path)).toMatchObject(unset);
    expect(await cloud.call('DELETE', path)).toMatchObject(unset);
    const { status, body: shown } = await put(path, body);
    expect([status, shown.enabled]).toEqual([200, true]);
    expect(await cloud.call('GET', path)).toMatchObject({ status: 200, body: shown });
    expect(await cloud.call('DELETE', path)).toMatchObject({ status: 204, body: undefined });
    expect(await cloud.call('GET', path)).toMatchObject(unset);
  });

  test('rule 3: PUT replaces all; enabled defaults to true', async () => {
    expect((await put(path, { ...body, enabled: false })).body.enabled).toBe(false);
    expect((await put(path, body)).body.enabled).toBe(true);
  });

  test('rule 4: answers the fields of section 2 and no other wrapper', async () => {
    const name = path.split('/').at(-1) ?? '';
    expect(Object.keys((await put(path, body)).body).toSorted()).toEqual(
      ['enabled', ...(fields[name] ?? [])].toSorted(),
    );
  });

  test('refuses unknown fields and wrong types by name', async () => {
    expect(await refused(path, { ...body, colour: 1 })).toEqual(['ERR_EDGE_304', 'unknown field "colour"']);
    expect(await refused(path, { ...body, enabled: 'yes' })).toEqual([
      'ERR_EDGE_306',
      'invalid field "enabled": must be true or false',
    ]);
  });

  test('of an unknown parent is 404', async () => {
    const nowhere = path.replace(/(edghts|edgtls)_a/, '$1_x');
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const answer = await cloud.call(method, nowhere, method === 'PUT' ? body : undefined);
      expect(answer).toMatchObject({ status: 404, body: { error_code: 'ERR_EDGE_202' } });
    }
  });
});

test('a route is found under its own edge only', async () => {
  expect((await put(`${upstream}/routes/edghtsrt_a/compression`, {})).status).toBe(404);
});

test('modules of other parents stand for themselves', async () => {
  await put(`${edge}/tls_termination`, { min_version: '1.3' });
  expect((await cloud.call('GET', `${upstream}/tls_termination`)).body.min_version).toBeNull();
});

describe('SAML', () => {
  const path = `${route}/saml`;
  const all = {
    enabled: false,
    options_passthrough: true,
    cookie_prefix: 'c.',
    inactivity_timeout: 4_294_967_295,
    maximum_duration: 60,
    idp_metadata: '<EntityDescriptor xmlns="urn:x">\n"é"</EntityDescriptor>',
    force_authn: true,
    allow_idp_initiated: true,
    authorized_groups: ['a', 'b'],
    nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  };

  test('rule 5: every field comes back as it was sent, the outputs with it', async () => {
    const { body } = await put(path, all);
    const base = 'https://saml.edge.localhost/edghtsrt_a';
    expect(body).toStrictEqual({
      ...all,
      idp_metadata_url: '',
      entity_id: `${base}/metadata`,
      metadata_url: `${base}/metadata`,
      assertion_consumer_service_url: `${base}/acs`,
      single_logout_url: `${base}/slo`,
      request_signing_certificate_pem: expect.any(String),
    });
  });

  test('defaults', async () => {
    expect((await put(path, { idp_metadata: '<x/>' })).body).toMatchObject({
      cookie_prefix: 'edge.',
      nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      options_passthrough: false,
      force_authn: false,
      allow_idp_initiated: false,
      authorized_groups: [],
      inactivity_timeout: 0,
      maximum_duration: 0,
    });
  });

  test('the signing certificate is real, self-signed, and stays across updates', async () => {
    const { request_signing_certificate_pem: pem } = (await put(path, all)).body;
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.subject).toBe('CN=saml edghtsrt_a');
    expect(certificate.validToDate.getTime()).toBeGreaterThan(Date.now());
    expect((await put(path, { idp_metadata: '<y/>' })).body.request_signing_certificate_pem).toBe(pem);
  });

  test.each([
    [{ ...all, inactivity_timeout: -1 }, 'inactivity_timeout'],
    [{ ...all, maximum_duration: 4_294_967_296 }, 'maximum_duration'],
    [{ ...all, maximum_duration: 1.5 }, 'maximum_duration'],
    [{ ...all, idp_metadata: '' }, 'idp_metadata'],
    [{ enabled: true }, 'idp_metadata'],
    [{ ...all, authorized_groups: ['a', 1] }, 'authorized_groups[1]'],
    [{ ...all, entity_id: 'x' }, 'entity_id'],
  ])('section 8 and types: refused by name %#', async (body, field) => {
    expect((await refused(path, body))[1]).toContain(`"${field}"`);
  });
});

describe('references', () => {
  test.each([
    ['ip_restriction', route, 'ip_policy_ids', 'ip_policies', ['ipp_b', 'ipp_a'], 'ip_policies'],
    [
      'mutual_tls',
      edge,
      'certificate_authority_ids',
      'certificate_authorities',
      ['ca_b', 'ca_a'],
      'certificate_authorities',
    ],
  ])('%s takes ids and answers Refs', async (name, parent, field, list, ids, folder) => {
    const { body } = await put(`${parent}/${name}`, { [field]: [...ids, ...ids] });
    expect(body).toStrictEqual({
      enabled: true,
      [list]: ids.map((id) => ({ id, uri: `${cloud.url}/${folder}/${id}` })),
    });
    const [code, msg] = await refused(`${parent}/${name}`, { [field]: [...ids, 'nope'] });
    expect([code, msg]).toEqual(['ERR_EDGE_309', expect.stringContaining(`"${field}[2]"`)]);
    expect((await cloud.call('GET', `${parent}/${name}`)).body).toEqual(body);
  });
});

describe('webhook verification (section 7)', () => {
  const path = `${route}/webhook_verification`;

  test('answers the secret as stored', async () => {
    const body = { enabled: true, provider: 'github', secret: ' s3cret ' };
    expect((await put(path, body)).body).toStrictEqual(body);
  });

  test('needs a secret for every provider except the notification service', async () => {
    expect(await refused(path, { provider: 'github' })).toEqual(['ERR_EDGE_400', expect.stringContaining('"secret"')]);
    expect((await refused(path, { provider: 'github', secret: '' }))[0]).toBe('ERR_EDGE_400');
    for (const provider of ['sns', 'SNS']) expect((await put(path, { provider })).status).toBe(200);
    expect((await refused(path, { secret: 's' }))[1]).toContain('"provider"');
  });
});

describe('traffic policy', () => {
  const path = `${tls}/traffic_policy`;
  const write = (value: unknown) => ({ value: JSON.stringify(value, null, 2) });

  test('answers compact JSON; unknown keys and action types pass', async () => {
    const log = { type: 'log', config: { metadata: { a: 1 } } };
    const rich = { z: 1, inbound: [{ name: 'n', expressions: [], actions: [log, { type: 'new' }], x: true }], a: [] };
    expect((await put(path, write(rich))).body).toStrictEqual({ enabled: true, value: JSON.stringify(rich) });
  });

  test('the text is kept as sent, but for white space between its tokens', async () => {
    const rules = '"inbound" :\t[ ], "b":1, "1":2, "1":3';
    const value = ` {\r\n${rules}, "n": [1.0, 12345678901234567890, 1e400], "s": "a \\" : \\\\", "u":"\\u0041 é" } `;
    const kept =
      '{"inbound":[],"b":1,"1":2,"1":3,"n":[1.0,12345678901234567890,1e400],"s":"a \\" : \\\\","u":"\\u0041 é"}';
    expect((await put(path, { value })).body.value).toBe(kept);
    expect((await cloud.call('GET', path)).body.value).toBe(kept);
    const long = `{"inbound":[],"s":${JSON.stringify('\\" '.repeat(100_000))}}`;
    expect((await put(path, { value: long })).body.value).toBe(long);
  });

  test('100 levels are taken, a policy that nests deeper is refused', async () => {
    const nested = (levels: number) => `{"inbound":[],"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await put(path, { value: nested(100) })).body.value).toBe(nested(100));
    const problem = ['ERR_EDGE_401', 'invalid field "value": must nest at most 100 levels deep'];
    for (const levels of [101, 5_000, 100_000]) expect(await refused(path, { value: nested(levels) })).toEqual(problem);
  });

  test.each([
    [{ inbound: [...policy.inbound, { ...policy.inbound[0], actions: [{}] }] }, 'inbound[1].actions[0].type'],
    [{ inbound: [{ ...policy.inbound[0], expressions: 'e' }] }, 'inbound[0].expressions'],
    [{ inbound: [{ ...policy.inbound[0], name: 1 }] }, 'inbound[0].name'],
    [{ inbound: [{ ...policy.inbound[0], actions: [{ type: 'log', config: 1 }] }] }, 'inbound[0].actions[0].config'],
    [{}, 'inbound'],
  ])('a wrong rule is named by its path %#', async (value, where) => {
    const [code, msg] = await refused(path, write(value));
    expect([code, msg]).toEqual(['ERR_EDGE_401', expect.stringContaining(`"value": ${where}: `)]);
  });

  test.each([
    [{}, 'inbound: must be a list'],
    [[], 'must be an object'],
    [{ inbound: [1] }, 'inbound[0]: must be an object'],
  ])('what it is to be is said in words: %j', async (value, what) => {
    const [, msg] = await refused(path, write(value));
    expect(msg).toBe(`invalid field "value": ${what}`);
  });

  test('what is no JSON document is refused', async () => {
    for (const value of ['{', '', '[]']) expect((await refused(path, { value }))[0]).toBe('ERR_EDGE_401');
  });
});

describe('TLS termination', () => {
  test('picks a minimum version when none is given, and shows where TLS ends', async () => {
    const path = `${edge}/tls_termination`;
    const shown = { enabled: true, terminate_at: 'edge' };
    expect((await put(path, { min_version: '1.3' })).body).toStrictEqual({ ...shown, min_version: '1.3' });
    expect((await put(path, {})).body).toStrictEqual({ ...shown, min_version: '1.2' });
    expect((await put(path, { min_version: null })).body).toStrictEqual({ ...shown, min_version: '1.2' });
  });

  test('terminate_at cannot be sent', async () => {
    expect((await refused(`${edge}/tls_termination`, { terminate_at: 'edge' }))[0]).toBe('ERR_EDGE_304');
  });

  test('an edge seeded with terminate_at shows it before any PUT; min_version must be null there (section 7)', async () => {
    const path = `${upstream}/tls_termination`;
    const shown = { enabled: true, terminate_at: 'upstream', min_version: null };
    expect((await cloud.call('GET', path)).body).toStrictEqual(shown);
    expect(await refused(path, { min_version: '1.2' })).toEqual([
      'ERR_EDGE_402',
      expect.stringContaining('"min_version"'),
    ]);
    expect((await put(path, { enabled: false })).body).toStrictEqual({ ...shown, enabled: false });
  });

  test('most other modules are disallowed on an edge that terminates upstream', async () => {
    for (const [path, body] of minimal) {
      const there = path.replace(route, upstreamRoute).replace(edge, upstream);
      if (there === path) continue;
      const allowed = /ip_restriction|tls_termination/.test(there);
      const answer = await put(there, body);
      expect([there, answer.status]).toEqual([there, allowed ? 200 : 400]);
      if (!allowed) expect(answer.body.error_code).toBe('ERR_EDGE_403');
    }
  });
});

test('a PUT of a module, like all others, is 405 for POST and PATCH', async () => {
  const answer = await cloud.call('POST', `${route}/compression`, {});
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'PUT, GET, HEAD, DELETE']);
});
