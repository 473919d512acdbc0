import { isList, isMap } from '../json.ts';
import { keySchema, type Structural } from './structural.ts';

/**
 * A copy with the schema's defaults filled in. Nulls in fields that are not nullable count as absent; with `keepsNulls`
 * only where there is a default, and validation finds the others.
 */
export function applyDefaults(value: unknown, schema: Structural | undefined, keepsNulls = false): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item) => applyDefaults(item, schema.items, keepsNulls));
  if (!isMap(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const child = keySchema(schema, key);
    if (item === null && child !== undefined && isDropped(child, keepsNulls)) continue;
    result[key] = applyDefaults(item, child, keepsNulls);
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    if (!(key in result) && child.default !== undefined) result[key] = applyDefaults(child.default, child);
  }
  return result;
}

function isDropped(schema: Structural, keepsNulls: boolean): boolean {
  const isTyped = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
  return isTyped && schema.nullable !== true && (!keepsNulls || schema.default !== undefined);
}
