import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import {
  type Body,
  type Cluster,
  causes,
  configMap,
  paths,
  startCluster,
  type WatchEvent,
  watchUntil,
  widget,
} from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const names = (body: Body): string[] => body.items.map((item: Body) => item.metadata.name);
const brief = (events: readonly WatchEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

async function filled(): Promise<string> {
  const path = await cluster.fresh();
  const labels: Record<string, object> = {
    a: { app: 'x', tier: '1' },
    b: { app: 'y', tier: '1' },
    c: { app: 'x' },
    d: {},
  };
  for (const [name, own] of Object.entries(labels)) {
    await cluster.send(
      'POST',
      path,
      widget(name, { color: name === 'b' ? 'blue' : 'red' }, { metadata: { labels: own } }),
    );
  }
  return path;
}

describe('lists', () => {
  test('carry kind and version; items of custom resources too, those of built-in types not', async () => {
    const path = await filled();
    const { body } = await cluster.send('GET', path);
    expect([body.kind, body.apiVersion, names(body)]).toEqual([
      'WidgetList',
      'test.example.com/v1',
      ['a', 'b', 'c', 'd'],
    ]);
    expect([body.items[0].kind, body.metadata.resourceVersion]).toEqual(['Widget', expect.stringMatching(/^\d+$/)]);
    const maps = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', maps, configMap('a'));
    const { items } = (await cluster.send('GET', maps)).body;
    expect([items[0].kind, items[0].apiVersion]).toEqual([undefined, undefined]);
  });

  const selectors = [
    ['labelSelector=app', 'abc'],
    ['labelSelector=!app', 'd'],
    ['labelSelector=app=x', 'ac'],
    ['labelSelector=app==x,tier=1', 'a'],
    ['labelSelector=app!=x', 'bd'],
    ['labelSelector=app in (x, y),tier', 'ab'],
    ['labelSelector=app notin (x)', 'bd'],
    ['fieldSelector=metadata.name=a', 'a'],
    ['fieldSelector=metadata.name!=a', 'bcd'],
    ['fieldSelector=spec.color=blue', 'b'],
    ['fieldSelector=spec.color=red&labelSelector=tier', 'a'],
    ['fieldSelector=spec.size=3,spec.active=true,status.phase=', 'abcd'],
  ] as const;
  test.each(selectors)('%s', async (query, wanted) => {
    const path = await filled();
    const encoded = query.replaceAll(
      /=(.*?)(&|$)/g,
      (_all, value: string, end: string) => `=${encodeURIComponent(value)}${end}`,
    );
    expect(names((await cluster.send('GET', `${path}?${encoded}`)).body).join('')).toBe(wanted);
  });

  const refused = [
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['fieldSelector=spec.nope%3D1', 'field label not supported: spec.nope'],
    ['fieldSelector=bad', "invalid selector: 'bad'; can't understand 'bad'"],
    ['labelSelector=a%20in%20x', expect.stringContaining('unable to parse requirement')],
    ['limit=1&continue=abc', expect.stringContaining('invalid continue token')],
  ] as const;
  test.each(refused)('refuses %s', async (query, message) => {
    const path = await cluster.fresh();
    expect((await cluster.send('GET', `${path}?${query}`)).body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message,
    });
  });

  const versionMatches = [
    ['resourceVersionMatch=Exact', 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'resourceVersionMatch=Nope&resourceVersion=1',
      'Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""',
    ],
  ] as const;
  test.each(versionMatches)('refuses %s', async (query, message) => {
    const answer = await cluster.send('GET', `${await cluster.fresh()}?${query}`);
    expect([answer.code, causes(answer)]).toEqual([422, [`resourceVersionMatch: ${message}`]]);
  });

  test('pages show the objects as they were at the first page', async () => {
    const path = await filled();
    const first = (await cluster.send('GET', `${path}?limit=2`)).body;
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 2]);
    await cluster.send('DELETE', `${path}/c`);
    await cluster.send('POST', path, widget('e'));
    const next = `${path}?limit=2&continue=${encodeURIComponent(first.metadata.continue)}`;
    const second = (await cluster.send('GET', next)).body;
    expect([names(second), second.metadata.continue || undefined]).toEqual([['c', 'd'], undefined]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('across namespaces, and of a future version', async () => {
    await filled();
    const all = '/apis/test.example.com/v1/widgets';
    expect(names((await cluster.send('GET', `${all}?fieldSelector=metadata.name%3Dd`)).body).length).toBeGreaterThan(0);
    const future = await cluster.send('GET', `${all}?resourceVersion=99999999`);
    expect([future.code, future.body.reason, future.body.details.causes[0].reason]).toEqual([
      504,
      'Timeout',
      'ResourceVersionTooLarge',
    ]);
  });
});

describe('watches', () => {
  test('from a version: every later change, in order', async () => {
    const path = await cluster.fresh();
    const { resourceVersion } = (await cluster.send('GET', path)).body.metadata;
    await cluster.send('POST', path, widget('a'));
    await cluster.merge(`${path}/a`, { spec: { size: 4 } });
    await cluster.send('DELETE', `${path}/a`);
    const events = await watchUntil(
      cluster,
      `${path}?watch=true&resourceVersion=${resourceVersion}`,
      ({ length }) => length === 3,
    );
    expect(brief(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
  });

  test.each(['', '&resourceVersion=0'])('without a version they start with what is there (%s)', async (version) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const events = await watchUntil(cluster, `${path}?watch=true${version}`, ({ length }) => length === 1);
    expect(brief(events)).toEqual(['ADDED a']);
  });

  test('with selectors: what starts to match is added, what no longer does is deleted', async () => {
    const path = await cluster.fresh();
    const { resourceVersion } = (await cluster.send('GET', path)).body.metadata;
    await cluster.send('POST', path, widget('a'));
    for (const app of ['x', 'x2', null]) await cluster.merge(`${path}/a`, { metadata: { labels: { app } } });
    const query = `watch=true&labelSelector=app&resourceVersion=${resourceVersion}`;
    const events = await watchUntil(cluster, `${path}?${query}`, ({ length }) => length === 3);
    expect(brief(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  test('sendInitialEvents ends what is there with a bookmark', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await watchUntil(cluster, `${path}?${query}`, ({ length }) => length === 2);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(events[1]?.object).toMatchObject({
      kind: 'Widget',
      apiVersion: 'test.example.com/v1',
      metadata: {
        annotations: { 'k8s.io/initial-events-end': 'true' },
        resourceVersion: expect.stringMatching(/^\d+$/),
      },
    });
    const wrong = await cluster.send('GET', `${path}?watch=true&sendInitialEvents=true`);
    expect(causes(wrong)).toEqual([
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ]);
  });

  test('timeoutSeconds ends them, be it after weeks', async () => {
    const path = await cluster.fresh();
    const started = performance.now();
    const long = watchUntil(cluster, `${path}?watch=true&timeoutSeconds=4000000`, () => true);
    const short = watchUntil(cluster, `${path}?watch=true&timeoutSeconds=1`, () => false);
    expect(await Promise.race([short, long.then(() => 'ended')])).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(900);
    await cluster.send('POST', path, widget('a'));
    expect(await long).toHaveLength(1);
  });

  test('deletion that waits for finalizers is a modification first', async () => {
    const path = await cluster.fresh();
    const { body } = await cluster.send('POST', path, widget('a', {}, { metadata: { finalizers: ['a.b/c'] } }));
    await cluster.send('DELETE', `${path}/a`);
    await cluster.merge(`${path}/a`, { metadata: { finalizers: null } });
    const query = `watch=true&resourceVersion=${body.metadata.resourceVersion}`;
    const events = await watchUntil(cluster, `${path}?${query}`, (seen) => seen.some(({ type }) => type === 'DELETED'));
    expect(brief(events).at(0)).toBe('MODIFIED a');
    expect(brief(events).at(-1)).toBe('DELETED a');
  });
});

describe('tables', () => {
  const accept = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

  test('have the columns of the definition', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', { note: 'n', when: new Date().toISOString() }));
    await cluster.merge(`${path}/a/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const table: Body = await (await cluster.request(path, { headers: accept })).json();
    expect(table.columnDefinitions.map((column: Body) => [column.name, column.type, column.priority])).toEqual([
      ['Name', 'string', 0],
      ['COLOR', 'string', 0],
      ['SIZE', 'integer', 0],
      ['READY', 'string', 0],
      ['NOTE', 'string', 1],
      ['WHEN', 'date', 1],
      ['AGE', 'date', 0],
    ]);
    expect(table.columnDefinitions[1].description).toBe(
      'Custom resource definition column (in JSONPath format): .spec.color',
    );
    const seconds = expect.stringMatching(/^\d+s$/);
    expect(table.rows[0].cells).toEqual(['a', 'red', 3, 'True', 'n', seconds, seconds]);
    expect(table.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
  });

  test('are watched row by row, with column definitions in the first only', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    await cluster.send('POST', path, widget('b'));
    const events = await watchUntil(
      cluster,
      `${path}?watch=true&resourceVersion=0`,
      ({ length }) => length === 2,
      accept,
    );
    expect(
      events.map(({ object }) => [object.kind, object.rows.length, object.columnDefinitions?.length ?? 0]),
    ).toEqual([
      ['Table', 1, 7],
      ['Table', 1, 0],
    ]);
  });

  test('can be metadata only instead', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const headers = { Accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
    const one: Body = await (await cluster.request(`${path}/a`, { headers })).json();
    expect([one.kind, one.apiVersion, one.metadata.name, one.spec]).toEqual([
      'PartialObjectMetadata',
      'meta.k8s.io/v1',
      'a',
      undefined,
    ]);
    const many = { Accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
    const list: Body = await (await cluster.request(path, { headers: many })).json();
    expect([list.kind, list.items.length]).toEqual(['PartialObjectMetadataList', 1]);
  });

  test('leave cells empty where there is no value', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const table: Body = await (await cluster.request(path, { headers: accept })).json();
    expect(table.rows[0].cells.slice(3, 6)).toEqual([null, null, null]);
  });
});

describe('the server', () => {
  test.each([{}, { Authorization: 'Bearer nobody' }])('wants a token it knows (%j)', async (headers) => {
    const response = await cluster.request('/api/v1/namespaces', { headers: { Authorization: '', ...headers } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      kind: 'Status',
      reason: 'Unauthorized',
      message: 'Unauthorized',
      code: 401,
    });
  });

  test.each(['/healthz', '/readyz', '/livez'])('%s is ok', async (path) => {
    expect((await cluster.send('GET', path)).body).toBe('ok');
  });

  test('tells its resources, one by one and all at once', async () => {
    await until(
      'the group to be discovered',
      async () => (await cluster.send('GET', '/apis/test.example.com/v1')).code === 200,
    );
    const legacy = (await cluster.send('GET', '/apis/test.example.com/v1')).body;
    expect(legacy.resources.find((resource: Body) => resource.name === 'widgets')).toMatchObject({
      singularName: 'widget',
      namespaced: true,
      kind: 'Widget',
      shortNames: ['wd'],
      categories: ['gadgets'],
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    });
    expect(legacy.resources.map((resource: Body) => resource.name)).toContain('widgets/status');
    const headers = { Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
    const discovered = await until('aggregated discovery', async () => {
      const body: Body = await (await cluster.request('/apis', { headers })).json();
      expect(body.kind).toBe('APIGroupDiscoveryList');
      return body.items.find((item: Body) => item.metadata.name === 'test.example.com');
    });
    expect(discovered.versions[0].resources[0]).toMatchObject({
      resource: 'widgets',
      scope: 'Namespaced',
      singularResource: 'widget',
      responseKind: { group: 'test.example.com', version: 'v1', kind: 'Widget' },
      subresources: [{ subresource: 'status' }],
    });
  });

  test('publishes the schemas that kubectl explain reads', async () => {
    const schema = await until('the schema to be published', async () => {
      const { body } = await cluster.send('GET', '/openapi/v3/apis/test.example.com/v1');
      return body.components?.schemas?.['com.example.test.v1.Widget'];
    });
    expect(schema['x-kubernetes-group-version-kind']).toEqual([
      { group: 'test.example.com', version: 'v1', kind: 'Widget' },
    ]);
    expect(schema.description).toBe('A widget.');
    expect(schema.properties.spec.properties.color.description).toBe('The colour.');
  });

  test.each(['GET', 'PUT', 'PATCH', 'POST', 'DELETE'])('has no subresource that %s could reach', async (method) => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    for (const name of ['scale', 'nope']) {
      const body = method === 'GET' ? undefined : {};
      const answer = await cluster.send(method, `${path}/a/${name}`, body, 'application/merge-patch+json');
      expect(answer.body).toMatchObject({
        code: 404,
        message: 'widgets.test.example.com "a" not found',
        details: { name: 'a', group: 'test.example.com', kind: 'widgets' },
      });
    }
  });

  test.each([
    ['POST', 'create'],
    ['DELETE', 'delete'],
  ])('has no %s of a status', async (method, verb) => {
    const answer = await cluster.send(method, `${await cluster.fresh()}/a/status`, {});
    const message = `${verb} is not supported on resources of kind "widgets.test.example.com"`;
    expect(answer.body).toMatchObject({ code: 405, reason: 'MethodNotAllowed', message });
  });

  test('has no other verbs and subresources of built-in types', async () => {
    const path = await cluster.fresh(paths.configmaps);
    await cluster.send('POST', path, configMap('a'));
    const refused = 'the server does not allow this method on the requested resource';
    expect((await cluster.send('PUT', path, {})).body).toMatchObject({ code: 405, message: refused, details: {} });
    expect((await cluster.send('POST', `${path}/a`, {})).body).toMatchObject({ code: 405, message: refused });
    const unknown = 'the server could not find the requested resource';
    for (const at of [`${path}/a/scale`, `${path}/a/status`, '/api/v2', '/api/v1/nopes'])
      expect((await cluster.send('GET', at)).body).toMatchObject({ code: 404, message: unknown, details: {} });
  });

  test('describes what every object has in its own words', async () => {
    const { properties } = await until('the schema to be published', async () => {
      const { body } = await cluster.send('GET', '/openapi/v3/apis/test.example.com/v1');
      return body.components?.schemas?.['com.example.test.v1.Widget'];
    });
    expect(properties.apiVersion.description).toMatch(/^APIVersion defines the versioned schema/);
    expect(properties.metadata).toMatchObject({
      description: expect.stringMatching(/^Standard object's metadata/),
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
    });
  });

  test('a change of a collection needs a name', async () => {
    const path = await cluster.fresh();
    for (const method of ['PUT', 'PATCH']) {
      const answer = await cluster.send(method, path, {}, 'application/merge-patch+json');
      expect([answer.code, answer.body.message]).toEqual([400, 'name must be provided']);
    }
  });

  test('knows nothing of other paths', async () => {
    for (const path of ['/apis/test.example.com/v1/namespaces/default/nope', '/apis/nope.example.com/v1']) {
      expect((await cluster.send('GET', path)).code).toBe(404);
    }
  });
});
