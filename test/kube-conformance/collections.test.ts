import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { type Body, type Cluster, configMap, paths, startCluster, watchUntil, widget } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const names = ({ items }: Body): string[] => items.map((item: Body) => item.metadata.name);

async function filled(type: string = paths.widgets): Promise<string> {
  const path = await cluster.fresh(type);
  for (const name of ['a', 'b', 'c']) {
    const color = name === 'c' ? 'blue' : 'red';
    const body = type === paths.widgets ? widget(name, { color }) : configMap(name);
    expect((await cluster.send('POST', path, body)).code).toBe(201);
  }
  return path;
}

describe('deletecollection', () => {
  test.each([paths.widgets, paths.configmaps])('everything in a namespace: %s', async (type) => {
    const path = await filled(type);
    const other = await filled(type);
    const { code, body } = await cluster.send('DELETE', path);
    expect([code, body.kind, names(body)]).toEqual([200, expect.stringMatching(/List$/), ['a', 'b', 'c']]);
    expect(names((await cluster.send('GET', path)).body)).toEqual([]);
    expect(names((await cluster.send('GET', other)).body)).toEqual(['a', 'b', 'c']);
  });

  test('by field', async () => {
    const path = await filled();
    const { body } = await cluster.send('DELETE', `${path}?fieldSelector=spec.color%3Dred`);
    expect(names(body)).toEqual(['a', 'b']);
    expect(names((await cluster.send('GET', path)).body)).toEqual(['c']);
  });

  test('marks what finalizers hold', async () => {
    const path = await filled();
    await cluster.merge(`${path}/b`, { metadata: { finalizers: ['a.b/c'] } });
    await cluster.send('DELETE', path);
    const { body } = await cluster.send('GET', path);
    expect(names(body)).toEqual(['b']);
    expect(body.items[0].metadata.deletionTimestamp).toMatch(/Z$/);
  });

  test('as a dry run deletes nothing', async () => {
    const path = await filled();
    expect((await cluster.send('DELETE', `${path}?dryRun=All`)).code).toBe(200);
    expect(names((await cluster.send('GET', path)).body)).toEqual(['a', 'b', 'c']);
  });

  test('is watched as deletions', async () => {
    const path = await filled();
    const { resourceVersion } = (await cluster.send('GET', path)).body.metadata;
    await cluster.send('DELETE', path);
    const events = await watchUntil(
      cluster,
      `${path}?watch=true&resourceVersion=${resourceVersion}`,
      (seen) => seen.length === 3,
    );
    expect(events.map(({ type }) => type)).toEqual(['DELETED', 'DELETED', 'DELETED']);
  });
});

describe('dry run', () => {
  const writes = [
    ['an update', 'PUT', '/a', (body: Body) => ({ ...body, spec: { ...body.spec, size: 9 } }), 'application/json'],
    ['a merge patch', 'PATCH', '/a', () => ({ spec: { size: 9 } }), 'application/merge-patch+json'],
    [
      'a JSON patch',
      'PATCH',
      '/a',
      () => [{ op: 'replace', path: '/spec/size', value: 9 }],
      'application/json-patch+json',
    ],
  ] as const;
  test.each(writes)('of %s answers with the result and stores nothing', async (_what, method, at, make, type) => {
    const path = await filled();
    const before = (await cluster.send('GET', `${path}/a`)).body;
    const { code, body } = await cluster.send(method, `${path}${at}?dryRun=All`, make(before), type);
    expect([code, body.spec.size]).toEqual([200, 9]);
    expect((await cluster.send('GET', `${path}/a`)).body).toEqual(before);
  });

  test('of the status', async () => {
    const path = await filled();
    const type = 'application/merge-patch+json';
    const { body } = await cluster.send('PATCH', `${path}/a/status?dryRun=All`, { status: { phase: 'x' } }, type);
    expect(body.status.phase).toBe('x');
    expect((await cluster.send('GET', `${path}/a`)).body.status.phase).toBeUndefined();
  });

  test('checks all the same', async () => {
    const path = await filled();
    expect((await cluster.send('POST', `${path}?dryRun=All`, widget('a'))).body.reason).toBe('AlreadyExists');
    expect((await cluster.send('POST', `${path}?dryRun=All`, widget('z', { size: 0 }))).body.reason).toBe('Invalid');
  });
});

