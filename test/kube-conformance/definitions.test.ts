import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { type Answer, type Body, type Cluster, causes, startCluster, watchUntil, widget } from './cluster.ts';
import { widgetCrd } from './widget-crd.ts';

let cluster: Cluster;
let path: string;
beforeAll(async () => {
  cluster = await startCluster();
  path = await cluster.fresh();
});
afterAll(() => cluster.stop());

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const [widgetVersion] = widgetCrd.spec.versions;

/** A definition of another kind, like that of widgets but for what is given. */
const definition = (kind: string, spec: object = {}, version: object = {}) => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    ...widgetCrd,
    metadata: { name: `${plural}.test.example.com` },
    spec: {
      ...widgetCrd.spec,
      names: { kind, plural },
      versions: [{ ...widgetVersion, ...version }],
      ...spec,
    },
  };
};

/** Creates a definition and waits until its objects can be listed; the path of the definition and that of its objects. */
async function define(crd: ReturnType<typeof definition>): Promise<readonly [one: string, objects: string]> {
  expect((await cluster.send('POST', definitions, crd)).code).toBe(201);
  const objects = path.replace('widgets', crd.spec.names.plural);
  await until('it to be served', async () => (await cluster.send('GET', objects)).code === 200);
  return [`${definitions}/${crd.metadata.name}`, objects];
}

const made = (kind: string, name: string, spec: object = {}, more: object = {}) => ({
  ...widget(name, spec, more),
  kind,
});

