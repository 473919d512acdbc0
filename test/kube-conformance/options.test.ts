import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Body, type Cluster, causes, paths, startCluster, watchUntil, widget } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Path of the objects of a namespace with one object, `a`. */
async function one(metadata: object = {}): Promise<string> {
  const path = await cluster.fresh();
  expect((await cluster.send('POST', path, widget('a', {}, { metadata }))).code).toBe(201);
  return path;
}

const version = ({ metadata }: Body) => Number(metadata.resourceVersion);

describe('the write that lets a deleted object go', () => {
  const merge = 'application/merge-patch+json';
  const writes = [
    ['a merge patch', 'PATCH', () => ({ metadata: { finalizers: null }, spec: { size: 9 } }), merge],
    ['a merge patch with an empty list', 'PATCH', () => ({ metadata: { finalizers: [] }, spec: { size: 9 } }), merge],
    [
      'a JSON patch',
      'PATCH',
      () => [
        { op: 'remove', path: '/metadata/finalizers' },
        { op: 'replace', path: '/spec/size', value: 9 },
      ],
      'application/json-patch+json',
    ],
    [
      'an update',
      'PUT',
      ({ metadata, ...rest }: Body) => ({
        ...rest,
        metadata: { ...metadata, finalizers: [] },
        spec: { ...rest.spec, size: 9 },
      }),
      'application/json',
    ],
  ] as const;
  test.each(writes)(
    '%s: the answer is what was written under the old version, the event what was stored under the new one',
    async (_what, method, make, type) => {
      const path = await one({ finalizers: ['a.b/c'] });
      const marked = (await cluster.send('DELETE', `${path}/a`)).body;
      const { code, body } = await cluster.send(method, `${path}/a`, make(marked), type);
      expect([code, version(body), body.metadata.deletionTimestamp]).toEqual([
        200,
        version(marked),
        marked.metadata.deletionTimestamp,
      ]);
      expect([body.metadata.finalizers, body.spec.size]).toEqual([undefined, 9]);
      expect((await cluster.send('GET', `${path}/a`)).code).toBe(404);
      const [event] = await watchUntil(cluster, `${path}?watch=true&resourceVersion=${version(marked)}`, () => true);
      expect([event?.type, event?.object.metadata.finalizers, event?.object.spec.size]).toEqual([
        'DELETED',
        ['a.b/c'],
        3,
      ]);
      expect(version(event?.object)).toBeGreaterThan(version(marked));
    },
  );

  test('is none of the status, nor a dry run', async () => {
    const path = await one({ finalizers: ['a.b/c'] });
    await cluster.send('DELETE', `${path}/a`);
    const patch = { metadata: { finalizers: null } };
    expect((await cluster.merge(`${path}/a/status`, patch)).body.metadata.finalizers).toEqual(['a.b/c']);
    const dry = await cluster.merge(`${path}/a?dryRun=All`, patch);
    expect([dry.code, dry.body.metadata.finalizers]).toEqual([200, undefined]);
    expect((await cluster.send('GET', `${path}/a`)).body.metadata.finalizers).toEqual(['a.b/c']);
  });
});

