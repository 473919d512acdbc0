import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(() => cloud.stop());

test('create answers 201 with every field of section 2', async () => {
  const { status, body } = await cloud.call('POST', '/bot_users', { name: 'ci', active: false });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^bot_[0-9A-Za-z]{27}$/),
    uri: `${cloud.url}/bot_users/${body.id}`,
    name: 'ci',
    active: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  });
  expect((await cloud.call('GET', `/bot_users/${body.id}`)).body).toEqual(body);
});

test('active is true when unspecified', async () => {
  expect((await cloud.call('POST', '/bot_users', { name: 'ci' })).body.active).toBe(true);
});

test('of a field that is given twice the last counts', async () => {
  const response = await fetch(`${cloud.url}/bot_users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cloud.apiKey}`, 'service-version': '2', 'content-type': 'application/json' },
    body: '{"name":"a","name":"b"}',
  });
  expect(await response.json()).toMatchObject({ name: 'b' });
});

test('update sets name and active, each alone (section 3)', async () => {
  const { body } = await cloud.call('POST', '/bot_users', { name: 'a' });
  const path = `/bot_users/${body.id}`;
  expect((await cloud.call('PATCH', path, { active: false })).body).toEqual({ ...body, active: false });
  expect((await cloud.call('PATCH', path, { name: 'b' })).body).toEqual({ ...body, active: false, name: 'b' });
});

test('delete answers 204, then 404', async () => {
  const { body } = await cloud.call('POST', '/bot_users', { name: 'a' });
  expect((await cloud.call('DELETE', `/bot_users/${body.id}`)).status).toBe(204);
  expect((await cloud.call('DELETE', `/bot_users/${body.id}`)).status).toBe(404);
});

test.each([
  ['a missing name', {}, 'ERR_EDGE_305', 'name'],
  ['a name that is no string', { name: 1 }, 'ERR_EDGE_306', 'name'],
  ['active that is no boolean', { name: 'a', active: 'yes' }, 'ERR_EDGE_306', 'active'],
  ['an unknown field', { name: 'a', role: 'x' }, 'ERR_EDGE_304', 'role'],
])('%s is refused by name', async (_, body, code, field) => {
  const answer = await cloud.call('POST', '/bot_users', body);
  expect(answer).toMatchObject({ status: 400, body: { error_code: code } });
  expect(answer.body.msg).toContain(`"${field}"`);
});

test('an id of another kind is unknown', async () => {
  const { body } = await cloud.call('POST', '/bot_users', { name: 'a' });
  expect((await cloud.call('GET', `/reserved_addrs/${body.id}`)).status).toBe(404);
});
