import { isList, isMap } from '../json.ts';
import { keySchema, type Structural } from './structural.ts';

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** A JSON value as CEL sees it: integers are BigInt, `date-time` strings are timestamps, property names are escaped. */
export function celValue(value: unknown, schema: Structural | undefined): unknown {
  if (typeof value === 'number') return isInteger(value, schema) ? BigInt(value) : value;
  if (typeof value === 'string' && schema?.format === 'date-time') return new Date(value);
  if (isList(value)) return value.map((item) => celValue(item, schema?.items));
  if (!isMap(value)) return value;
  const known = schema?.properties;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      known?.[key] === undefined ? key : escaped(key),
      celValue(item, schema && keySchema(schema, key)),
    ]),
  );
}

function isInteger(value: number, schema: Structural | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return schema?.type !== 'number';
}

/** Property names that are no CEL identifiers are written as Kubernetes documents it: `__namespace__`, `a__dash__b`. */
function escaped(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
