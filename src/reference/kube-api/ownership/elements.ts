import { canonical, isList, isMap, mapOf } from '../json.ts';
import { keySchema, type Structural } from '../schema/structural.ts';

/** A part of a value that can have an owner of its own. */
export interface Element {
  /** `f:name`, `k:{"type":"Ready"}` or `v:"item"`. */
  readonly path: string;
  readonly value: unknown;
  readonly schema: Structural | undefined;
  /** A field that the schema declares, not an item of a map or list: it is there without being set. */
  readonly declared: boolean;
}

/** The parts of a value that are owned one by one; undefined when it is owned as a whole (scalars, atomic maps and lists). */
export function elementsOf(value: unknown, schema: Structural | undefined): readonly Element[] | undefined {
  if (isMap(value)) return schema?.['x-kubernetes-map-type'] === 'atomic' ? undefined : fields(value, schema);
  if (!isList(value)) return undefined;
  const type = schema?.['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return undefined;
  return value.map((item) => ({ path: itemPath(item, schema), value: item, schema: schema?.items, declared: false }));
}

function fields(map: Readonly<Record<string, unknown>>, schema: Structural | undefined): readonly Element[] {
  return Object.entries(map).map(([key, value]) => ({
    path: `f:${key}`,
    value,
    schema: schema && keySchema(schema, key),
    declared: schema?.properties?.[key] !== undefined,
  }));
}

function itemPath(item: unknown, schema: Structural | undefined): string {
  if (schema?.['x-kubernetes-list-type'] === 'set') return `v:${JSON.stringify(item)}`;
  const names = schema?.['x-kubernetes-list-map-keys'] ?? [];
  const keys = names.map((name) => [name, mapOf(item)[name] ?? schema?.items?.properties?.[name]?.default]);
  return `k:${canonical(Object.fromEntries(keys))}`;
}

/** The value that `elements` make up, in the shape of `like`. */
export function assemble(elements: readonly Element[], like: unknown): unknown {
  if (isList(like)) return elements.map(({ value }) => value);
  return Object.fromEntries(elements.map(({ path, value }) => [path.slice(2), value]));
}
