import { join } from 'node:path';
import type { Structural } from '../../../../src/reference/kube-api/schema/structural.ts';
import { loadCrds } from '../../../../src/reference/kube-api/types/load-crds.ts';

export type Schema = Structural;

export type Json = string | number | boolean | null | readonly Json[] | JsonMap;
export interface JsonMap {
  readonly [key: string]: Json;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const definitions = loadCrds(join(import.meta.dirname, '../../../../crds')) as unknown as readonly Definition[];

/** Of `spec`, by kind. */
const specs = new Map<string, Schema>(
  definitions.map(({ spec: { names, versions } }) => [
    names.kind,
    versions[0]?.schema.openAPIV3Schema.properties?.spec ?? {},
  ]),
);

export const kinds: readonly string[] = [...specs.keys()];

/** What the definition of the kind says of its spec. */
export function schemaOf(kind: string): Schema {
  const schema = specs.get(kind);
  if (schema === undefined) throw new Error(`there is no definition of ${kind}`);
  return schema;
}

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
