import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';

let cluster: Cluster;
let path: string;
beforeAll(async () => {
  cluster = await startCluster();
  path = await cluster.fresh();
});
afterAll(() => cluster.stop());

const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

describe('accepted', () => {
  const accepted = [
    [
      'a null in a field that is not nullable counts as absent',
      { code: null, size: null, tags: null, fixed: null, labels: { a: '1', b: null } },
      { size: 3, labels: { a: '1' } },
    ],
    ['a null in a nullable field stays', { note: null }, { note: null }],
    [
      'defaults in list items',
      { parts: [{ name: 'x' }, { name: 'y', mode: 'm' }] },
      {
        parts: [
          { name: 'x', mode: 'auto' },
          { name: 'y', mode: 'm' },
        ],
      },
    ],
    ['integers or strings', { port: 'http' }, { port: 'http' }],
    [
      'unknown fields where they are preserved',
      { note: 'n', free: { known: 1, x: { y: [1] } } },
      { free: { known: 1, x: { y: [1] } } },
    ],
    ['lengths count characters, not bytes', { note: 'éééééééééé' }, { note: 'éééééééééé' }],
    ['atomic lists may repeat', { atoms: ['a', 'a'] }, { atoms: ['a', 'a'] }],
    ['whole numbers with a fraction', { size: 1.0 }, { size: 1 }],
    ['date-times', { when: '2026-01-01T00:00:00.5+02:00' }, { when: '2026-01-01T00:00:00.5+02:00' }],
  ] as const;
  test.each(accepted)('%s', async (_what, spec, wanted) => {
    const { code, body } = await cluster.send('POST', `${path}?dryRun=All`, widget('a', spec));
    expect(code).toBe(201);
    expect(body.spec).toMatchObject(wanted);
    const nulls = Object.entries(spec).filter(([key, value]) => value === null && !(key in wanted));
    for (const [key] of nulls) expect(body.spec).not.toHaveProperty(key);
  });

  test('unknown fields are pruned, with a warning for each', async () => {
    const body = widget('a', { foo: 1, parts: [{ name: 'x', zz: 1 }] }, { metadata: { bogus: 1 } });
    const answer = await cluster.send('POST', `${path}?dryRun=All`, body);
    expect([answer.code, answer.body.spec.foo, answer.body.spec.parts]).toEqual([
      201,
      undefined,
      [{ name: 'x', mode: 'auto' }],
    ]);
    for (const field of ['metadata.bogus', 'spec.foo', 'spec.parts[0].zz']) {
      expect(answer.warnings).toContain(`299 - "unknown field \\"${field}\\""`);
    }
    const silent = await cluster.send('POST', `${path}?dryRun=All&fieldValidation=Ignore`, body);
    expect([silent.code, silent.warnings]).toEqual([201, '']);
  });
});

