import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';

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
    [json, [{ op: 'add' }], 400],
    [json, [{ op: 'add', path: labels }], 400],
    [json, [{ op: 'replace', path: labels }], 400],
    [json, [{ op: 'move', path: labels }], 400],
    [json, [{ op: 'remove', path: '/nope' }], 422],
    [json, [{ op: 'remove', path: '' }], 422],
    [json, [{ op: 'replace', path: '', value: [] }], 422],
    [json, [{ op: 'replace', path: '/metadata', value: 'x' }], 422],
    [merge, '{', 400],
    [merge, 'null', 400],
    [merge, { metadata: 'x' }, 422],
    [merge, { metadata: { labels: 'x' } }, 422],
    [merge, { metadata: { labels: { a: 1 } } }, 422],
    [merge, { metadata: { name: 'x' } }, 400],
    [merge, { kind: 'x' }, 422],
  ] as const;
  const ofBuiltin = [
    [json, [{ op: 'remove', path: '/kind' }], 200],
    [merge, { apiVersion: null }, 200],
    [merge, { data: 'x' }, 422],
    [strategic, '{', 400],
    [strategic, [], 400],
    [strategic, { data: 'x' }, 422],
    [strategic, { metadata: 'x' }, 422],
    [strategic, { $patch: 'x' }, 500],
    [strategic, { metadata: { $retainKeys: 'x' } }, 400],
  ] as const;

  test.each(ofBoth)('of a custom resource: %s %j is %d', async (type, body, code) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
  });

  test.each([...ofBoth, ...ofBuiltin])('of a built-in type: %s %j is %d', async (type, body, code) => {
    const path = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', path, configMap('a', { k: 'v' }));
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
  });
});
