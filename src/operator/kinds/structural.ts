import { z } from 'zod';

/** A node of a structural schema (apiextensions.k8s.io/v1 JSONSchemaProps); only what this project's kinds use. */
export interface StructuralSchema {
  readonly description?: string;
  readonly type: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** Keywords that a CRD accepts as they are. Everything else is either translated below or an error. */
const passed = new Set([
  'description',
  'default',
  'enum',
  'format',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'nullable',
  'pattern',
  'required',
  'type',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

/** A zod schema that Kubernetes cannot express; `path` names the field. */
export class NotStructuralError extends Error {
  override readonly name = 'NotStructuralError';
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

/** The structural schema of what a user may write (defaults are optional). Throws NotStructuralError. */
export function toStructural(schema: z.ZodType, path: string): StructuralSchema {
  return node(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as Record<string, unknown>, path);
}

function node(raw: Record<string, unknown>, path: string): StructuralSchema {
  if (typeof raw.type !== 'string') throw new NotStructuralError(path, 'needs exactly one type');
  const out: Record<string, unknown> = { ...(raw.description === undefined ? {} : { description: raw.description }) };
  out.type = raw.type;
  for (const [keyword, value] of Object.entries(raw)) {
    if (keyword === 'properties') Object.assign(out, children(value as Record<string, Record<string, unknown>>, path));
    else if (keyword === 'items') out.items = node(value as Record<string, unknown>, `${path}[]`);
    else if (keyword === 'additionalProperties') Object.assign(out, additional(value, raw, path));
    else if (keyword === 'pattern') out.pattern = re2(value as string, path);
    else if (passed.has(keyword)) out[keyword] = value;
    else throw new NotStructuralError(path, `keyword ${keyword} has no counterpart in a structural schema`);
  }
  return (raw.type === 'integer' ? integer(out) : out) as StructuralSchema;
}

/** The API server drops an empty `properties`: whoever compares what was applied with what is there would see drift. */
function children(schemas: Record<string, Record<string, unknown>>, path: string): Record<string, unknown> {
  const properties = Object.entries(schemas).map(([name, child]) => {
    const at = `${path}.${name}`;
    if (child.description === undefined) throw new NotStructuralError(at, 'needs a description');
    return [name, node(child, at)];
  });
  return properties.length === 0 ? {} : { properties: Object.fromEntries(properties) };
}

/** `false` is what pruning does anyway and is forbidden beside properties; an empty schema means "anything". */
function additional(value: unknown, raw: Record<string, unknown>, path: string): Record<string, unknown> {
  if (value === false) return {};
  const open = value === true || Object.keys(value as object).length === 0;
  if (open) return { 'x-kubernetes-preserve-unknown-fields': true };
  if (raw.properties !== undefined && Object.keys(raw.properties as object).length > 0) {
    throw new NotStructuralError(path, 'properties and typed additionalProperties exclude each other');
  }
  return { additionalProperties: node(value as Record<string, unknown>, `${path}.*`) };
}

/** Kubernetes compiles patterns with RE2, which has no lookaround and no back references. */
function re2(pattern: string, path: string): string {
  if (/\(\?<?[=!]|\\[1-9]/.test(pattern)) throw new NotStructuralError(path, `pattern is not RE2: ${pattern}`);
  return pattern;
}

/** zod bounds every integer by the safe range of a double; a CRD says int64 or int32 instead. */
function integer(schema: Record<string, unknown>): Record<string, unknown> {
  const { minimum, maximum, ...rest } = schema;
  const min = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const format = max !== undefined && (max as number) <= 2_147_483_647 ? 'int32' : 'int64';
  return {
    ...rest,
    format,
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}
