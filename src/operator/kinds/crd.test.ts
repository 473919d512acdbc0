import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { toCrd } from './crd.ts';
import { definitions } from './index.ts';
import { NotStructuralError, type StructuralSchema, toStructural } from './structural.ts';

const about = 'd';

describe('toStructural', () => {
  test('an optional, a default and a required field', () => {
    const schema = z.object({
      a: z.string().describe(about),
      b: z.string().default('x').describe(about),
      c: z.string().optional().describe(about),
    });
    expect(toStructural(schema, 'spec')).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'string', description: about },
        b: { type: 'string', description: about, default: 'x' },
        c: { type: 'string', description: about },
      },
    });
  });

  test('an integer says int64, or int32 where its bound does, and no bound that zod invents', () => {
    expect(toStructural(z.int().min(3), 'n')).toEqual({ type: 'integer', format: 'int64', minimum: 3 });
    expect(toStructural(z.int().max(9), 'n')).toEqual({ type: 'integer', format: 'int32', maximum: 9 });
  });

  test('an open object keeps unknown fields; a strict one needs no word, because Kubernetes prunes', () => {
    expect(toStructural(z.looseObject({}), 'o')).toMatchObject({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(toStructural(z.strictObject({}), 'o')).not.toHaveProperty('additionalProperties');
    expect(toStructural(z.record(z.string(), z.string()), 'o')).toMatchObject({
      additionalProperties: { type: 'string' },
    });
  });

  test('CEL rules pass through', () => {
    const rules = { 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'm' }] };
    expect(toStructural(z.int().meta(rules), 'n')).toMatchObject(rules);
  });

  const impossible: readonly [why: string, schema: z.ZodType, path: RegExp][] = [
    ['a union of types', z.object({ a: z.union([z.string(), z.int()]).describe(about) }), /^spec\.a: /],
    [
      'a lookaround',
      z.object({
        a: z
          .string()
          .regex(/^(?!x)/)
          .describe(about),
      }),
      /^spec\.a: .*RE2/,
    ],
    ['no description', z.object({ a: z.string() }), /^spec\.a: needs a description/],
    [
      'a constant',
      z.object({ a: z.array(z.object({ b: z.tuple([z.string()]).describe(about) })).describe(about) }),
      /^spec\.a\[\]\.b/,
    ],
  ];
  test.each(impossible)('%s is refused with the path of the field', (_why, schema, message) => {
    expect(() => toStructural(schema, 'spec')).toThrow(NotStructuralError);
    expect(() => toStructural(schema, 'spec')).toThrow(message);
  });
});

const isSetOfIds = ({ items, ...field }: StructuralSchema) =>
  field['x-kubernetes-list-type'] === 'set' && items?.enum === undefined;

describe.each(definitions.map((definition) => [definition.type.kind, toCrd(definition)] as const))(
  'the CRD of %s',
  (kind, crd) => {
    const [version] = crd.spec.versions;

    test('has what every kind has', () => {
      expect(crd.spec.names.categories).toEqual(['edge']);
      expect(crd.spec.scope).toBe('Namespaced');
      expect(version?.subresources).toEqual({ status: {} });
      expect(version?.schema.openAPIV3Schema.properties.status).toMatchObject({ default: { observedGeneration: -1 } });
    });

    test('has the fields that every kind backed by the cloud has', () => {
      // A CloudAccount is what the others refer to; nothing of its own is out there to keep, observe or delete.
      const others: Readonly<Record<string, readonly string[]>> = {
        CloudAccount: ['apiKeySecretRef'],
        Agent: ['serviceRef', 'url'],
        AgentTunnel: ['agentRef'],
        RequestReplay: ['agentRef', 'requestID'],
      };
      const managed = ['accountRef', 'deletionPolicy', 'managementPolicy', 'resyncIntervalSeconds'];
      const expected = [...(others[kind] ?? managed)];
      const fields = Object.keys(version?.schema.openAPIV3Schema.properties.spec.properties ?? {});
      expect(fields).toEqual(expect.arrayContaining(expected));
    });

    test('is selected by what it refers to and by what it made', () => {
      const paths = version?.selectableFields.map(({ jsonPath }) => jsonPath);
      const references = Object.keys(version?.schema.openAPIV3Schema.properties.spec.properties ?? {})
        .filter((field) => /^(account|agent|apiKeySecret|service)Ref$/.test(field))
        .map((field) => `.spec.${field}.name`);
      const made = 'id' in (version?.schema.openAPIV3Schema.properties.status.properties ?? {}) ? ['.status.id'] : [];
      expect(paths).toEqual(expect.arrayContaining([...references, ...made]));
    });

    test('shows what it stands for first, then READY, REASON and AGE', () => {
      const columns = version?.additionalPrinterColumns ?? [];
      expect(columns[0]?.jsonPath).toMatch(/^\.(status\.(id|apiURL|url|publicURL)|spec\.(edgeID|requestID))$/);
      expect(columns.slice(-4).map(({ name, priority }) => [name, priority])).toEqual([
        ['READY', undefined],
        ['REASON', undefined],
        ['AGE', undefined],
        ['MESSAGE', 1],
      ]);
    });

    test('has atomic parts where all fields may be left out, with no defaults inside', () => {
      const parts = Object.entries(version?.schema.openAPIV3Schema.properties.spec.properties ?? {});
      const wrong = parts.filter(([, { type, properties, required, ...part }]) => {
        if (type !== 'object' || required !== undefined || 'x-kubernetes-validations' in part) return false;
        const fields = Object.values(properties ?? {});
        // A set would be none inside, and docs/gitops.md says what becomes of one that is emptied.
        if (part['x-kubernetes-map-type'] !== 'atomic') return !fields.some((field) => isSetOfIds(field));
        return fields.some((field) => 'default' in field);
      });
      expect(wrong.map(([name]) => name)).toEqual([]);
    });

    test('merges conditions by type', () => {
      expect(version?.schema.openAPIV3Schema.properties.status.properties?.conditions).toMatchObject({
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      });
    });
  },
);
