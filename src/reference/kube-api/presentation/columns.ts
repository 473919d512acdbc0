import { isList, isMap, mapOf } from '../json.ts';
import type { Column } from '../types/resource-type.ts';
import { age } from './age.ts';
import { readJsonPath } from './json-path.ts';

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  cell: ({ metadata }) => metadata.name ?? '',
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  cell: ({ metadata }, now) => age(metadata.creationTimestamp, now),
};

/** The value at a path. */
export const fieldColumn = (name: string, jsonPath: string): Column => ({
  name,
  type: 'string',
  cell: (object) => readJsonPath(object, jsonPath)[0] ?? '',
});

/** How many keys or items the fields have together. */
export const sizeColumn = (name: string, ...fields: readonly string[]): Column => ({
  name,
  type: 'string',
  cell: (object) => fields.reduce((sum, field) => sum + Object.keys(object[field] ?? {}).length, 0),
});

/** One of a CustomResourceDefinition's `additionalPrinterColumns`. */
export function printerColumn(given: unknown): Column {
  const { jsonPath, ...column } = mapOf(given) as Omit<Column, 'cell'> & { readonly jsonPath: string };
  return {
    description: `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...column,
    cell: (object, now) => printed(readJsonPath(object, jsonPath)[0], column.type, now),
  };
}

/** Empty where the value is not of the column's type. */
function printed(value: unknown, type: string, now: number): unknown {
  if (value === undefined || value === null) return null;
  if (type === 'date') return age(value, now);
  if (type === 'string') return isMap(value) || isList(value) ? JSON.stringify(value) : String(value);
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number' || type === 'boolean') return typeof value === type ? value : null;
  return value;
}
