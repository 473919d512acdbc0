import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cluster, configMap, paths, startCluster, widget } from './cluster.ts';
import { envelope, type Fields } from './protobuf.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const isEmbedded = !process.env.TEST_KUBE_APISERVER;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const pathOf = (type: string, group = '/api/v1') => `${group}/namespaces/*/${type}`;
const send = (method: string, path: string, apiVersion: string, kind: string, fields: Fields) =>
  cluster.send(method, path, envelope(apiVersion, kind, fields), protobuf);

const uid = '11111111-2222-3333-4444-555555555555';
/** `metadata`, with a controller as its owner. */
const owned: Fields = {
  1: 'a',
  8: {},
  11: { 1: 'k', 2: 'v' },
  12: [
    { 1: 'a', 2: '1' },
    { 1: 'b', 2: '' },
  ],
  13: { 1: 'ConfigMap', 3: 'o', 4: uid, 5: 'v1', 6: true, 7: false },
  14: ['a.b/c'],
};
const ownedMeta = {
  name: 'a',
  labels: { k: 'v' },
  annotations: { a: '1', b: '' },
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid, controller: true, blockOwnerDeletion: false },
  ],
  finalizers: ['a.b/c'],
};
const time = { 1: 1700000000, 2: 123456000 };

const written: readonly (readonly [string, path: string, apiVersion: string, kind: string, Fields, wanted: object])[] =
  [
    ['metadata', paths.configmaps, 'v1', 'ConfigMap', { 1: owned }, { metadata: ownedMeta }],
    [
      'a ConfigMap',
      paths.configmaps,
      'v1',
      'ConfigMap',
      { 1: { 1: 'a' }, 2: { 1: 'k', 2: 'ü' }, 3: { 1: 'b', 2: Uint8Array.of(0, 255) }, 4: false },
      { data: { k: 'ü' }, binaryData: { b: 'AP8=' }, immutable: false },
    ],
    [
      'a Secret',
      paths.secrets,
      'v1',
      'Secret',
      { 1: { 1: 'a' }, 2: { 1: 'k', 2: Uint8Array.of(0, 255) }, 3: 'a/b', 5: true },
      { data: { k: 'AP8=' }, type: 'a/b', immutable: true },
    ],
    [
      'a ServiceAccount',
      pathOf('serviceaccounts'),
      'v1',
      'ServiceAccount',
      { 1: { 1: 'a' }, 2: { 3: 's' }, 3: { 1: 'p' }, 4: false },
      { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }], automountServiceAccountToken: false },
    ],
    [
      'a Service',
      pathOf('services'),
      'v1',
      'Service',
      {
        1: { 1: 'a' },
        2: {
          1: [
            { 1: 'n', 2: 'TCP', 3: 80, 4: { 1: 1, 2: 0, 3: 'web' }, 5: 0 },
            { 1: 'm', 2: 'TCP', 3: 81, 4: { 1: 0, 2: 8081, 3: '' } },
          ],
          2: { 1: 'app', 2: 'a' },
          4: 'ClusterIP',
        },
        3: { 1: {} },
      },
      {
        spec: {
          ports: [
            { name: 'n', protocol: 'TCP', port: 80, targetPort: 'web' },
            { name: 'm', protocol: 'TCP', port: 81, targetPort: 8081 },
          ],
          selector: { app: 'a' },
          type: 'ClusterIP',
        },
      },
    ],
    [
      'a Lease',
      paths.leases,
      'coordination.k8s.io/v1',
      'Lease',
      { 1: { 1: 'a' }, 2: { 1: 'me', 2: 15, 3: time, 4: { ...time, 2: 7000 }, 5: 0 } },
      {
        spec: {
          holderIdentity: 'me',
          leaseDurationSeconds: 15,
          acquireTime: '2023-11-14T22:13:20.123456Z',
          renewTime: '2023-11-14T22:13:20.000007Z',
          leaseTransitions: 0,
        },
      },
    ],
    [
      'an Event',
      paths.coreEvents,
      'v1',
      'Event',
      {
        1: { 1: 'a' },
        2: { 1: 'Widget', 2: 'n', 3: 'w', 4: uid, 5: 'v1' },
        3: 'Reason',
        4: 'message',
        5: { 1: 'me', 2: '' },
        6: time,
        7: time,
        8: 3,
        9: 'Normal',
        10: {},
        12: '',
      },
      {
        involvedObject: { kind: 'Widget', name: 'w', uid },
        reason: 'Reason',
        message: 'message',
        source: { component: 'me' },
        firstTimestamp: '2023-11-14T22:13:20Z',
        count: 3,
        type: 'Normal',
        eventTime: null,
      },
    ],
    [
      'an Event of the newer kind',
      paths.events,
      'events.k8s.io/v1',
      'Event',
      {
        1: { 1: 'a' },
        2: time,
        3: { 1: 2, 2: time },
        4: 'me',
        5: 'me-1',
        6: 'Act',
        7: 'Reason',
        8: { 3: 'w' },
        10: 'note',
      },
      {
        eventTime: '2023-11-14T22:13:20.123456Z',
        series: { count: 2, lastObservedTime: '2023-11-14T22:13:20.123456Z' },
        reportingController: 'me',
        regarding: { name: 'w' },
        note: 'note',
      },
    ],
  ];