describe('a definition', () => {
  const refused = [
    ['scope', { scope: 'X' }, {}, 'spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"'],
    [
      'no storage version',
      {},
      { storage: false },
      /^spec\.versions: .*must have exactly one version marked as storage/,
    ],
    ['no versions', { versions: [] }, {}, /^spec\.versions: .*must have exactly one version marked as storage version/],
    ['no group', { group: undefined }, {}, 'spec.group: Required value'],
    ['no names', { names: {} }, {}, 'spec.names.kind: Required value'],
  ] as const;
  test.each(refused)('is refused for its %s', async (_what, spec, version, cause) => {
    const answer = await cluster.send('POST', definitions, definition('Bad', spec, version));
    expect([answer.code, causes(answer)]).toEqual([
      422,
      expect.arrayContaining([typeof cause === 'string' ? cause : expect.stringMatching(cause)]),
    ]);
  });

  test('keeps its group, scope and names', async () => {
    const [one] = await define(definition('Fixed'));
    await until('it to be established', async () => isTrue(await cluster.send('GET', one), 'Established'));
    const changes = [
      [{ group: 'x.example.com' }, 'spec.group: Invalid value: "x.example.com": field is immutable'],
      [{ scope: 'Cluster' }, 'spec.scope: Invalid value: "Cluster": field is immutable'],
      [{ names: { kind: 'Other' } }, 'spec.names.kind: Invalid value: "Other": field is immutable'],
      [{ names: { plural: 'others' } }, 'spec.names.plural: Invalid value: "others": field is immutable'],
    ] as const;
    for (const [spec, cause] of changes) expect(causes(await cluster.merge(one, { spec }))).toContain(cause);
  });

  test('has no conditions until it was looked at', async () => {
    const { body } = await cluster.send('POST', `${definitions}?dryRun=All`, definition('Young'));
    expect(body.status).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] });
  });

  test('that is being deleted says so, and nothing is created meanwhile', async () => {
    const [one, objects] = await define(definition('Term'));
    await cluster.send('POST', objects, made('Term', 'held', {}, { metadata: { finalizers: ['a.b/c'] } }));
    await cluster.send('DELETE', one);
    await until('the object to be marked', async () => isMarked(await cluster.send('GET', `${objects}/held`)));
    const late = await cluster.send('POST', objects, made('Term', 'late'));
    expect(late.body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'terms.test.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    });
    expect((await cluster.apply(`${objects}/late`, 'one', made('Term', 'late'))).body.reason).toBe('Forbidden');
    expect((await cluster.merge(`${objects}/held`, { spec: { size: 9 } })).code).toBe(200);
    expect(isTrue(await cluster.send('GET', one), 'Terminating')).toBe(true);
    await cluster.merge(`${objects}/held`, { metadata: { finalizers: null } });
    await until('the definition to be gone', async () => (await cluster.send('GET', one)).code === 404, 25_000);
  });

  test('takes its objects with it, one event each', async () => {
    const [one, objects] = await define(definition('Watched'));
    const { metadata } = (await cluster.send('POST', objects, made('Watched', 'a'))).body;
    const query = `watch=true&timeoutSeconds=20&resourceVersion=${metadata.resourceVersion}`;
    const watched = watchUntil(cluster, `${objects}?${query}`, () => true);
    await cluster.send('DELETE', one);
    expect((await watched).map(({ type, object }) => [type, object.metadata.name])).toEqual([['DELETED', 'a']]);
  });

  test('that is deleted ends its watches', async () => {
    const [one, objects] = await define(definition('Seen'));
    const { metadata } = (await cluster.send('GET', objects)).body;
    const query = `watch=true&timeoutSeconds=60&resourceVersion=${metadata.resourceVersion}`;
    const watched = watchUntil(cluster, `${objects}?${query}`, () => false);
    await cluster.send('DELETE', one);
    expect(await watched).toEqual([]);
  }, 20_000);

  test('that changed shows what is stored by its new schema, without a write', async () => {
    const [one, objects] = await define(definition('Reread'));
    const before = (await cluster.send('POST', objects, made('Reread', 'a', { note: 'n', code: 'ab' }))).body;
    const properties = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';
    const operations = [
      { op: 'add', path: `${properties}/extra`, value: { type: 'string', default: 'new' } },
      { op: 'remove', path: `${properties}/code` },
    ];
    expect((await cluster.send('PATCH', one, operations, 'application/json-patch+json')).code).toBe(200);
    const after = await until('the default to be shown', async () => {
      const { body } = await cluster.send('GET', `${objects}/a`);
      return body.spec?.extra === 'new' && body;
    });
    const { code: _gone, ...kept } = before.spec;
    expect(after.spec).toEqual({ ...kept, extra: 'new' });
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    // What a real server lists comes from another cache, which is built anew.
    const listed = await until('the list', async () => (await cluster.send('GET', objects)).body.items);
    expect(listed[0].spec).toEqual(after.spec);
  });

  test('of several versions shows each object in all of them', async () => {
    const second = { ...widgetVersion, name: 'v2', storage: false };
    const [one, first] = await define(definition('Many', { versions: [widgetVersion, second] }));
    const other = first.replace('/v1/', '/v2/');
    await until('the second to be served', async () => (await cluster.send('GET', other)).code === 200);
    await cluster.send('POST', other, { ...made('Many', 'a'), apiVersion: 'test.example.com/v2' });
    const shown = [await cluster.send('GET', `${first}/a`), await cluster.send('GET', `${other}/a`)];
    expect(shown.map(({ body }) => body.apiVersion)).toEqual(['test.example.com/v1', 'test.example.com/v2']);
    const stop = [{ op: 'replace', path: '/spec/versions/1/served', value: false }];
    await cluster.send('PATCH', one, stop, 'application/json-patch+json');
    await until('the second to be gone', async () => (await cluster.send('GET', other)).code === 404);
    expect((await cluster.send('GET', `${first}/a`)).code).toBe(200);
  });

  test.each([
    ['Old', {}, 'test.example.com/v1 Old is deprecated'],
    ['Older', { deprecationWarning: 'gone soon' }, 'gone soon'],
  ])('warns that %s is deprecated, with every answer', async (kind, more, text) => {
    const [, objects] = await define(definition(kind, {}, { deprecated: true, ...more }));
    const answers = [
      await cluster.send('POST', objects, made(kind, 'a')),
      await cluster.send('GET', `${objects}/a`),
      await cluster.send('GET', objects),
      await cluster.send('DELETE', `${objects}/a`),
    ];
    expect(answers.map(({ warnings }) => warnings)).toEqual(answers.map(() => `299 - ${JSON.stringify(text)}`));
  });
});

const isMarked = ({ body }: Answer): boolean => body.metadata?.deletionTimestamp !== undefined;

const isTrue = ({ body }: Answer, wanted: string): boolean =>
  body.status?.conditions?.some(({ type, status }: Body) => type === wanted && status === 'True') === true;

