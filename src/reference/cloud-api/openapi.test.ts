import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { type Contract, contractChecker, readContract } from './contract.fixture.ts';
import { openDatabase } from './database.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { createWorld } from './world.ts';

let cloud: TestCloud;
let served: Contract;
const table: readonly Operation[] = operations(createWorld(openDatabase(), systemRuntime));

beforeAll(async () => {
  cloud = await startTestCloud();
  const response = await fetch(`${cloud.url}/openapi.json`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  served = (await response.json()) as Contract;
});
afterAll(() => cloud.stop());

const inDocument = () =>
  Object.entries(served.paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );

test('docs/openapi.json is what /openapi.json answers without credentials; else run: node scripts/openapi.ts', () => {
  expect(readContract()).toEqual(served);
});

test('every operation of the server is in it and nothing more', () => {
  const names = inDocument().map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
  expect(names.toSorted()).toEqual(table.map(({ method, path }) => `${method} ${path}`).toSorted());
  expect(new Set(inDocument().map(({ operation }) => operation.operationId)).size).toBe(33);
});

test('every reference in it leads somewhere and everything shared is used', () => {
  const references = new Set(JSON.stringify(served).match(/#\/components\/\w+\/\w+/g));
  const { securitySchemes: _, ...components } = served.components as unknown as Record<string, object>;
  const defined = Object.entries(components).flatMap(([kind, entries]) =>
    Object.keys(entries).map((name) => `#/components/${kind}/${name}`),
  );
  expect([...references].toSorted()).toEqual(defined.toSorted());
});

test('every operation has the key, the version header, its parameters, bodies, and an error body for each refusal', () => {
  expect(served).toMatchObject({
    openapi: '3.1.1',
    security: [{ apiKey: [] }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  });
  for (const { method, path, operation } of inDocument()) {
    const parameters = served.paths[path]?.parameters as unknown as readonly { $ref?: string; name?: string }[];
    expect(parameters.map(({ $ref, name }) => $ref ?? name)).toEqual([
      '#/components/parameters/ServiceVersion',
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    ]);
    const writes = ['post', 'put', 'patch'].includes(method);
    expect(operation.requestBody !== undefined).toBe(writes);
    const success = { get: 200, put: 200, patch: 200, post: 201, delete: 204 }[method] ?? 0;
    const refusals = [
      400,
      401,
      403,
      408,
      429,
      431,
      500,
      ...(path.includes('{') ? [404] : []),
      ...(writes ? [413, 415] : []),
    ];
    expect(Object.keys(operation.responses).map(Number)).toEqual([success, ...refusals].toSorted((a, b) => a - b));
    expect(operation.responses[success]?.content === undefined).toBe(method === 'delete');
  }
});

test('its constants are enums of one, as generators of clients take no other in a header', () => {
  expect(served.components).toMatchObject({
    parameters: { ServiceVersion: { schema: { type: 'string', enum: ['2'] } } },
  });
  expect(JSON.stringify(served)).not.toContain('"const":');
});

test('its server is the one it came from, or the configured base', async () => {
  expect(served).toMatchObject({ servers: [{ url: '/' }] });
  const based = await startTestCloud({ baseUrl: 'https://api.test/v2/' });
  try {
    const document = await (await fetch(`${based.url}/openapi.json`)).json();
    expect(document).toMatchObject({ servers: [{ url: 'https://api.test/v2' }] });
  } finally {
    await based.stop();
  }
});

test('other methods of /openapi.json, as all else, need the key', async () => {
  expect((await fetch(`${cloud.url}/openapi.json`, { method: 'POST' })).status).toBe(401);
});

describe('the check that every call of these tests goes through', () => {
  const bot = { id: 'bot_1', uri: 'http://a/b', name: 'a', active: true, created_at: '2026-01-02T03:04:05Z' };
  const get = { method: 'GET', path: '/bot_users/bot_1', body: undefined, status: 200 };
  const problem = { error_code: 'ERR_EDGE_1', status_code: 404, msg: 'm', details: { operation_id: 'op_1' } };

  test.each([
    ['what the document says', { ...get, answer: bot }, undefined],
    ['a field it does not have', { ...get, answer: { ...bot, colour: 1 } }, 'must NOT have additional properties'],
    ['a missing field', { ...get, answer: { ...bot, uri: undefined } }, "must have required property 'uri'"],
    ['a wrong type', { ...get, answer: { ...bot, active: 'yes' } }, 'body/active must be boolean'],
    ['no timestamp', { ...get, answer: { ...bot, created_at: 'now' } }, 'body/created_at must match format'],
    ['a status it does not have', { ...get, status: 202, answer: bot }, 'status 202 is not in the document'],
    ['a body with 204', { ...get, method: 'DELETE', status: 204, answer: {} }, 'a body where there is none'],
    ['an error body', { ...get, status: 404, answer: problem }, undefined],
    ['a wrong error body', { ...get, status: 404, answer: { msg: 'm' } }, "must have required property 'error_code'"],
    [
      'an invalid request that was accepted',
      { method: 'POST', path: '/bot_users', body: {}, status: 201, answer: bot },
      "accepted an invalid request: body must have required property 'name'",
    ],
  ])('%s', (_, exchange, wrong) => {
    const found = contractChecker()(JSON.parse(JSON.stringify(exchange)));
    expect(found ?? 'right').toContain(wrong ?? 'right');
  });
});
