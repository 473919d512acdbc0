import { isList, isMap } from '../json.ts';
import { keySchema, type Structural } from './structural.ts';

/** A copy with the schema's defaults filled in; nulls in fields that are not nullable count as absent. */
export function applyDefaults(value: unknown, schema: Structural | undefined): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item) => applyDefaults(item, schema.items));
  if (!isMap(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const child = keySchema(schema, key);
    if (item === null && child !== undefined && child.nullable !== true && isTyped(child)) continue;
    result[key] = applyDefaults(item, child);
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    if (!(key in result) && child.default !== undefined) result[key] = applyDefaults(child.default, child);
  }
  return result;
}

const isTyped = (schema: Structural) => schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
