import { z } from 'zod';
import { definitions } from '../kinds/index.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { isNothingThere } from '../kube/errors.ts';
import { apiGroup, apiVersion } from '../reconcile/kind.ts';
import { ask } from './ask.ts';
import type { Check, Finding } from './check.ts';
import { installDefinitions as cure } from './cure.ts';

const path = `/openapi/v3/apis/${apiGroup}/${apiVersion}`;

/** A schema as far as its fields go. */
interface Fields {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, ServedKind>> };
}

type ServedKind = Fields & { readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[] };

/** Whether the cluster serves every kind, with every field that this version knows. */
export function definitionsCheck(connection: KubeConnection): Check {
  return {
    name: 'definitions',
    run: async () => {
      const served = await servedKinds(connection);
      const absent = definitions.map(({ type }) => type.kind).filter((kind) => !served.has(kind));
      const older = definitions.flatMap((definition): readonly Finding[] => {
        const { kind } = definition.type;
        const found = served.get(kind);
        if (found === undefined) return [];
        const { spec, status } = definition;
        const missing = missingFields({ properties: { spec: fieldsOf(spec), status: fieldsOf(status) } }, found);
        return missing.length === 0
          ? []
          : [{ problem: `the definition of ${kind} is older: it lacks ${missing.join(', ')}`, cure }];
      });
      return { at: `${definitions.length} kinds`, findings: [...lacking(absent), ...older] };
    },
  };
}

function lacking(kinds: readonly string[]): readonly Finding[] {
  if (kinds.length === 0) return [];
  const which = kinds.length === definitions.length ? `all ${kinds.length} kinds of ${apiGroup}` : kinds.join(', ');
  return [{ problem: `the cluster lacks ${which}`, cure }];
}

/** As every user may read them: definitions themselves are for few. */
async function servedKinds(connection: KubeConnection): Promise<ReadonlyMap<string, Fields>> {
  const { components } = await ask<Document>(connection, { path, doing: 'reading what the cluster serves' }).catch(
    (error): Document => {
      if (isNothingThere(error)) return {};
      throw error;
    },
  );
  const schemas = Object.values(components?.schemas ?? {});
  return new Map(
    schemas.flatMap((schema) => (schema['x-kubernetes-group-version-kind'] ?? []).map(({ kind }) => [kind, schema])),
  );
}

/** As the definition has it, which is not written out for that: of the start of `run` it would be most of the garbage. */
function fieldsOf(schema: unknown): Fields {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return fieldsOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return { items: fieldsOf(schema.element) };
  if (!(schema instanceof z.ZodObject)) return {};
  const properties = Object.entries(schema.shape).map(([name, field]) => [name, fieldsOf(field)]);
  return { properties: Object.fromEntries(properties) };
}

/** Paths of the fields that are known and not served. */
function missingFields(known: Fields, served: Fields, at = ''): readonly string[] {
  const ofItems = known.items === undefined ? [] : missingFields(known.items, served.items ?? {}, `${at}[]`);
  const ofFields = Object.entries(known.properties ?? {}).flatMap(([name, field]) => {
    const there = served.properties?.[name];
    const where = at === '' ? name : `${at}.${name}`;
    return there === undefined ? [where] : missingFields(field, there, where);
  });
  return [...ofItems, ...ofFields];
}