describe('protobuf', () => {
  test.each(written)('%s is written whole', async (_what, type, apiVersion, kind, fields, wanted) => {
    const path = await cluster.fresh(type);
    // An event is in the namespace of the object that it is about.
    const namespace = path.split('/').at(-2) ?? '';
    const about = kind === 'Event' ? { 2: { ...(fields[2] as Fields), 2: namespace } } : {};
    const placed = apiVersion === 'v1' ? { ...fields, ...about } : fields;
    expect((await send('POST', path, apiVersion, kind, placed)).code).toBe(201);
    expect((await cluster.send('GET', `${path}/a`)).body).toMatchObject(wanted);
  });

  test('the finalizers of a namespace', async () => {
    const fields = { 1: { 1: 'held' }, 2: { 1: 'a.b/c' } };
    expect((await send('POST', '/api/v1/namespaces', 'v1', 'Namespace', fields)).code).toBe(201);
    const { body } = await cluster.send('GET', '/api/v1/namespaces/held');
    expect(body.spec.finalizers).toEqual(expect.arrayContaining(['a.b/c', 'kubernetes']));
  });

  test('an update by protobuf keeps what it was given', async () => {
    const path = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', path, configMap('a', { k: 'v' }, { ownerReferences: ownedMeta.ownerReferences }));
    expect((await send('PUT', `${path}/a`, 'v1', 'ConfigMap', { 1: owned, 2: { 1: 'k', 2: 'w' } })).code).toBe(200);
    const { body } = await cluster.send('GET', `${path}/a`);
    expect([body.data, body.metadata.ownerReferences]).toEqual([{ k: 'w' }, ownedMeta.ownerReferences]);
  });

  test('options of a deletion', async () => {
    const path = await cluster.fresh(paths.configmaps);
    const created = await cluster.send('POST', path, configMap('a'));
    const options = (id: string) => ({ 2: { 1: id }, 4: 'Background' });
    const other = await send('DELETE', `${path}/a`, 'v1', 'DeleteOptions', options(uid));
    expect([other.code, other.body.reason]).toEqual([409, 'Conflict']);
    const same = await send('DELETE', `${path}/a`, 'v1', 'DeleteOptions', options(created.body.metadata.uid));
    expect([same.code, same.body.status]).toEqual([200, 'Success']);
  });

  test('options of a deletion, of the group of the type and in YAML', async () => {
    const path = await cluster.fresh(paths.leases);
    const named = (name: string) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } });
    for (const name of ['a', 'b']) await cluster.send('POST', path, named(name));
    const options = { 5: ['All'] };
    expect((await send('DELETE', `${path}/a`, 'coordination.k8s.io/v1', 'DeleteOptions', options)).code).toBe(200);
    const yaml = 'apiVersion: v1\nkind: DeleteOptions\ndryRun: [All]\n';
    expect((await cluster.send('DELETE', `${path}/b`, yaml, 'application/yaml')).code).toBe(200);
    expect((await cluster.send('GET', path)).body.items).toHaveLength(2);
    expect((await cluster.send('DELETE', `${path}/b`, 'x', 'text/plain')).code).toBe(415);
  });

  test('a body that ends too early', async () => {
    const path = await cluster.fresh(paths.configmaps);
    const whole = envelope('v1', 'ConfigMap', { 1: owned });
    expect((await cluster.send('POST', path, whole.subarray(0, whole.length - 3), protobuf)).code).toBe(400);
    expect((await cluster.send('POST', path, '{}', protobuf)).code).toBe(400);
  });

  test('text is no format', async () => {
    expect((await cluster.send('POST', await cluster.fresh(), widget('a'), 'text/plain')).code).toBe(415);
  });

  // A real server drops the connection.
  (isEmbedded ? test : test.skip)('is no format of custom resources', async () => {
    const answer = await send('POST', await cluster.fresh(), 'test.example.com/v1', 'Widget', {});
    expect([answer.code, answer.body.reason]).toEqual([415, 'UnsupportedMediaType']);
  });

  // A real server leaves out what its version does not know.
  (isEmbedded ? test : test.skip).each([
    ['field 999 of meta.ObjectMeta is not known here', { 1: { 1: 'a', 999: 'x' } }],
    ['field 9 of core.ConfigMap is not known here', { 1: { 1: 'a' }, 9: 1 }],
    ['field 2 of core.ConfigMap has wire type 0', { 1: { 1: 'a' }, 2: 1 }],
  ])('nothing is dropped: %s', async (message, fields) => {
    const answer = await send('POST', await cluster.fresh(paths.configmaps), 'v1', 'ConfigMap', fields);
    expect([answer.code, answer.body.message]).toEqual([400, message]);
  });

  (isEmbedded ? test : test.skip)('a kind whose fields are not known is refused by name', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { code, body } = await send('POST', path, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', {});
    expect([code, body.reason]).toEqual([415, 'UnsupportedMediaType']);
    expect(body.message).toMatch(/CustomResourceDefinition in apiextensions.k8s.io\/v1 is not read from protobuf$/);
  });
});
