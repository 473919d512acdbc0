import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe('a mebibyte', () => {
  const most = 'x'.repeat(1024 * 1024);
  const secret = (stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData });
  const tooMuch = [422, ['[]: Too long: may not be more than 1048576 bytes']];
  const sizes = [
    ['a ConfigMap may have', paths.configmaps, configMap('a', { k: most }), [201, []]],
    ['a ConfigMap may not exceed', paths.configmaps, configMap('a', { k: most, l: 'x' }), tooMuch],
    [
      'counts bytes, those of binaryData decoded',
      paths.configmaps,
      { ...configMap('a', { k: most.slice(3).replace('x', 'ü') }), binaryData: { b: 'AAA=' } },
      [201, []],
    ],
    [
      'a ConfigMap may not exceed with binaryData',
      paths.configmaps,
      { ...configMap('a', { k: most.slice(1) }), binaryData: { b: 'AAA=' } },
      tooMuch,
    ],
    ['a Secret may have', paths.secrets, secret({ k: most }), [201, []]],
    ['a Secret may not exceed', paths.secrets, secret({ k: most, l: 'x' }), tooMuch],
  ] as const;
  test.each(sizes)('%s', async (_what, type, body, wanted) => {
    const answer = await cluster.send('POST', await cluster.fresh(type), body);
    expect([answer.code, causes(answer)]).toEqual(wanted);
  });
});

test('a key in data and binaryData', async () => {
  const body = { ...configMap('a', { k: 'v' }), binaryData: { k: 'AAA=' } };
  const answer = await cluster.send('POST', await cluster.fresh(paths.configmaps), body);
  expect(causes(answer)).toEqual(['data[k]: Invalid value: "k": duplicate of key present in binaryData']);
});

describe('field selectors with a backslash', () => {
  const selectors = [
    ['metadata.name=a\\,b', 0],
    ['metadata.name!=a\\,b', 1],
    ['metadata.name!=a\\=b,metadata.name=a', 1],
    ['metadata.name!=a\\\\,metadata.name=b', 0],
    ['metadata.name=a=b', 400],
    ['metadata.name=a\\b', 400],
    ['metadata.name=a\\', 400],
    ['metadata.name=a!=b', 400],
  ] as const;
  test.each(selectors)('%s', async (selector, wanted) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const { code, body } = await cluster.send('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`);
    expect(code === 200 ? body.items.length : code).toBe(wanted);
  });
});

