import { isList, isMap } from '../json.ts';
import { childPath, keySchema, preservesUnknown, type Structural } from './structural.ts';

/** Called with the path of every field that the schema does not know. */
export type OnUnknown = (path: string) => void;

/** A copy without the fields that the schema does not know; `metadata`, `apiVersion` and `kind` of embedded resources stay. */
export function prune(value: unknown, schema: Structural | undefined, onUnknown: OnUnknown, path = ''): unknown {
  if (isList(value)) {
    return value.map((item, index) => prune(item, schema?.items, onUnknown, childPath(path, index)));
  }
  if (!isMap(value) || schema === undefined) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const child = keySchema(schema, key) ?? embedded(schema, key);
    if (child !== undefined) kept[key] = prune(item, child, onUnknown, childPath(path, key));
    else if (preservesUnknown(schema)) kept[key] = item;
    else onUnknown(childPath(path, key));
  }
  return kept;
}

const anything: Structural = { 'x-kubernetes-preserve-unknown-fields': true };

function embedded(schema: Structural, key: string): Structural | undefined {
  if (schema['x-kubernetes-embedded-resource'] !== true) return undefined;
  return ['apiVersion', 'kind', 'metadata'].includes(key) ? anything : undefined;
}
