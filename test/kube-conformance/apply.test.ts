import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** `manager operation`: fields, for each entry. */
function owners({ body }: Answer): Record<string, unknown> {
  const entries: readonly { manager: string; operation: string; subresource?: string; fieldsV1: unknown }[] =
    body.metadata.managedFields;
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, subresource].filter(Boolean).join(' '),
      fieldsV1,
    ]),
  );
}

const full = {
  size: 4,
  tags: ['a'],
  parts: [{ name: 'x', value: 1 }],
  labels: { k: 'v' },
  fixed: { a: '1' },
  atoms: ['p'],
  note: 'n',
  free: { z: { y: [1] } },
};
const labelled = { metadata: { labels: { l: '1' } } };

describe('server-side apply', () => {
  test('creates, and owns what it set: not defaults, not identity', async () => {
    const path = await cluster.fresh();
    const created = await cluster.apply(`${path}/a`, 'one', widget('a', full, labelled));
    expect(created.code).toBe(201);
    expect(owners(created)).toEqual({
      'one Apply': {
        'f:metadata': { 'f:labels': { 'f:l': {} } },
        'f:spec': {
          'f:atoms': {},
          'f:color': {},
          'f:fixed': {},
          'f:free': { 'f:z': { '.': {}, 'f:y': {} } },
          'f:labels': { 'f:k': {} },
          'f:note': {},
          'f:parts': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
          'f:size': {},
          'f:tags': { 'v:"a"': {} },
        },
      },
    });
  });

  test('null is no value, but where there is a default or the field is nullable', async () => {
    const path = await cluster.fresh();
    const created = await cluster.apply(`${path}/a`, 'one', widget('a', { note: null, size: null }));
    expect(created.body.spec).toMatchObject({ note: null, size: 3 });
    const refused = await cluster.apply(`${path}/a`, 'one', widget('a', { code: null }));
    expect(refused.code).toBe(422);
    expect(causes(refused)).toContain(
      'spec.code: Invalid value: "null": spec.code in body must be of type string: "null"',
    );
    const posted = await cluster.send('POST', path, widget('b', { code: null }));
    expect(posted.body.spec).not.toHaveProperty('code');
  });

  test('again with the same is no write', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', full));
    const changed = await cluster.apply(`${path}/a`, 'one', widget('a', { ...full, size: 5 }));
    const again = await cluster.apply(`${path}/a`, 'one', widget('a', { ...full, size: 5 }));
    expect([again.code, again.body.metadata.resourceVersion]).toEqual([200, changed.body.metadata.resourceVersion]);
  });

  test('conflicts with another value of another manager, and names every field', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', full));
    const other = { size: 5, tags: ['b'], fixed: { b: '2' }, parts: [{ name: 'x', value: 2 }, { name: 'y' }] };
    const answer = await cluster.apply(`${path}/a`, 'two', widget('a', other));
    expect([answer.code, answer.body.reason]).toEqual([409, 'Conflict']);
    expect(answer.body.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.fixed\n- .spec.size\n- .spec.parts[name="x"].value',
    );
    expect(causes(answer)).toEqual([
      '.spec.fixed: conflict with "one"',
      '.spec.parts[name="x"].value: conflict with "one"',
      '.spec.size: conflict with "one"',
    ]);
  });

  test('names the version of a manager that updated', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a', { size: 4 }));
    const { body } = await cluster.apply(`${path}/a`, 'two', widget('a', { size: 5 }));
    expect(body.message).toBe(
      'Apply failed with 1 conflict: conflict with "suite" using test.example.com/v1: .spec.size',
    );
  });

  test('shares fields of the same value, and merges maps, sets and keyed lists', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', full));
    const mine = { tags: ['b'], parts: [{ name: 'y' }], labels: { j: 'w' } };
    const { body } = await cluster.apply(`${path}/a`, 'two', widget('a', mine));
    expect([body.spec.tags, body.spec.labels, body.spec.parts]).toEqual([
      ['a', 'b'],
      { k: 'v', j: 'w' },
      [
        { name: 'x', value: 1, mode: 'auto' },
        { name: 'y', mode: 'auto' },
      ],
    ]);
  });

  test('force takes fields over', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', { size: 4, note: 'n' }));
    const taken = await cluster.apply(`${path}/a`, 'two', widget('a', { size: 5 }), '&force=true');
    expect(taken.body.spec.size).toBe(5);
    expect(owners(taken)).toEqual({
      'one Apply': { 'f:spec': { 'f:color': {}, 'f:note': {} } },
      'two Apply': { 'f:spec': { 'f:color': {}, 'f:size': {} } },
    });
  });

  test('removes what it no longer sets unless another manager owns it', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', full, labelled));
    await cluster.apply(`${path}/a`, 'two', widget('a', { tags: ['b'], size: 4 }));
    const left = await cluster.apply(`${path}/a`, 'one', widget('a'));
    expect(left.body.spec).toEqual({ color: 'red', size: 4, active: true, tags: ['b'] });
    expect(left.body.metadata.labels).toBeUndefined();
  });

  test('makes null of what it leaves nothing in', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', { note: 'n', labels: { k: 'v' }, free: { z: { y: 1 } } }));
    const refused = await cluster.apply(`${path}/a`, 'one', widget('a', { labels: {} }));
    expect(causes(refused)).toContain(
      'spec.labels: Invalid value: "null": spec.labels in body must be of type object: "null"',
    );
    const left = await cluster.apply(`${path}/a`, 'one', widget('a', { note: 'n', free: { z: {} } }));
    expect(left.body.spec.free).toEqual({ z: null });
  });

  test('owns an empty map and an atomic list, but no list that merges', async () => {
    const path = await cluster.fresh();
    const empty = { tags: [], parts: [], atoms: [], labels: {}, fixed: {} };
    const created = await cluster.apply(`${path}/a`, 'one', widget('a', empty));
    expect(created.body.spec).toMatchObject(empty);
    expect(owners(created)).toEqual({
      'one Apply': { 'f:spec': { 'f:atoms': {}, 'f:color': {}, 'f:fixed': {}, 'f:labels': {} } },
    });
    await cluster.apply(`${path}/b`, 'one', widget('b', full));
    const emptied = await cluster.apply(`${path}/b`, 'one', widget('b', { ...empty, labels: { k: 'v' } }));
    expect(emptied.body.spec).toEqual({
      color: 'red',
      size: 3,
      active: true,
      atoms: [],
      fixed: {},
      labels: { k: 'v' },
    });
  });

  test('lets kubectl take over what it applied from the client side, unless that was changed since', async () => {
    const path = await cluster.fresh();
    const applied = JSON.stringify(widget('a', { size: 4, note: 'n' }));
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied };
    await cluster.send('POST', path, widget('a', { size: 4, note: 'n' }, { metadata: { annotations } }));
    await cluster.merge(`${path}/a?fieldManager=other`, { spec: { size: 9 } });
    const wanted = widget('a', { size: 5, note: 'm' });
    const mine = await cluster.apply(`${path}/a`, 'kubectl', wanted);
    expect(causes(mine)).toEqual(['.spec.size: conflict with "other" using test.example.com/v1']);
    const foreign = await cluster.apply(`${path}/a`, 'one', wanted);
    expect(causes(foreign)).toEqual([
      '.spec.note: conflict with "suite" using test.example.com/v1',
      '.spec.size: conflict with "other" using test.example.com/v1',
    ]);
    const taken = await cluster.apply(`${path}/a`, 'kubectl', widget('a', { note: 'm' }));
    expect([taken.code, taken.body.spec.note]).toEqual([200, 'm']);
  });

  test('an update takes fields from appliers, and gives up what it removes', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a', { size: 4, tags: ['a', 'b'], note: 'n' }));
    const patch = { spec: { size: 9, tags: ['b', 'c'], note: null } };
    const answer = await cluster.merge(`${path}/a?fieldManager=three`, patch);
    expect(owners(answer)).toEqual({
      'one Apply': { 'f:spec': { 'f:color': {}, 'f:tags': { 'v:"b"': {} } } },
      'three Update': { 'f:spec': { 'f:size': {}, 'f:tags': { 'v:"c"': {} } } },
    });
  });

  test('status has owners of its own', async () => {
    const path = await cluster.fresh();
    await cluster.apply(`${path}/a`, 'one', widget('a'));
    const status = { phase: 'up', conditions: [{ type: 'Ready', status: 'True' }] };
    const applied = await cluster.apply(`${path}/a/status`, 'ctl', { ...widget('a'), status });
    expect(applied.body.status).toEqual({ observedGeneration: -1, ...status });
    expect(owners(applied)).toEqual({
      'one Apply': { 'f:spec': { 'f:color': {} } },
      'ctl Apply status': {
        'f:status': {
          'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
          'f:phase': {},
        },
      },
    });
  });

  test('works on built-in types', async () => {
    const path = await cluster.fresh(paths.configmaps);
    const metadata = { finalizers: ['a.b/c'], annotations: { q: '1' } };
    const created = await cluster.apply(`${path}/a`, 'one', configMap('a', { k: 'v' }, metadata));
    expect(owners(created)).toEqual({
      'one Apply': {
        'f:data': { 'f:k': {} },
        'f:metadata': { 'f:annotations': { 'f:q': {} }, 'f:finalizers': { 'v:"a.b/c"': {} } },
      },
    });
    const { body } = await cluster.apply(`${path}/a`, 'two', configMap('a', { k: 'w' }));
    expect(body.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.k');
  });

  test('dry run stores nothing', async () => {
    const path = await cluster.fresh();
    expect((await cluster.apply(`${path}/a`, 'one', widget('a'), '&dryRun=All')).code).toBe(201);
    expect((await cluster.send('GET', `${path}/a`)).code).toBe(404);
  });

  const refused = [
    [
      'an unknown field',
      widget('a', { foo: 1 }),
      500,
      'failed to create typed patch object (/a; test.example.com/v1, Kind=Widget): .spec.foo: field not declared in schema',
    ],
    [
      'a wrong type',
      widget('a', { size: 'x' }),
      500,
      'failed to create typed patch object (/a; test.example.com/v1, Kind=Widget): .spec.size: expected numeric (int or float), got string',
    ],
    [
      'a key twice',
      widget('a', { parts: [{ name: 'x' }, { name: 'x' }] }),
      500,
      'failed to create typed patch object (/a; test.example.com/v1, Kind=Widget): .spec.parts: duplicate entries for key [name="x"]',
    ],
    [
      'managedFields',
      widget('a', {}, { metadata: { managedFields: [{ manager: 'x' }] } }),
      400,
      'metadata.managedFields must be nil',
    ],
    [
      'no name',
      widget(undefined),
      400,
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    ],
    [
      'a uid of nothing',
      widget('a', {}, { metadata: { uid: 'x' } }),
      409,
      'Operation cannot be fulfilled on widgets.test.example.com "a": uid mismatch: the provided object specified uid x, and no existing object was found',
    ],
    [
      'an invalid value',
      widget('a', { size: 0 }),
      422,
      'Widget.test.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
  ] as const;
  test.each(refused)('refuses %s', async (_what, body, code, message) => {
    const path = await cluster.fresh();
    expect((await cluster.apply(`${path}/a`, 'one', body)).body).toMatchObject({ code, message });
  });

  test('needs a field manager, and a resourceVersion is a precondition', async () => {
    const path = await cluster.fresh();
    const nobody = await cluster.send('PATCH', `${path}/a`, widget('a'), 'application/apply-patch+yaml');
    expect(causes(nobody)).toEqual(['fieldManager: Required value: is required for apply patch']);
    await cluster.apply(`${path}/a`, 'one', widget('a'));
    const stale = widget('a', {}, { metadata: { resourceVersion: '1' } });
    expect((await cluster.apply(`${path}/a`, 'one', stale)).code).toBe(409);
  });

  test('of the status of an absent object is 404', async () => {
    const path = await cluster.fresh();
    expect((await cluster.apply(`${path}/zz/status`, 'one', widget('zz'))).code).toBe(404);
  });
});

describe('ownership by ordinary writes', () => {
  test('a create owns all it set, defaults included, but no status', async () => {
    const path = await cluster.fresh();
    const created = await cluster.send('POST', path, widget('a', { parts: [{ name: 'x' }] }));
    expect(owners(created)).toEqual({
      'suite Update': {
        'f:spec': {
          '.': {},
          'f:active': {},
          'f:color': {},
          'f:parts': { '.': {}, 'k:{"name":"x"}': { '.': {}, 'f:mode': {}, 'f:name': {} } },
          'f:size': {},
        },
      },
    });
  });

  test('a reset gives all ownership up', async () => {
    const path = await cluster.fresh();
    await cluster.send('POST', path, widget('a'));
    const { body } = await cluster.merge(`${path}/a`, { metadata: { managedFields: [{}] } });
    expect(body.metadata.managedFields).toBeUndefined();
  });
});