describe('JSON patch operations', () => {
  const operations = [
    ['add to a list', [{ op: 'add', path: '/spec/atoms/-', value: 'b' }], { atoms: ['a', 'b'] }],
    ['insert', [{ op: 'add', path: '/spec/atoms/0', value: 'b' }], { atoms: ['b', 'a'] }],
    ['copy', [{ op: 'copy', from: '/spec/atoms/0', path: '/spec/note' }], { note: 'a' }],
    ['move', [{ op: 'move', from: '/spec/labels/x~1y', path: '/spec/note' }], { note: 'l', labels: {} }],
    [
      'test and remove',
      [
        { op: 'test', path: '/spec/labels', value: { 'x/y': 'l' } },
        { op: 'remove', path: '/spec/atoms' },
      ],
      { labels: { 'x/y': 'l' } },
    ],
  ] as const;
  test.each(operations)('%s', async (_what, patch, wanted) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', { atoms: ['a'], labels: { 'x/y': 'l' } }));
    const { code, body } = await cluster.send('PATCH', `${path}/a`, patch, 'application/json-patch+json');
    expect([code, body.spec]).toEqual([200, expect.objectContaining(wanted)]);
  });

  test('are done all or not at all', async () => {
    const path = await filled();
    const patch = [
      { op: 'replace', path: '/spec/size', value: 9 },
      { op: 'remove', path: '/spec/nope' },
    ];
    expect((await cluster.send('PATCH', `${path}/a`, patch, 'application/json-patch+json')).code).toBe(422);
    expect((await cluster.send('GET', `${path}/a`)).body.spec.size).toBe(3);
  });
});

describe('namespaces that are being deleted', () => {
  test('say so until finalizers of their content are gone, and can then be made anew', async () => {
    const path = await cluster.fresh();
    const name = path.split('/')[5];
    const namespace = `/api/v1/namespaces/${name}`;
    await cluster.send('POST', path, widget('held', {}, { metadata: { finalizers: ['a.b/c'] } }));
    const { uid } = (await cluster.send('GET', namespace)).body.metadata;
    await cluster.send('DELETE', namespace);
    expect((await cluster.send('DELETE', namespace)).code).toBeLessThan(410);
    expect((await cluster.send('GET', namespace)).body.metadata.deletionTimestamp).toMatch(/Z$/);
    const again = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    expect((await cluster.send('POST', '/api/v1/namespaces', again)).body.reason).toBe('AlreadyExists');
    const maps = `/api/v1/namespaces/${name}/configmaps`;
    expect((await cluster.apply(`${maps}/m`, 'one', configMap('m'))).body.reason).toBe('Forbidden');
    await until(
      'held to be marked',
      async () => (await cluster.send('GET', `${path}/held`)).body.metadata.deletionTimestamp,
    );
    // What is there can still be changed: that is how finalizers go.
    expect((await cluster.merge(`${path}/held`, { spec: { size: 9 } })).code).toBe(200);
    await cluster.merge(`${path}/held`, { metadata: { finalizers: null } });
    await until('the namespace to be gone', async () => (await cluster.send('GET', namespace)).code === 404, 25_000);
    const made = await cluster.send('POST', '/api/v1/namespaces', again);
    expect([made.code, made.body.metadata.uid === uid]).toEqual([201, false]);
  });

  test.each([
    ['', 404],
    ['default', 200],
  ])('the namespace "%s"', async (name, code) => {
    const path = `/api/v1/namespaces/${name === '' ? 'never-made' : name}`;
    expect((await cluster.send('GET', path)).code).toBe(code);
  });
});

