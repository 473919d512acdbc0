import { afterAll, describe, expect, test } from '@jest/globals';
import { createKubeApi } from '../../../../src/reference/kube-api/core.ts';
import type { ApiObject } from '../../../../src/reference/kube-api/object.ts';
import { loadCrds } from '../../../../src/reference/kube-api/types/load-crds.ts';
import { Chance } from '../../core/random.ts';
import { refusedOf } from './refused.ts';
import { type JsonMap, kinds, schemaOf } from './schemas.ts';
import { type Taste, validValue, withImmutables } from './valid.ts';

const seeds = 200;
const kube = createKubeApi({ crds: loadCrds(`${import.meta.dirname}/../../../../crds`) });
afterAll(() => kube.close());

const options = { dryRun: true, fieldManager: 'test', onUnknown: () => {}, warn: () => {} };

function typeOf(kind: string) {
  const type = kube.registry.types.find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`${kind} is not served`);
  return type;
}

const objectOf = (kind: string, spec: unknown, name = 'a') =>
  ({
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind,
    metadata: { name, namespace: 'default' },
    spec,
  }) as unknown as ApiObject;

/** 201 or the status of the refusal. */
function created(kind: string, spec: unknown): number | string {
  try {
    kube.objects.create(typeOf(kind), objectOf(kind, spec), options);
    return 201;
  } catch (error) {
    const { code, message } = error as { readonly code?: number; readonly message: string };
    return code ?? message;
  }
}

const tastes: readonly Taste[] = [
  {},
  { fields: 'all' },
  { fields: 'none' },
  { fields: 'all', values: 'most' },
  { fields: 'all', values: 'least' },
  { fields: 'none', values: 'least' },
  { fields: 'any', values: 'most' },
];

const specOf = (kind: string, seed: number): JsonMap =>
  validValue(schemaOf(kind), tastes[seed % tastes.length] ?? {}, new Chance(kind, seed)) as JsonMap;

describe.each(kinds)('%s', (kind) => {
  test('what is valid is admitted', () => {
    for (let seed = 0; seed < seeds; seed += 1) {
      const spec = specOf(kind, seed);
      expect([created(kind, spec), spec]).toEqual([201, spec]);
    }
  });

  test('what breaks one rule is refused', () => {
    const told = new Set<string>();
    for (let seed = 0; seed < seeds; seed += 1) {
      const chance = new Chance(kind, 'refused', seed);
      const taste: Taste = { fields: 'all' };
      const refused = refusedOf(schemaOf(kind), validValue(schemaOf(kind), taste, chance) as JsonMap, taste, chance);
      // Each rule once, and then by chance.
      const unheard = refused.filter(({ about }) => !told.has(about));
      for (const { about, spec } of [...unheard, chance.pick(refused)]) {
        told.add(about);
        expect([about, created(kind, spec)]).toEqual([about, 422]);
      }
    }
    expect(told.size).toBeGreaterThan(8);
  });

  test('what keeps the fields that cannot be changed is admitted as an edit', () => {
    const type = typeOf(kind);
    for (let seed = 0; seed < seeds / 4; seed += 1) {
      const before = specOf(kind, seed);
      const name = `edit-${seed}`;
      kube.objects.create(type, objectOf(kind, before, name), { ...options, dryRun: false });
      const wanted = withImmutables(schemaOf(kind), specOf(kind, seed + 1), before);
      const change = (current: ApiObject) => ({ ...current, spec: wanted }) as unknown as ApiObject;
      const edit = { ...options, subresource: undefined, change };
      expect(() => kube.objects.update(type, { namespace: 'default', name }, edit)).not.toThrow();
    }
  });
});

test('a boundary is reached: the longest text, the largest number, all fields, none', () => {
  const addr = validValue(
    schemaOf('ReservedAddr'),
    { fields: 'all', values: 'most', longest: 5_000 },
    new Chance('most'),
  );
  expect(Object.keys(addr as JsonMap)).toHaveLength(8);
  expect(addr).toMatchObject({ resyncIntervalSeconds: 2_147_483_647 });
  expect(Buffer.byteLength(String((addr as JsonMap).metadata))).toBeGreaterThan(4_090);
  expect(validValue(schemaOf('ReservedAddr'), { fields: 'none' }, new Chance('none'))).toEqual({});
});
