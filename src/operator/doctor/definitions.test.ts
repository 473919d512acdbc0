import { describe, expect, test } from '@jest/globals';
import { toCrd } from '../kinds/crd.ts';
import { definitions } from '../kinds/index.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { definitionsCheck } from './definitions.ts';

describe('definitions', () => {
  /** As the API server publishes them. */
  const served = () =>
    Object.fromEntries(
      definitions.map((definition) => {
        const { kind } = definition.type;
        const schema = structuredClone(toCrd(definition).spec.versions[0]?.schema.openAPIV3Schema);
        return [kind, { ...schema, 'x-kubernetes-group-version-kind': [{ kind }] }];
      }),
    );
  const problems = async (schemas: object, status = 200) => {
    const text = async () => JSON.stringify({ components: { schemas } });
    const connection = { request: async () => ({ status, text }) } as unknown as KubeConnection;
    return (await definitionsCheck(connection).run()).findings.map(({ problem }) => problem);
  };

  interface Schema {
    readonly properties?: Record<string, Schema>;
    readonly items?: Schema;
  }
  type Field = readonly [at: string, remove: () => void];

  function fieldsIn({ properties = {}, items }: Schema, at: string): readonly Field[] {
    const own = Object.entries(properties).flatMap(([name, field]) => [
      [`${at}.${name}`, () => delete properties[name]] as const,
      ...fieldsIn(field, `${at}.${name}`),
    ]);
    return items === undefined ? own : [...own, ...fieldsIn(items, `${at}[]`)];
  }

  test('those of this version are as they should be', async () => {
    expect(await problems(served())).toEqual([]);
  });

  test('where none is there that is one finding, and its cure can be copied', async () => {
    expect(await problems({}, 404)).toEqual([`the cluster lacks all ${definitions.length} kinds of edge-operator.dev`]);
  });

  test('every field that is in a definition is looked for', async () => {
    for (const kind of Object.keys(served())) {
      const all = served();
      const { spec = {}, status = {} } = (all[kind] as Schema).properties ?? {};
      const found: string[] = [];
      // From within: a field that is gone takes those in it with it.
      for (const [at, remove] of [...fieldsIn(spec, 'spec'), ...fieldsIn(status, 'status')].toReversed()) {
        found.push(at);
        remove();
        expect((await problems(all)).join()).toContain(at);
      }
      expect(found.length).toBeGreaterThan(5);
    }
  });

  test('a kind that is not there, and fields that an older version did not have, are named', async () => {
    const { Agent: _, ...schemas } = served();
    // biome-ignore lint/suspicious/noExplicitAny: a schema of any shape
    const { spec, status } = (schemas as any).ReservedAddr.properties;
    delete spec.properties.accountRef.properties.name;
    delete status.properties.conditions.items.properties.reason;
    expect(await problems(schemas)).toEqual([
      'the cluster lacks Agent',
      'the definition of ReservedAddr is older: it lacks spec.accountRef.name, status.conditions[].reason',
    ]);
  });
});