describe('rules', () => {
  const text = (rule: object) => ({ type: 'string', maxLength: 50, 'x-kubernetes-validations': [rule] });
  const numbers = (rule: object) => ({
    type: 'array',
    maxItems: 5,
    items: { type: 'integer' },
    'x-kubernetes-validations': [rule],
  });
  const properties = {
    grows: {
      type: 'integer',
      'x-kubernetes-validations': [
        { rule: 'self >= oldSelf.orValue(0)', optionalOldSelf: true, message: 'never smaller' },
      ],
    },
    items: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 10 },
          value: {
            type: 'integer',
            'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'items are immutable' }],
          },
        },
      },
    },
    lower: text({
      rule: "self.startsWith('a') && self.matches('^[a-z]+$') && self.lowerAscii() == self && !self.contains('zz')",
      message: 'not in order',
    }),
    address: text({ rule: 'isIP(self) || isURL(self)', message: 'neither' }),
    later: {
      ...text({ rule: "self > timestamp('2020-01-01T00:00:00Z')", message: 'too early' }),
      format: 'date-time',
    },
    keyed: {
      type: 'object',
      maxProperties: 3,
      additionalProperties: { type: 'string', maxLength: 9 },
      'x-kubernetes-validations': [{ rule: "self.all(k, k.startsWith('x') && self[k] != '')", message: 'no x' }],
    },
    sorted: numbers({ rule: 'self.sum() < 10 && self.isSorted() && self.exists_one(x, x == 1)', message: 'no sum' }),
  };
  const ruled = () => {
    const schema = widgetVersion?.schema.openAPIV3Schema;
    const spec = schema?.properties.spec;
    const rules = [
      { rule: "self.metadata.name != 'forbidden'", message: 'not this name' },
      {
        rule: "!has(self.status) || !has(self.status.phase) || self.status.phase != 'bad'",
        message: 'not this phase',
        fieldPath: '.status.phase',
      },
    ];
    return definition(
      'Ruled',
      {},
      {
        schema: {
          openAPIV3Schema: {
            ...schema,
            'x-kubernetes-validations': rules,
            properties: {
              ...schema?.properties,
              spec: { ...spec, properties: { ...spec?.properties, ...properties } },
            },
          },
        },
      },
    );
  };

  let objects: string;
  beforeAll(async () => {
    [, objects] = await define(ruled());
    const items = [
      { name: 'x', value: 1 },
      { name: 'y', value: 2 },
    ];
    await cluster.send('POST', objects, made('Ruled', 'a', { grows: 5, items }));
  });

  const values = [
    ['lower', 'abc', 'Abc', 'spec.lower: Invalid value: "Abc": not in order'],
    ['address', '1.2.3.4', 'x', 'spec.address: Invalid value: "x": neither'],
    ['address', 'http://x', '01.2.3.4', 'spec.address: Invalid value: "01.2.3.4": neither'],
    [
      'later',
      '2021-01-01T00:00:00Z',
      '2019-01-01T00:00:00Z',
      'spec.later: Invalid value: "2019-01-01T00:00:00Z": too early',
    ],
    ['keyed', { xa: '1' }, { a: '1' }, 'spec.keyed: Invalid value: no x'],
    ['sorted', [1, 2], [2, 1], 'spec.sorted: Invalid value: no sum'],
    ['sorted', [1], [1, 9], 'spec.sorted: Invalid value: no sum'],
  ] as const;
  test.each(values)('%s: %j, not %j', async (field, right, wrong, cause) => {
    const post = (value: unknown) =>
      cluster.send('POST', `${objects}?dryRun=All`, made('Ruled', 'b', { [field]: value }));
    expect((await post(right)).code).toBe(201);
    expect(causes(await post(wrong))).toEqual([cause]);
  });

  test('see the old value where there is one', async () => {
    const patch = (spec: object) => cluster.merge(`${objects}/a?dryRun=All`, { spec });
    expect(causes(await patch({ grows: 4 }))).toEqual(['spec.grows: Invalid value: 4: never smaller']);
    expect((await patch({ grows: 6 })).code).toBe(200);
  });

  test('see the old item of the same key', async () => {
    const patch = (items: object) => cluster.merge(`${objects}/a?dryRun=All`, { spec: { items } });
    const [x, y, z] = [
      { name: 'x', value: 1 },
      { name: 'y', value: 2 },
      { name: 'z', value: 3 },
    ];
    expect((await patch([z, y, x])).code).toBe(200);
    expect(causes(await patch([y, { ...x, value: 9 }]))).toEqual([
      'spec.items[1].value: Invalid value: 9: items are immutable',
    ]);
  });

  test('of the whole object see its name and its status', async () => {
    const named = await cluster.send('POST', objects, made('Ruled', 'forbidden'));
    expect(causes(named)).toEqual(['<nil>: Invalid value: not this name']);
    const status = await cluster.merge(`${objects}/a/status`, { status: { phase: 'bad' } });
    expect(causes(status)).toEqual(['status.phase: Invalid value: not this phase']);
  });
});

