import { isList, isMap, mapOf } from './json.ts';
import { readJsonPath } from './json-path.ts';
import type { ApiObject } from './object.ts';
import type { Column, ResourceType } from './resource-type.ts';

export interface TableOptions {
  /** What each row carries besides its cells. */
  readonly shown: (object: ApiObject) => object | undefined;
  readonly withColumns: boolean;
  /** Milliseconds since the epoch; ages are counted from it. */
  readonly now: number;
}

/** A `meta.k8s.io/v1` Table: what `kubectl get` prints. */
export function tableOf(
  type: ResourceType,
  objects: readonly ApiObject[],
  metadata: object,
  options: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.withColumns ? type.columns.map((column) => definition(column, type)) : null,
    rows: objects.map((object) => ({
      cells: type.columns.map((column) => cell(object, column, type, options.now)),
      object: options.shown(object),
    })),
  };
}

function definition({ name, type, format, description, priority }: Column, resource: ResourceType) {
  const documented = name === 'Name' ? resource.schema.properties?.metadata?.properties?.name?.description : undefined;
  return { name, type, format: format ?? '', description: description ?? documented ?? '', priority: priority ?? 0 };
}

function cell(object: ApiObject, column: Column, type: ResourceType, now: number): unknown {
  const [value] = readJsonPath(object, column.jsonPath);
  if (isAge(column, type)) return age(value, now);
  if (type.custom) return customCell(value, column);
  if (column.name === 'Data' || column.name === 'Secrets') return sizeOf(object, column);
  if (column.name === 'Object') return objectCell(value);
  return value ?? '';
}

/** Built-in types show ages of all dates; CRDs those of columns of type date. */
const isAge = (column: Column, type: ResourceType) =>
  type.custom ? column.type === 'date' : ['Age', 'Last Seen'].includes(column.name);

function sizeOf(object: ApiObject, column: Column): number {
  if (column.name === 'Secrets') return isList(object.secrets) ? object.secrets.length : 0;
  return Object.keys(mapOf(object.data)).length + Object.keys(mapOf(object.binaryData)).length;
}

function objectCell(value: unknown): string {
  const { kind, name } = mapOf(value);
  return `${String(kind ?? '').toLowerCase()}/${String(name ?? '')}`;
}

function customCell(value: unknown, column: Column): unknown {
  if (value === undefined || value === null) return null;
  if (column.type === 'string') return isMap(value) || isList(value) ? JSON.stringify(value) : String(value);
  if (column.type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (column.type === 'number') return typeof value === 'number' ? value : null;
  if (column.type === 'boolean') return typeof value === 'boolean' ? value : null;
  return value;
}

const units = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** An age as kubectl writes it: two units while the first is small (`3m20s`, `5h10m`, `2d3h`), one beyond. */
function age(value: unknown, now: number): string {
  const then = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - then) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const index = units.findIndex(([name, size]) => seconds >= limits[name] * size);
  const [unit, size] = units[index] ?? units[4];
  const next = units[index + 1];
  const whole = Math.floor(seconds / size);
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1]);
  const short = next === undefined || whole >= twoUnitsBelow[unit] || rest === 0;
  return short ? `${whole}${unit}` : `${whole}${unit}${rest}${next[0]}`;
}

/** From how many of a unit on ages are counted in it, and up to how many with the next smaller one. */
const limits = { y: 2, d: 2, h: 3, m: 2, s: 0 } as const;
const twoUnitsBelow = { y: 8, d: 8, h: 8, m: 10, s: 0 } as const;
