import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe('create and read', () => {
  test('sets what the server sets, drops status and fills in defaults', async () => {
    const path = await cluster.fresh();
    const { code, body } = await cluster.send('POST', path, widget('a', {}, { status: { phase: 'x' } }));
    expect(code).toBe(201);
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(body.metadata.generation).toBe(1);
    expect(body.spec).toEqual({ color: 'red', size: 3, active: true });
    expect(body.status).toEqual({ observedGeneration: -1 });
    expect((await cluster.send('GET', `${path}/a`)).body).toEqual(body);
  });

  test('generateName makes different names', async () => {
    const path = await cluster.fresh();
    const body = widget(undefined, {}, { metadata: { generateName: 'g-' } });
    const names = [await cluster.send('POST', path, body), await cluster.send('POST', path, body)].map(
      (answer) => answer.body.metadata.name,
    );
    expect(names[0]).toMatch(/^g-[a-z0-9]{5}$/);
    expect(names[0]).not.toBe(names[1]);
  });

  test('built-in types have no generation, and YAML is read', async () => {
    const path = await cluster.fresh(paths.configmaps);
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n';
    const { code, body } = await cluster.send('POST', path, yaml, 'application/yaml');
    expect([code, body.data, body.metadata.generation]).toEqual([201, { k: 'v' }, undefined]);
  });

  test('every write takes the next resourceVersion', async () => {
    const path = await cluster.fresh(paths.configmaps);
    const first = await cluster.send('POST', path, configMap('a'));
    const second = await cluster.send('POST', path, configMap('b'));
    expect(Number(second.body.metadata.resourceVersion)).toBeGreaterThan(Number(first.body.metadata.resourceVersion));
  });

  const refused = [
    ['a taken name', widget('taken'), 409, 'AlreadyExists', 'widgets.test.example.com "taken" already exists'],
    [
      'another kind',
      { ...widget('b'), kind: 'Gadget' },
      422,
      'Invalid',
      'Gadget.test.example.com "b" is invalid: kind: Invalid value: "Gadget": must be Widget',
    ],
    [
      'another version',
      { ...widget('b'), apiVersion: 'test.example.com/v2' },
      400,
      'BadRequest',
      'the API version in the data (test.example.com/v2) does not match the expected API version (test.example.com/v1)',
    ],
    [
      'another namespace',
      widget('b', {}, { metadata: { namespace: 'other' } }),
      400,
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resourceVersion',
      widget('b', {}, { metadata: { resourceVersion: '5' } }),
      500,
      undefined,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'no name',
      widget(undefined),
      422,
      'Invalid',
      expect.stringContaining('metadata.name: Required value: name or generateName is required'),
    ],
    [
      'a bad name',
      widget('B_'),
      422,
      'Invalid',
      expect.stringContaining('metadata.name: Invalid value: "B_": a lowercase RFC 1123 subdomain must consist of'),
    ],
    [
      'a bad label',
      widget('b', {}, { metadata: { labels: { a: 'x y' } } }),
      422,
      'Invalid',
      expect.stringContaining(
        'metadata.labels: Invalid value: "x y": a valid label must be an empty string or consist of',
      ),
    ],
    [
      'a label that is no string',
      widget('b', {}, { metadata: { labels: { a: 1 } } }),
      400,
      'BadRequest',
      expect.stringContaining('Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal'),
    ],
    [
      'text that is no JSON',
      'xx',
      400,
      'BadRequest',
      expect.stringContaining('the object provided is unrecognized (must be of type Widget)'),
    ],
  ] as const;
  test.each(refused)('refuses %s', async (_what, body, code, reason, message) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('taken'));
    const answer = await cluster.send('POST', path, body);
    expect([answer.code, answer.body.reason]).toEqual([code, reason]);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', code, message });
  });

  test('checks an object before it says that the name is taken', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('taken'));
    const answer = await cluster.send('POST', path, widget('taken', { color: 'pink' }));
    expect([answer.code, answer.body.reason]).toEqual([422, 'Invalid']);
  });

  test('needs apiVersion and kind of a custom resource only', async () => {
    const path = await cluster.fresh();
    const bare = await cluster.send('POST', path, { spec: {} });
    expect(bare.body.message).toBe(
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"spec":{}}' ({"spec":{}})`,
    );
    const unversioned = await cluster.send('POST', path, { kind: 'Widget' });
    expect(unversioned.body.message).toBe(
      'the API version in the data () does not match the expected API version (test.example.com/v1)',
    );
    const maps = await cluster.fresh(paths.configmaps);
    const { code, body } = await cluster.send('POST', maps, { metadata: { name: 'a' }, data: { k: 'v' } });
    expect([code, body.kind, body.apiVersion]).toEqual([201, 'ConfigMap', 'v1']);
  });

  test('refuses an absent namespace, an unknown content type and an absent object', async () => {
    const absent = await cluster.send('POST', paths.widgets.replace('*', 'nope'), widget('a'));
    expect(absent.body).toMatchObject({
      code: 404,
      message: 'namespaces "nope" not found',
      details: { kind: 'namespaces' },
    });
    const path = await cluster.fresh();
    expect((await cluster.send('POST', path, 'x', 'text/plain')).body).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    });
    expect((await cluster.send('GET', `${path}/zz`)).body).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'widgets.test.example.com "zz" not found',
      details: { name: 'zz', group: 'test.example.com', kind: 'widgets' },
    });
  });

  test('dry run answers but stores nothing', async () => {
    const path = await cluster.fresh();
    const { code, body } = await cluster.send('POST', `${path}?dryRun=All`, widget('a'));
    expect([code, body.metadata.name, body.metadata.resourceVersion]).toEqual([201, 'a', undefined]);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(404);
  });
});

