/** A validation rule in CEL: `x-kubernetes-validations[]`. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A structural schema as in a CustomResourceDefinition's `openAPIV3Schema`; built-in types are described the same way. */
export interface Structural {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural | boolean;
  readonly items?: Structural;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly oneOf?: readonly Structural[];
  readonly anyOf?: readonly Structural[];
  readonly allOf?: readonly Structural[];
  readonly not?: Structural;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  /** How kubectl makes a strategic merge patch; on built-in types only. */
  readonly 'x-kubernetes-patch-strategy'?: 'merge';
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** The schema of a key in a map, or undefined when the schema does not know the key. */
export function keySchema(schema: Structural | undefined, key: string): Structural | undefined {
  const property = schema?.properties?.[key];
  if (property !== undefined) return property;
  const additional = schema?.additionalProperties;
  if (typeof additional === 'object') return additional;
  return additional === true ? {} : undefined;
}

export function preservesUnknown(schema: Structural | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true;
}

/** Path of a child as error messages write it: `spec.parts[0].name`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Whether any part of the schema has rules in CEL. */
export function hasRules(schema: Structural): boolean {
  const { properties = {}, items, additionalProperties } = schema;
  const parts = [...Object.values(properties), items, additionalProperties].filter((part) => typeof part === 'object');
  return (schema['x-kubernetes-validations'] ?? []).length > 0 || parts.some(hasRules);
}