describe('watches', () => {
  test('from a version that is forgotten are told 410', async () => {
    const path = await filled();
    const events = await watchUntil(cluster, `${path}?watch=true&resourceVersion=1`, (seen) => seen.length === 1);
    expect(events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 } },
    ]);
    expect(events[0]?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  test('by a field', async () => {
    const path = await cluster.fresh();
    const { resourceVersion } = (await cluster.send('GET', path)).body.metadata;
    await cluster.send('POST', path, widget('r'));
    await cluster.send('POST', path, widget('b', { color: 'blue' }));
    const query = `watch=true&fieldSelector=spec.color%3Dblue&resourceVersion=${resourceVersion}`;
    const [event] = await watchUntil(cluster, `${path}?${query}`, (seen) => seen.length === 1);
    expect([event?.type, event?.object.metadata.name]).toEqual(['ADDED', 'b']);
  });

  test('by a field of the status: what comes to have it is added, what has it no more is deleted', async () => {
    const path = await cluster.fresh();
    const { resourceVersion } = (await cluster.send('GET', path)).body.metadata;
    await cluster.send('POST', path, widget('a'));
    const phase = (text: string) => cluster.merge(`${path}/a/status`, { status: { phase: text } });
    for (const text of ['Up', 'Down']) await phase(text);
    const query = `watch=true&fieldSelector=status.phase%3DUp&resourceVersion=${resourceVersion}`;
    const events = await watchUntil(cluster, `${path}?${query}`, (seen) => seen.length === 2);
    // What is deleted is shown as it was when it had the field.
    expect(events.map(({ type, object }) => [type, object.status.phase])).toEqual([
      ['ADDED', 'Up'],
      ['DELETED', 'Up'],
    ]);
    expect(names((await cluster.send('GET', `${path}?fieldSelector=status.phase%3DUp`)).body)).toEqual([]);
    expect(names((await cluster.send('GET', `${path}?fieldSelector=status.phase%3DDown`)).body)).toEqual(['a']);
  });

  test('across namespaces', async () => {
    const [one, two] = [await cluster.fresh(), await cluster.fresh()];
    const all = '/apis/test.example.com/v1/widgets';
    const { resourceVersion } = (await cluster.send('GET', all)).body.metadata;
    await cluster.send('POST', one, widget('x'));
    await cluster.send('POST', two, widget('y'));
    const events = await watchUntil(
      cluster,
      `${all}?watch=true&resourceVersion=${resourceVersion}`,
      (seen) => seen.length === 2,
    );
    expect(events.map(({ object }) => object.metadata.name)).toEqual(['x', 'y']);
  });
});

describe('discovery', () => {
  const get = async (path: string, accept = 'application/json'): Promise<Body> =>
    (await cluster.request(path, { headers: { Accept: accept } })).json();

  test('legacy: versions, groups, one group', async () => {
    expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const { kind, groups } = await get('/apis');
    expect([kind, groups.map(({ name }: Body) => name)]).toEqual([
      'APIGroupList',
      expect.arrayContaining(['apiextensions.k8s.io', 'coordination.k8s.io', 'events.k8s.io', 'test.example.com']),
    ]);
    expect(await get('/apis/test.example.com')).toMatchObject({
      kind: 'APIGroup',
      name: 'test.example.com',
      versions: [{ groupVersion: 'test.example.com/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'test.example.com/v1', version: 'v1' },
    });
  });

  test('legacy: verbs of the core resources', async () => {
    const { groupVersion, resources } = await get('/api/v1');
    expect(groupVersion).toBe('v1');
    const secrets = resources.find(({ name }: Body) => name === 'secrets');
    expect([...secrets.verbs].sort()).toEqual(
      ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'].sort(),
    );
  });

  test('aggregated: the core group', async () => {
    const { kind, items } = await get('/api', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    expect([kind, items[0].versions[0].version]).toEqual(['APIGroupDiscoveryList', 'v1']);
    const maps = items[0].versions[0].resources.find(({ resource }: Body) => resource === 'configmaps');
    expect(maps).toMatchObject({ scope: 'Namespaced', singularResource: 'configmap', shortNames: ['cm'] });
  });

  test('OpenAPI v3: an index of documents', async () => {
    const { paths: documents } = await get('/openapi/v3');
    expect(Object.keys(documents)).toEqual(expect.arrayContaining(['api/v1', 'apis/coordination.k8s.io/v1']));
    const { openapi, components } = await get(documents['api/v1'].serverRelativeURL);
    expect(openapi).toMatch(/^3\./);
    expect(components.schemas['io.k8s.api.core.v1.ConfigMap'].properties.data.description).toMatch(/^Data contains/);
  });

  test('OpenAPI v2: a document as JSON, and as protobuf for kubectl', async () => {
    expect(await get('/openapi/v2')).toMatchObject({ swagger: '2.0', info: { title: expect.any(String) } });
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const answer = await cluster.request('/openapi/v2', { headers: { Accept: protobuf } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from('\n\x032.0'));
  });
});