describe('update', () => {
  test('a stale resourceVersion conflicts; the current one does not', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a'));
    const updated = await cluster.send('PUT', `${path}/a`, { ...body, spec: { ...body.spec, size: 4 } });
    expect([updated.code, updated.body.metadata.generation]).toEqual([200, 2]);
    const stale = await cluster.send('PUT', `${path}/a`, body);
    expect(stale.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on widgets.test.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  test('a custom resource needs a resourceVersion, a ConfigMap does not', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect(causes(await cluster.send('PUT', `${path}/a`, widget('a')))).toEqual([
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    const maps = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', maps, configMap('a'));
    expect((await cluster.send('PUT', `${maps}/a`, configMap('a', { k: '1' }))).body.data).toEqual({ k: '1' });
  });

  test('names must agree, and what is absent cannot be updated', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const renamed = widget('b', {}, { metadata: { resourceVersion: '1' } });
    expect((await cluster.send('PUT', `${path}/a`, renamed)).body).toMatchObject({
      code: 400,
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
    expect((await cluster.send('PUT', `${path}/zz`, widget('zz'))).code).toBe(404);
  });

  const generations = [
    ['spec', { spec: { size: 7 } }, 2],
    ['labels', { metadata: { labels: { a: 'b' } } }, 1],
    ['status, which is not written here', { status: { phase: 'x' } }, 1],
    ['nothing', {}, 1],
  ] as const;
  test.each(generations)('generation after a change of %s', async (_what, patch, generation) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.merge(`${path}/a`, patch)).body.metadata.generation).toBe(generation);
  });

  test('a write that changes nothing keeps the resourceVersion', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const changed = await cluster.merge(`${path}/a`, { spec: { size: 4 } });
    const again = await cluster.merge(`${path}/a`, { spec: { size: 4 } });
    expect(again.body.metadata.resourceVersion).toBe(changed.body.metadata.resourceVersion);
  });

  test('one that was read of another object of its name is refused', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a'));
    const uid = '00000000-0000-4000-8000-000000000000';
    const refused = await cluster.send('PUT', `${path}/a`, { ...body, metadata: { ...body.metadata, uid } });
    expect(refused).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(refused.body.message).toContain(
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${body.metadata.uid}`,
    );
  });

  test('server fields cannot be changed', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a'));
    const patch = { metadata: { creationTimestamp: '2001-01-01T00:00:00Z', generation: 77 } };
    const { metadata } = (await cluster.merge(`${path}/a`, patch)).body;
    expect([metadata.creationTimestamp, metadata.generation]).toEqual([body.metadata.creationTimestamp, 1]);
    for (const field of ['uid', 'deletionTimestamp']) {
      const refused = await cluster.merge(`${path}/a`, { metadata: { [field]: '2001-01-01T00:00:00Z' } });
      expect(causes(refused)).toContain(`metadata.${field}: Invalid value: "2001-01-01T00:00:00Z": field is immutable`);
    }
  });
});

describe('the status subresource', () => {
  test('writes status only, and does not count as a generation', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const patch = { spec: { size: 50 }, metadata: { labels: { a: 'b' } }, status: { phase: 'up' } };
    const { body } = await cluster.merge(`${path}/a/status`, patch);
    expect(body.status).toEqual({ observedGeneration: -1, phase: 'up' });
    expect([body.spec.size, body.metadata.labels, body.metadata.generation]).toEqual([3, undefined, 1]);
  });

  test('PUT replaces it, with the precondition', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a'));
    const first = await cluster.send('PUT', `${path}/a/status`, { ...body, status: { phase: 'up' } });
    expect([first.code, first.body.status]).toEqual([200, { phase: 'up' }]);
    expect((await cluster.send('PUT', `${path}/a/status`, { ...body, status: {} })).code).toBe(409);
  });

  test('is validated', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const missing = await cluster.merge(`${path}/a/status`, { status: { conditions: [{ type: 'a' }] } });
    expect(causes(missing)).toContain('status.conditions[0].status: Required value');
    const item = { type: 'a', status: 'True' };
    const twice = await cluster.merge(`${path}/a/status`, { status: { conditions: [item, item] } });
    expect(causes(twice)).toEqual(['status.conditions[1]: Duplicate value: {"type":"a"}']);
  });
});

describe('patches', () => {
  test('merge patch: null removes, lists are replaced', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', { note: 'n', atoms: ['a', 'b'] }));
    const { body } = await cluster.merge(`${path}/a`, { spec: { note: null, atoms: ['c'] } });
    expect([body.spec.note, body.spec.atoms]).toEqual([undefined, ['c']]);
  });

  test('merge patch: resourceVersion is a precondition', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.merge(`${path}/a`, { metadata: { resourceVersion: '1' }, spec: { size: 4 } })).code).toBe(
      409,
    );
  });

  test('JSON patch', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const patch = (operations: object) => cluster.send('PATCH', `${path}/a`, operations, 'application/json-patch+json');
    expect((await patch([{ op: 'replace', path: '/spec/size', value: 7 }])).body.spec.size).toBe(7);
    for (const operation of [
      { op: 'test', path: '/spec/size', value: 8 },
      { op: 'remove', path: '/spec/nope' },
    ]) {
      expect((await patch([operation])).body).toMatchObject({ code: 422, reason: 'Invalid' });
    }
    expect((await patch({ op: 'remove' })).body).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  const malformed = [
    ['merge', 'application/merge-patch+json', '{"a', 400],
    ['merge with a list', 'application/merge-patch+json', '[]', 400],
    ['strategic merge of a custom resource', 'application/strategic-merge-patch+json', '{}', 415],
    ['no type', 'application/json', '{}', 415],
  ] as const;
  test.each(malformed)('refuses %s', async (_what, type, body, code) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.send('PATCH', `${path}/a`, body, type)).code).toBe(code);
  });

  test('of an absent object is 404', async () => {
    expect((await cluster.merge(`${await cluster.fresh()}/zz`, {})).code).toBe(404);
  });

  test('strategic merge of a built-in type: sets merge, directives are followed', async () => {
    const path = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', path, configMap('a', { k: 'v', l: 'w' }, { finalizers: ['a.b/c'] }));
    const patch = (body: object) => cluster.send('PATCH', `${path}/a`, body, 'application/strategic-merge-patch+json');
    const added = await patch({
      metadata: { finalizers: ['d.e/f'], '$setElementOrder/finalizers': ['d.e/f', 'a.b/c'] },
      data: { k: null, j: '1' },
    });
    expect([added.body.metadata.finalizers, added.body.data]).toEqual([['d.e/f', 'a.b/c'], { l: 'w', j: '1' }]);
    const removed = await patch({ metadata: { '$deleteFromPrimitiveList/finalizers': ['d.e/f', 'a.b/c'] } });
    expect(removed.body.metadata.finalizers ?? []).toEqual([]);
  });
});

describe('delete', () => {
  test('answers with a Status and the object is gone', async () => {
    const path = await cluster.fresh();
    const created = await cluster.send('POST', path, widget('a'));
    const { code, body } = await cluster.send('DELETE', `${path}/a`);
    expect([code, body.status, body.details]).toEqual([
      200,
      'Success',
      { name: 'a', group: 'test.example.com', kind: 'widgets', uid: created.body.metadata.uid },
    ]);
    expect((await cluster.send('DELETE', `${path}/a`)).code).toBe(404);
  });

  test('preconditions on uid and resourceVersion', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a'));
    const { uid, resourceVersion } = body.metadata;
    for (const preconditions of [{ uid: 'x' }, { resourceVersion: '1' }]) {
      expect((await cluster.send('DELETE', `${path}/a`, { preconditions })).body).toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
    }
    expect((await cluster.send('DELETE', `${path}/a`, { preconditions: { uid, resourceVersion } })).code).toBe(200);
  });

  test('dry run deletes nothing', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    expect((await cluster.send('DELETE', `${path}/a?dryRun=All`)).code).toBe(200);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(200);
  });

  test('finalizers hold it until the last one goes', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', {}, { metadata: { finalizers: ['a.b/c', 'd.e/f'] } }));
    const marked = await cluster.send('DELETE', `${path}/a`);
    expect(marked.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(marked.body.metadata.deletionTimestamp).toMatch(/Z$/);
    const again = await cluster.send('DELETE', `${path}/a`);
    expect(again.body.metadata.resourceVersion).toBe(marked.body.metadata.resourceVersion);
    const added = await cluster.merge(`${path}/a`, { metadata: { finalizers: ['a.b/c', 'd.e/f', 'z.z/z'] } });
    expect(causes(added)).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"z.z/z"}',
    );
    expect((await cluster.merge(`${path}/a`, { metadata: { finalizers: ['d.e/f'] } })).code).toBe(200);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(200);
    expect((await cluster.merge(`${path}/a`, { metadata: { finalizers: null } })).code).toBe(200);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(404);
  });

  test('a collection by label', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', {}, { metadata: { labels: { x: '1' } } }));
    await cluster.send('POST', path, widget('b'));
    const { body } = await cluster.send('DELETE', `${path}?labelSelector=x`);
    expect([body.kind, body.items.map((item: { metadata: { name: string } }) => item.metadata.name)]).toEqual([
      'WidgetList',
      ['a'],
    ]);
    const left = await cluster.send('GET', path);
    expect(left.body.items).toHaveLength(1);
  });
});

describe('namespaces', () => {
  const remove = async (path: string) => cluster.send('DELETE', path);

  test('have a phase, a finalizer and a label', async () => {
    const path = await cluster.fresh();
    const name = path.split('/')[5];
    const { body } = await cluster.send('GET', `/api/v1/namespaces/${name}`);
    expect([body.spec.finalizers, body.status.phase, body.metadata.labels]).toEqual([
      ['kubernetes'],
      'Active',
      { 'kubernetes.io/metadata.name': name },
    ]);
  });

  test('take their content with them, but wait for finalizers; nothing is created meanwhile', async () => {
    const path = await cluster.fresh();
    const namespace = `/api/v1/namespaces/${path.split('/')[5]}`;
    await cluster.send('POST', path, widget('free'));
    await cluster.send('POST', path, widget('held', {}, { metadata: { finalizers: ['a.b/c'] } }));
    const { body } = await remove(namespace);
    expect(body.status.phase).toBe('Terminating');
    const late = await cluster.send('POST', path, widget('late'));
    expect([late.code, late.body.reason, late.body.details.causes[0].reason]).toEqual([
      403,
      'Forbidden',
      'NamespaceTerminating',
    ]);
    await until('free to be gone', async () => (await cluster.send('GET', `${path}/free`)).code === 404);
    expect((await cluster.send('GET', namespace)).code).toBe(200);
    await until(
      'held to be marked',
      async () => (await cluster.send('GET', `${path}/held`)).body.metadata.deletionTimestamp,
    );
    await cluster.merge(`${path}/held`, { metadata: { finalizers: null } });
    await until('the namespace to be gone', async () => (await cluster.send('GET', namespace)).code === 404, 25_000);
  });
});

describe('built-in types', () => {
  test('Secrets encode stringData and default their type', async () => {
    const path = await cluster.fresh(paths.secrets);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      stringData: { k: 'é' },
      data: { b: 'AQ==' },
    };
    const { body } = await cluster.send('POST', path, secret);
    expect([body.data, body.type, body.stringData]).toEqual([{ b: 'AQ==', k: 'w6k=' }, 'Opaque', undefined]);
  });

  test('ConfigMaps refuse bad keys and values', async () => {
    const path = await cluster.fresh(paths.configmaps);
    expect((await cluster.send('POST', path, configMap('a', { k: 1 }))).code).toBe(400);
    expect(causes(await cluster.send('POST', path, configMap('a', { 'k k': '1' })))[0]).toMatch(
      /^data\[k k\]: Invalid value: "k k": a valid config key must consist of/,
    );
  });

  test('Leases keep microseconds and refuse anything less', async () => {
    const path = await cluster.fresh(paths.leases);
    const lease = (renewTime: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'a' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime, leaseTransitions: 0 },
    });
    const wrong = await cluster.send('POST', path, lease('2026-01-01T00:00:00Z'));
    expect([wrong.code, wrong.body.message]).toEqual([
      400,
      'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ]);
    const { body } = await cluster.send('POST', path, lease('2026-01-01T00:00:00.123456Z'));
    expect(body.spec.renewTime).toBe('2026-01-01T00:00:00.123456Z');
    const stale = { ...body, metadata: { ...body.metadata, resourceVersion: '1' } };
    expect((await cluster.send('PUT', `${path}/a`, stale)).code).toBe(409);
  });

  test('Events are the same in both groups, and kubectl describe finds them', async () => {
    const path = await cluster.fresh(paths.events);
    const namespace = path.split('/')[5] ?? '';
    const core = paths.coreEvents.replace('*', namespace);
    const event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e.1' },
      eventTime: '2026-01-01T00:00:00.000001Z',
      reportingController: 'c',
      reportingInstance: 'i',
      action: 'Act',
      reason: 'Why',
      note: 'n',
      type: 'Normal',
      regarding: { kind: 'Widget', name: 's', namespace, uid: 'u' },
      series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000001Z' },
    };
    expect((await cluster.send('POST', path, event)).body).toMatchObject(event);
    const { body } = await cluster.send('GET', `${core}?fieldSelector=involvedObject.name%3Ds,involvedObject.uid%3Du`);
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({
      involvedObject: event.regarding,
      message: 'n',
      reportingComponent: 'c',
      firstTimestamp: null,
      source: {},
      series: event.series,
    });
    const bumped = await cluster.merge(`${path}/e.1`, {
      series: { count: 3, lastObservedTime: '2026-01-01T00:00:01.000001Z' },
    });
    expect(bumped.body.series.count).toBe(3);
  });
});