describe('definitions', () => {
  const gizmoCrd = {
    ...widgetCrd,
    metadata: { name: 'gizmos.test.example.com' },
    spec: { ...widgetCrd.spec, names: { kind: 'Gizmo', plural: 'gizmos' } },
  };
  const gizmos = '/apis/test.example.com/v1/namespaces/default/gizmos';

  test('are established, served, changed, and deleted with their objects once finalizers allow', async () => {
    const { code, body } = await cluster.send('POST', definitions, gizmoCrd);
    expect([code, body.spec.names, body.spec.conversion]).toEqual([
      201,
      { kind: 'Gizmo', plural: 'gizmos', singular: 'gizmo', listKind: 'GizmoList' },
      { strategy: 'None' },
    ]);
    const one = `${definitions}/gizmos.test.example.com`;
    const established = await until('the definition to be established', async () => {
      const { conditions } = (await cluster.send('GET', one)).body.status ?? {};
      return conditions?.find(({ type, status }: Body) => type === 'Established' && status === 'True');
    });
    expect(established.reason).toBe('InitialNamesAccepted');
    const gizmo = { ...widget('a', {}, { metadata: { finalizers: ['a.b/c'] } }), kind: 'Gizmo' };
    await until('gizmos to be served', async () => (await cluster.send('POST', gizmos, gizmo)).code === 201);
    await cluster.send('DELETE', one);
    await until(
      'the object to be marked',
      async () => (await cluster.send('GET', `${gizmos}/a`)).body.metadata?.deletionTimestamp,
    );
    const held = (await cluster.send('GET', one)).body.metadata;
    expect(held.finalizers).toContain('customresourcecleanup.apiextensions.k8s.io');
    await cluster.merge(`${gizmos}/a`, { metadata: { finalizers: null } });
    await until('the definition to be gone', async () => (await cluster.send('GET', one)).code === 404, 25_000);
    await until('gizmos to be gone', async () => (await cluster.send('GET', gizmos)).code === 404);
  });

  test('can be changed: new fields are served, and nothing is lost', async () => {
    await cluster.send('POST', path, widget('kept', { note: 'n' }));
    const one = `${definitions}/widgets.test.example.com`;
    const field = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/extra';
    const operations = [{ op: 'add', path: field, value: { type: 'string', default: 'new' } }];
    const { code, body } = await cluster.send('PATCH', one, operations, 'application/json-patch+json');
    expect([code, body.metadata.generation]).toEqual([200, 2]);
    const wanted = { note: 'n', extra: 'mine' };
    const changed = await until('the new field to be kept', async () => {
      const answer = await cluster.merge(`${path}/kept`, { spec: { extra: 'mine' } });
      return answer.body.spec.extra === 'mine' && answer;
    });
    expect(changed.body.spec).toMatchObject(wanted);
    const rule = '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations';
    const broken = [{ op: 'add', path: rule, value: [{ rule: 'self ==' }] }];
    expect((await cluster.send('PATCH', one, broken, 'application/json-patch+json')).code).toBe(422);
  });

  test('without rules say nothing of rules that were not checked', async () => {
    const [version] = gizmoCrd.spec.versions;
    const spec = { type: 'object', properties: { color: { type: 'string', enum: ['red'] } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const versions = [{ ...version, schema, selectableFields: [] }];
    const names = { kind: 'Plain', plural: 'plains' };
    const metadata = { name: 'plains.test.example.com' };
    await cluster.send('POST', definitions, { ...gizmoCrd, metadata, spec: { ...gizmoCrd.spec, names, versions } });
    const plains = '/apis/test.example.com/v1/namespaces/default/plains';
    await until('plains to be served', async () => (await cluster.send('GET', plains)).code === 200);
    const answer = await cluster.send('POST', plains, { ...widget('a', { color: 'pink' }), kind: 'Plain' });
    expect(causes(answer)).toEqual(['spec.color: Unsupported value: "pink": supported values: "red"']);
  });

  test('are refused under a wrong name and without a schema', async () => {
    const wrongName = { ...gizmoCrd, metadata: { name: 'other.test.example.com' } };
    expect((await cluster.send('POST', definitions, wrongName)).body).toMatchObject({ code: 422, reason: 'Invalid' });
    const [version] = gizmoCrd.spec.versions;
    const bare = { ...gizmoCrd, spec: { ...gizmoCrd.spec, versions: [{ ...version, schema: undefined }] } };
    expect(causes(await cluster.send('POST', definitions, bare))).toContainEqual(
      expect.stringContaining('schema.openAPIV3Schema: Required value'),
    );
  });
});