describe('options of a deletion', () => {
  const policies = '"Foreground", "Background", "Orphan", "nil"';
  const both = (policy: string) =>
    `propagationPolicy: Invalid value: "${policy}": orphanDependents and deletionPropagation cannot be both set`;
  const refused = [
    ['dryRun=x', undefined, 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    ['', { dryRun: ['x'] }, 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    ['', { propagationPolicy: 'x' }, `propagationPolicy: Unsupported value: "x": supported values: ${policies}`],
    ['', { propagationPolicy: 'Orphan', orphanDependents: true }, both('Orphan')],
    ['propagationPolicy=Foreground&orphanDependents=false', undefined, both('Foreground')],
  ] as const;
  test.each(refused)('refuses "%s" %j', async (query, body, cause) => {
    const path = await one();
    for (const at of [`${path}/a`, path]) {
      const answer = await cluster.send('DELETE', `${at}?${query}`, body);
      expect([answer.code, answer.body.details.kind, causes(answer)]).toEqual([422, 'DeleteOptions', [cause]]);
    }
  });

  test.each([
    ['gracePeriodSeconds=x', undefined],
    ['', { kind: 'Gadget', apiVersion: 'v1' }],
    ['', { preconditions: [] }],
    ['', { preconditions: { uid: 1 } }],
    ['', 'xx'],
  ])('are no "%s" %j', async (query, body) => {
    expect((await cluster.send('DELETE', `${await one()}/a?${query}`, body)).body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
    });
  });

  test('dry run and background in the body', async () => {
    const path = await one();
    expect((await cluster.send('DELETE', `${path}/a`, { dryRun: ['All'] })).code).toBe(200);
    expect((await cluster.send('DELETE', path, { dryRun: ['All'] })).body.items).toHaveLength(1);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(200);
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    expect((await cluster.send('DELETE', `${path}/a`, options)).body.status).toBe('Success');
  });

  test('a precondition holds for every object of a collection', async () => {
    const path = await one();
    expect((await cluster.send('DELETE', path, { preconditions: { uid: 'x' } })).body.reason).toBe('Conflict');
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(200);
  });

  test('a limit deletes a page of a collection', async () => {
    const path = await one();
    for (const name of ['b', 'c']) await cluster.send('POST', path, widget(name));
    const { body } = await cluster.send('DELETE', `${path}?limit=2`);
    expect([body.items.length, body.metadata.remainingItemCount]).toEqual([2, 1]);
    expect((await cluster.send('GET', path)).body.items).toHaveLength(1);
  });
});

describe('options of a dry run', () => {
  test('a namespace and a definition', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dry' } };
    expect((await cluster.send('POST', '/api/v1/namespaces?dryRun=All', namespace)).code).toBe(201);
    expect((await cluster.send('GET', '/api/v1/namespaces/dry')).code).toBe(404);
    const path = `/api/v1/namespaces/${(await one()).split('/')[5]}`;
    expect((await cluster.send('DELETE', `${path}?dryRun=All`)).code).toBe(200);
    expect((await cluster.send('GET', path)).body.status.phase).toBe('Active');
    const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.test.example.com';
    expect((await cluster.send('DELETE', `${definition}?dryRun=All`)).code).toBe(200);
    expect((await cluster.send('GET', definition)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  test('server-side apply of what exists, and of a status', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', { size: 4 }));
    const forced = await cluster.apply(`${path}/a`, 'two', widget('a', { size: 5 }), '&dryRun=All&force=true');
    expect([forced.code, forced.body.spec.size]).toEqual([200, 5]);
    expect((await cluster.apply(`${path}/a`, 'two', widget('a', { size: 5 }), '&dryRun=All')).code).toBe(409);
    const status = { ...widget('a'), spec: undefined, status: { phase: 'up' } };
    expect((await cluster.apply(`${path}/a/status`, 'two', status, '&dryRun=All')).body.status.phase).toBe('up');
    const { body } = await cluster.send('GET', `${path}/a`);
    expect([body.spec.size, body.status.phase, body.metadata.managedFields.length]).toEqual([4, undefined, 1]);
  });

  test('a generated name', async () => {
    const path = await cluster.fresh();
    const body = widget(undefined, {}, { metadata: { generateName: 'g-' } });
    const answer = await cluster.send('POST', `${path}?dryRun=All`, body);
    expect([answer.code, answer.body.metadata.name]).toEqual([201, expect.stringMatching(/^g-[a-z0-9]{5}$/)]);
  });
});

describe('options of a write', () => {
  const apply = 'application/apply-patch+yaml';
  const merge = 'application/merge-patch+json';
  const refused = [
    [`fieldManager=${'x'.repeat(129)}`, apply, 'fieldManager: Too long: may not be more than 128 bytes'],
    ['force=true', merge, 'force: Forbidden: may not be specified for non-apply patch'],
    ['dryRun=x', merge, 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
  ] as const;
  test.each(refused)('refuses %s', async (query, type, cause) => {
    const answer = await cluster.send('PATCH', `${await one()}/a?${query}`, widget('a'), type);
    expect([answer.code, causes(answer)]).toEqual([422, [cause]]);
  });
});

describe('options of a list', () => {
  const refused = [
    ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [
      'watch=true&resourceVersionMatch=NotOlderThan',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
    [
      'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact',
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
  ] as const;
  test.each(refused)('refuses %s', async (query, ...wanted) => {
    const answer = await cluster.send('GET', `${await cluster.fresh()}?${query}`);
    expect([answer.code, causes(answer)]).toEqual([422, wanted]);
  });

  const noNumber = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax';
  const versions = [
    ['a list', '', 400, `invalid resource version: ${noNumber}`],
    ['a watch', '?watch=true', 500, noNumber],
    ['an object', '/a', 500, noNumber],
  ] as const;
  test.each(versions)('the version of %s is a number', async (_what, tail, code, message) => {
    const path = `${await one()}${tail}`;
    const answer = await cluster.send('GET', `${path}${path.includes('?') ? '&' : '?'}resourceVersion=x`);
    expect(answer.body).toMatchObject({ code, message });
  });

  test('a version that is yet to come, for one object', async () => {
    const answer = await cluster.send('GET', `${await one()}/a?resourceVersion=99999999`);
    expect([answer.code, answer.body.reason, causes(answer)]).toEqual([
      504,
      'Timeout',
      ['undefined: Too large resource version'],
    ]);
  });

  test('a page goes on without a version; limits count what is selected', async () => {
    const path = await cluster.fresh();
    for (const name of ['a', 'b', 'c'])
      await cluster.send('POST', path, widget(name, {}, { metadata: { labels: { l: '5' } } }));
    const selected = `${path}?limit=2&labelSelector=l`;
    const first = (await cluster.send('GET', selected)).body;
    expect([first.items.length, first.metadata.remainingItemCount]).toEqual([2, undefined]);
    const next = `${selected}&continue=${encodeURIComponent(first.metadata.continue)}`;
    expect((await cluster.send('GET', next)).body.items).toHaveLength(1);
    expect((await cluster.send('GET', `${next}&resourceVersion=5`)).body).toMatchObject({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    });
    expect((await cluster.send('GET', `${path}?limit=-1`)).body.items).toHaveLength(3);
  });

  test.each([
    ['l>4', 1],
    ['l>5', 0],
    ['l<6', 1],
    ['l<5', 0],
    ['absent>1', 0],
  ])('labels as numbers: %s', async (selector, count) => {
    const path = await one({ labels: { l: '5' } });
    const { body } = await cluster.send('GET', `${path}?labelSelector=${encodeURIComponent(selector)}`);
    expect(body.items).toHaveLength(count);
  });

  test('what was there at the start of a watch is followed by what changes', async () => {
    const path = await one();
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    let changed = false;
    const events = await watchUntil(cluster, `${path}?${query}`, (seen) => {
      if (seen.at(-1)?.type === 'BOOKMARK' && !changed) {
        changed = true;
        void cluster.merge(`${path}/a`, { spec: { size: 5 } });
      }
      return seen.length === 3;
    });
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK', 'MODIFIED']);
    expect(version(events[2]?.object)).toBeGreaterThan(version(events[1]?.object));
  });
});

describe('metadata', () => {
  const qualified = (value: string, part: string) =>
    expect.stringContaining(`Invalid value: ${JSON.stringify(value)}: ${part}`);
  const refused = [
    ['labels', { ['x'.repeat(64)]: '1' }, qualified('x'.repeat(64), 'name part must be no more than 63 bytes')],
    ['labels', { 'A_/b': '1' }, qualified('A_/b', 'prefix part a lowercase RFC 1123 subdomain must consist of')],
    ['labels', { x: 'y'.repeat(64) }, qualified('y'.repeat(64), 'must be no more than 63 bytes')],
    ['annotations', { 'x y': '1' }, qualified('x y', 'name part must consist of alphanumeric characters')],
    ['annotations', { x: 'y'.repeat(262_144) }, 'metadata.annotations: Too long: may not be more than 262144 bytes'],
    ['finalizers', ['x y'], qualified('x y', 'name part must consist of alphanumeric characters')],
    ['ownerReferences', [{ apiVersion: 'v1', kind: 'ConfigMap', uid: 'u' }], qualified('', 'must not be empty')],
    [
      'ownerReferences',
      ['x', 'y'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, controller: true })),
      expect.stringMatching(
        /Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/x and ConfigMap\/y$/,
      ),
    ],
  ] as const;
  test.each(refused)('%s: refuses %j', async (field, value, cause) => {
    const answer = await cluster.merge(`${await one()}/a`, { metadata: { [field]: value } });
    expect([answer.code, causes(answer)]).toEqual([422, expect.arrayContaining([cause])]);
  });

  test('empty maps and lists are absent', async () => {
    const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };
    const { body } = await cluster.send('POST', await cluster.fresh(), widget('a', {}, { metadata: empty }));
    for (const name of Object.keys(empty)) expect(body.metadata).not.toHaveProperty(name);
  });

  test('a finalizer that is nobody\u2019s is warned about when it is new', async () => {
    const path = await one();
    const patch = { metadata: { finalizers: ['x', 'a.b/c', 'orphan'] } };
    const advice =
      'prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers';
    const answer = await cluster.merge(`${path}/a`, patch);
    expect(answer.warnings).toBe(`299 - ${JSON.stringify(`metadata.finalizers: "x": ${advice}`)}`);
    expect((await cluster.merge(`${path}/a`, { spec: { size: 5 } })).warnings).toBe('');
  });

  test('a long generateName is cut', async () => {
    const path = await cluster.fresh(paths.widgets);
    const generateName = 'g'.repeat(250);
    const { body } = await cluster.send('POST', path, widget(undefined, {}, { metadata: { generateName } }));
    expect([body.metadata.name.length, body.metadata.generateName]).toEqual([63, generateName]);
  });
});