describe('refused', () => {
  const single = [
    [
      'enum',
      { color: 'pink' },
      'spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"',
      true,
    ],
    [
      'minimum',
      { size: 0 },
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      false,
    ],
    [
      'maximum',
      { size: 300 },
      'spec.size: Invalid value: 300: spec.size in body should be less than or equal to 100',
      false,
    ],
    [
      'exclusive minimum',
      { ratio: -0.5 },
      'spec.ratio: Invalid value: -0.5: spec.ratio in body should be greater than 0',
      false,
    ],
    [
      'multiple',
      { ratio: 0.3 },
      'spec.ratio: Invalid value: 0.3: spec.ratio in body should be a multiple of 0.5',
      false,
    ],
    ['longest', { note: '12345678901' }, 'spec.note: Too long: may not be more than 10 bytes', true],
    [
      'shortest, in characters',
      { code: 'é' },
      'spec.code: Invalid value: "é": spec.code in body should be at least 2 chars long',
      false,
    ],
    ['pattern', { code: 'AB' }, 'spec.code: Invalid value: "AB": spec.code in body should match \'^[a-z]+$\'', false],
    [
      'type',
      { size: 'x' },
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      true,
    ],
    [
      'type of a list',
      { parts: {} },
      'spec.parts: Invalid value: "object": spec.parts in body must be of type array: "object"',
      true,
    ],
    [
      'type of an item',
      { tags: ['a', 1] },
      'spec.tags[1]: Invalid value: "integer": spec.tags[1] in body must be of type string: "integer"',
      true,
    ],
    [
      'null item',
      { tags: [null] },
      'spec.tags[0]: Invalid value: "null": spec.tags[0] in body must be of type string: "null"',
      true,
    ],
    [
      'integer or string',
      { port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
      true,
    ],
    [
      'format',
      { when: '2026-01-01' },
      'spec.when: Invalid value: "2026-01-01": spec.when in body must be of type date-time: "2026-01-01"',
      true,
    ],
    ['items', { tags: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'spec.tags: Too many: 6: must have at most 5 items', true],
    [
      'properties',
      { labels: { a: '1', b: '2', c: '3', d: '4' } },
      'spec.labels: Too many: 4: must have at most 3 items',
      true,
    ],
    ['required in an item', { parts: [{ value: 1 }] }, 'spec.parts[0].name: Required value', true],
    ['twice in a set', { tags: ['a', 'a'] }, 'spec.tags[1]: Duplicate value: "a"', false],
    [
      'twice in a keyed list',
      { parts: [{ name: 'x' }, { name: 'x' }] },
      'spec.parts[1]: Duplicate value: {"name":"x"}',
      false,
    ],
    ['CEL: bytes, not characters', { blob: 'ééééé' }, 'spec.blob: Invalid value: "ééééé": at most 8 bytes', false],
    [
      'CEL: reason, fieldPath and messageExpression',
      { min: 3, max: 1 },
      'spec.min: Forbidden: max is too small',
      false,
    ],
    ['CEL: another branch of the messageExpression', { min: 7, max: 6 }, 'spec.min: Forbidden: min is too big', false],
    [
      'CEL: without a message',
      { free: {} },
      'spec: Invalid value: failed rule: !has(self.free) || has(self.note)',
      false,
    ],
  ] as const;
  test.each(single)('%s', async (_what, spec, cause, blocks) => {
    const answer = await cluster.send('POST', path, widget('a', spec));
    expect([answer.code, answer.body.reason, answer.body.details.kind]).toEqual([422, 'Invalid', 'Widget']);
    expect(causes(answer)).toEqual(blocks ? [unchecked, cause].sort() : [cause]);
  });

  test('a missing field, and all of spec', async () => {
    const without = (spec: unknown) => ({ ...widget('a'), spec });
    expect(causes(await cluster.send('POST', path, without({})))).toEqual([unchecked, 'spec.color: Required value']);
    for (const spec of [undefined, null]) {
      expect(causes(await cluster.send('POST', path, without(spec)))).toEqual([unchecked, 'spec: Required value']);
    }
  });

  test('one error is not listed in brackets, several are', async () => {
    const one = await cluster.send('POST', path, widget('a', { size: 0 }));
    expect(one.body.message).toBe(
      'Widget.test.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    );
    const two = await cluster.send('POST', path, widget('a', { size: 0, code: 'AB' }));
    expect(two.body.message).toMatch(/^Widget\.test\.example\.com "a" is invalid: \[spec\..*, spec\..*\]$/);
  });

  test('an immutable field, by a transition rule; everything else may change', async () => {
    await cluster.send('POST', path, widget('immutable'));
    const changed = await cluster.merge(`${path}/immutable`, { spec: { color: 'green' } });
    expect(causes(changed)).toEqual(['spec.color: Invalid value: "green": color is immutable']);
    expect((await cluster.merge(`${path}/immutable`, { spec: { size: 9 } })).code).toBe(200);
  });

  test('unknown fields when validation is strict', async () => {
    const strict = await cluster.send(
      'POST',
      `${path}?fieldValidation=Strict`,
      widget('a', { foo: 1, parts: [{ name: 'x', zz: 1 }] }),
    );
    expect(strict.body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo", unknown field "spec.parts[0].zz"',
    });
    const maps = paths.configmaps.replace('*', path.split('/')[5] ?? '');
    const builtin = await cluster.send('POST', `${maps}?fieldValidation=Strict`, {
      ...configMap('a', {}, { foo: 1 }),
      x: 1,
    });
    expect(builtin.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.foo", unknown field "x"',
    );
    await cluster.send('POST', path, widget('patched'));
    const patch = await cluster.send(
      'PATCH',
      `${path}/patched?fieldValidation=Strict`,
      { spec: { foo: 1 } },
      'application/merge-patch+json',
    );
    expect([patch.code, patch.body.details.causes[0].field]).toEqual([422, 'patch']);
    expect(patch.body.message).toMatch(/strict decoding error: unknown field "spec\.foo"$/);
  });

  const options = [
    ['dryRun=x', 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    ['fieldValidation=x', 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
  ] as const;
  test.each(options)('%s', async (query, cause) => {
    expect(causes(await cluster.send('POST', `${path}?${query}`, widget('a')))).toEqual([cause]);
  });
});