describe('patches', () => {
  const json = 'application/json-patch+json';
  const merge = 'application/merge-patch+json';
  const strategic = 'application/strategic-merge-patch+json';
  const labels = '/metadata/labels';
  const ofBoth = [
    [json, 'null', 200],
    [json, [], 200],
    [json, [1], 400],
    [json, [null], 400],
    [json, [{}], 400],
    [json, [{ op: 1, path: labels }], 400],
    [json, [{ op: 'x', path: labels }], 400],
    [json, [{ op: 'constructor', path: labels }], 400],
    [json, [{ op: 'add' }], 400],
    [json, [{ op: 'add', path: labels }], 400],
    [json, [{ op: 'replace', path: labels }], 400],
    [json, [{ op: 'move', path: labels }], 400],
    [json, [{ op: 'add', path: 5, value: 1 }], 400],
    [json, [{ op: 'add', path: null, value: 1 }], 400],
    [json, [{ op: 'copy', from: 5, path: labels }], 400],
    [json, [{ op: 'copy', from: '', path: labels }], 422],
    [json, [{ op: 'move', from: '', path: labels }], 422],
    [json, [{ op: 'add', path: '', value: {} }], 422],
    [json, [{ op: 'test', path: '/nope' }], 200],
    [json, [{ op: 'test', path: '/nope', value: null }], 200],
    [json, [{ op: 'test', path: '/nope', value: 1 }], 422],
    [json, [{ op: 'remove', path: '/nope' }], 422],
    [json, [{ op: 'remove', path: '' }], 422],
    [json, [{ op: 'replace', path: '', value: [] }], 422],
    [json, [{ op: 'replace', path: '/metadata', value: 'x' }], 422],
    [merge, '{', 400],
    [merge, 'null', 400],
    [merge, { metadata: 'x' }, 422],
    [merge, { metadata: { labels: 'x' } }, 422],
    [merge, { metadata: { labels: { a: 1 } } }, 422],
    [merge, { metadata: { labels: [] } }, 422],
    [merge, { metadata: { annotations: 5 } }, 422],
    [merge, { metadata: { ownerReferences: {} } }, 422],
    [merge, { metadata: { name: 'x' } }, 400],
    [merge, { metadata: { name: 5 } }, 422],
    [merge, { metadata: { namespace: 'other' } }, 400],
    [merge, { metadata: { namespace: null } }, 200],
    [merge, { metadata: { resourceVersion: 1 } }, 422],
    [merge, { apiVersion: 'v9' }, 422],
    [merge, { apiVersion: 5 }, 422],
    [merge, { kind: 'x' }, 422],
  ] as const;
  const ofBuiltin = [
    [json, [{ op: 'remove', path: '/kind' }], 200],
    [merge, { apiVersion: null }, 200],
    [merge, { data: 'x' }, 422],
    [merge, { binaryData: { a: '!' } }, 422],
    [merge, { metadata: { resourceVersion: null } }, 200],
    [strategic, '{', 400],
    [strategic, [], 400],
    [strategic, 'null', 200],
    [strategic, { apiVersion: 'v9' }, 200],
    [strategic, { apiVersion: 5 }, 422],
    [strategic, { kind: 'x' }, 200],
    [strategic, { metadata: { labels: [] } }, 422],
    [strategic, { metadata: { name: 5 } }, 422],
    [strategic, { metadata: { labels: { $patch: 'delete' } } }, 200],
    [strategic, { data: { $patch: 'merge' } }, 500],
    [strategic, { binaryData: { $patch: 'merge' } }, 200],
    [strategic, { $patch: 'delete' }, 400],
    [strategic, { metadata: { '$setElementOrder/finalizers': 5 } }, 500],
    [strategic, { metadata: { ownerReferences: [{}] } }, 422],
    [strategic, { data: 'x' }, 422],
    [strategic, { metadata: 'x' }, 422],
    [strategic, { $patch: 'x' }, 500],
    [strategic, { metadata: { $retainKeys: 'x' } }, 400],
  ] as const;

  const ofVersioned = [
    [merge, { metadata: { resourceVersion: null } }, 422],
    [merge, { metadata: { resourceVersion: '' } }, 422],
    [json, [{ op: 'remove', path: '/metadata/resourceVersion' }], 422],
  ] as const;
  const ofKeyed = [
    [{ ports: [{}] }, 500],
    [{ ports: [{ $patch: 'delete' }] }, 500],
    [{ ports: [{ port: 80, $patch: 'x' }] }, 500],
    [{ ports: [{ port: 80, $patch: 'delete' }] }, []],
    [{ ports: [{ port: 81 }, { $patch: 'replace' }] }, [81]],
  ] as const;

  test.each([...ofBoth, ...ofVersioned])('of a custom resource: %s %j is %d', async (type, body, code) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
  });

  test.each([...ofBoth, ...ofBuiltin])('of a built-in type: %s %j is %d', async (type, body, code) => {
    const path = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', path, configMap('a', { k: 'v' }));
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
  });

  test.each(ofVersioned)('of a type that is updated from a version only: %s %j is %d', async (type, body, code) => {
    const path = await cluster.fresh(paths.leases);
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} };
    await cluster.send('POST', path, lease);
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
    expect((await cluster.send('PUT', `${path}/a`, lease)).code).toBe(422);
  });

  test.each(ofKeyed)('of a list with keys: %j', async (spec, wanted) => {
    const path = await cluster.fresh('/api/v1/namespaces/*/services');
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } };
    await cluster.send('POST', path, service);
    const { code, body } = await cluster.send('PATCH', `${path}/a`, { spec }, strategic);
    expect(code === 200 ? (body.spec.ports ?? []).map(({ port }: { port: number }) => port) : code).toEqual(wanted);
  });
});

describe('what nests beyond what anybody reads is refused', () => {
  const levels = 20_000;
  const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const withField = (body: object, part: string) => JSON.stringify(body).replace('"DEEP"', part);
  const object = withField({ ...widget('deep'), spec: { color: 'red', note: 'DEEP' } }, deep);
  const map = withField(configMap('deep', { k: 'DEEP' }), deep);
  const isRefused = (answer: Answer) => {
    expect(answer.body.message).toMatch(/exceeded max depth/);
    expect(answer.code).toBe(400);
  };

  test.each([
    ['a custom resource', paths.widgets, object],
    ['a ConfigMap', paths.configmaps, map],
  ])('the body of a create: %s', async (_what, type, body) => {
    isRefused(await cluster.send('POST', await cluster.fresh(type), body));
    isRefused(await cluster.send('POST', await cluster.fresh(type), body, 'application/yaml'));
  });

  test.each([
    ['merge', 'application/merge-patch+json', `{"spec":{"note":${deep}}}`],
    ['JSON', 'application/json-patch+json', `[{"op":"add","path":"/spec/note","value":${deep}}]`],
    ['apply', 'application/apply-patch+yaml', object],
  ])('a patch: %s', async (_what, mediaType, body) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('deep'));
    isRefused(await cluster.send('PATCH', `${path}/deep?fieldManager=m`, body, mediaType));
  });
});
