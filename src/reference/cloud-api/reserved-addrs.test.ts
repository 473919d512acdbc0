import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

const configuration = 'ec_2tGf0Lr8nJtR4cYqVb7WmXz1KpA';
let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud({ seeds: [{ endpoint_configurations: [configuration] }] });
});
afterAll(() => cloud.stop());

const create = async (body: object = {}) => (await cloud.call('POST', '/reserved_addrs', body)).body;

describe('create (sections 2 and 4)', () => {
  test('answers 201 with every field, metadata absent when unset', async () => {
    const { status, body } = await cloud.call('POST', '/reserved_addrs', { description: 'ssh', region: 'eu' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ra_[0-9A-Za-z]{27}$/),
      uri: `${cloud.url}/reserved_addrs/${body.id}`,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      description: 'ssh',
      addr: expect.stringMatching(/^\d+\.tcp\.eu\.localhost:\d+$/),
      region: 'eu',
      endpoint_configuration: null,
    });
  });

  test('rule 1: without region it is in us', async () => {
    expect(await create({ description: 'x' })).toMatchObject({ region: 'us', addr: expect.stringContaining('.us.') });
  });

  test('rule 2: the endpoint configuration is null and cannot be given', async () => {
    expect((await create()).endpoint_configuration).toBeNull();
    const { status, body } = await cloud.call('POST', '/reserved_addrs', { endpoint_configuration_id: configuration });
    expect([status, body.error_code]).toEqual([400, 'ERR_EDGE_304']);
    expect(body.msg).toContain('endpoint_configuration_id');
  });

  test.each(['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'])('region %s is valid', async (region) => {
    expect(await create({ region })).toMatchObject({ region });
  });

  test.each([
    ['a region outside the seven (section 7)', { region: 'mars' }, 'ERR_EDGE_308', 'region'],
    ['a region that is no string', { region: 1 }, 'ERR_EDGE_306', 'region'],
    ['metadata of 4097 bytes (section 7)', { metadata: 'm'.repeat(4097) }, 'ERR_EDGE_307', 'metadata'],
    ['metadata of 4097 bytes in fewer characters', { metadata: `${'é'.repeat(2048)}m` }, 'ERR_EDGE_307', 'metadata'],
    ['metadata null', { metadata: null }, 'ERR_EDGE_306', 'metadata'],
    ['a description that is no string', { description: [] }, 'ERR_EDGE_306', 'description'],
    ['an unknown field', { colour: 'red' }, 'ERR_EDGE_304', 'colour'],
  ])('%s is refused by name', async (_, body, code, field) => {
    const answer = await cloud.call('POST', '/reserved_addrs', body);
    expect(answer).toMatchObject({ status: 400, body: { error_code: code, status_code: 400 } });
    expect(answer.body.msg).toContain(`"${field}"`);
  });

  test.each([
    ['ASCII', 'm'.repeat(4096)],
    ['two-byte', 'é'.repeat(2048)],
    ['four-byte', '🚀'.repeat(1024)],
  ])('metadata of exactly 4096 bytes is valid: %s', async (_, metadata) => {
    expect(await create({ metadata })).toMatchObject({ metadata });
  });

  test('no two addresses are the same, also after a delete', async () => {
    const first = await create();
    await cloud.call('DELETE', `/reserved_addrs/${first.id}`);
    expect((await create()).addr).not.toBe(first.addr);
  });
});

describe('read, update, delete', () => {
  test('get answers as create did', async () => {
    const made = await create({ description: 'a', metadata: '{"a":1}' });
    expect(await cloud.call('GET', `/reserved_addrs/${made.id}`)).toMatchObject({ status: 200, body: made });
  });

  test('update changes what it names and keeps the rest', async () => {
    const made = await create({ description: 'a', metadata: 'm', region: 'jp' });
    const { status, body } = await cloud.call('PATCH', `/reserved_addrs/${made.id}`, { description: 'b' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...made, description: 'b' });
    expect((await cloud.call('GET', `/reserved_addrs/${made.id}`)).body).toEqual(body);
    expect((await cloud.call('PATCH', `/reserved_addrs/${made.id}`, {})).body).toEqual(body);
  });

  test('update attaches an endpoint configuration as a Ref, and an empty id detaches it', async () => {
    const { id } = await create();
    const attach = { endpoint_configuration_id: configuration };
    const attached = await cloud.call('PATCH', `/reserved_addrs/${id}`, attach);
    const uri = `${cloud.url}/endpoint_configurations/${configuration}`;
    expect(attached.body.endpoint_configuration).toEqual({ id: configuration, uri });
    const detached = await cloud.call('PATCH', `/reserved_addrs/${id}`, { endpoint_configuration_id: '' });
    expect(detached.body.endpoint_configuration).toBeNull();
  });

  test('update with an unknown endpoint configuration is 400 and changes nothing', async () => {
    const made = await create({ description: 'a' });
    const change = { description: 'b', endpoint_configuration_id: 'ec_nope' };
    const answer = await cloud.call('PATCH', `/reserved_addrs/${made.id}`, change);
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_EDGE_309' } });
    expect(answer.body.msg).toContain('endpoint_configuration_id');
    expect((await cloud.call('GET', `/reserved_addrs/${made.id}`)).body).toEqual(made);
  });

  test('empty metadata clears it', async () => {
    const { id } = await create({ metadata: 'm' });
    expect((await cloud.call('PATCH', `/reserved_addrs/${id}`, { metadata: '' })).body).not.toHaveProperty('metadata');
  });

  test('metadata keeps its limit in an update (section 8)', async () => {
    const { id } = await create();
    const update = (metadata: string) => cloud.call('PATCH', `/reserved_addrs/${id}`, { metadata });
    expect((await update('m'.repeat(4096))).status).toBe(200);
    expect(await update('m'.repeat(4097))).toMatchObject({ status: 400, body: { error_code: 'ERR_EDGE_307' } });
  });

  test('region cannot be updated', async () => {
    const { id } = await create();
    const { status, body } = await cloud.call('PATCH', `/reserved_addrs/${id}`, { region: 'eu' });
    expect([status, body.error_code]).toEqual([400, 'ERR_EDGE_304']);
  });

  test('delete answers 204 without a body; then the id is unknown', async () => {
    const { id } = await create();
    expect(await cloud.call('DELETE', `/reserved_addrs/${id}`)).toMatchObject({ status: 204, body: undefined });
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const answer = await cloud.call(method, `/reserved_addrs/${id}`, body);
      expect(answer).toMatchObject({ status: 404, body: { error_code: 'ERR_EDGE_202' } });
    }
  });
});
