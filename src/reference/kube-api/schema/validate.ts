import { RE2JS } from 're2js';
import type { FieldError } from '../api-error.ts';
import { duplicate, invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from '../field-error.ts';
import { canonical, equal, isList, isMap, type JsonMap } from '../json.ts';
import { correlate } from './correlate.ts';
import { fitsNumber, hasFormat } from './formats.ts';
import { childPath, keySchema, type Structural } from './structural.ts';

/** Compiled patterns of one schema. */
export type Patterns = Map<string, RE2JS>;

interface Context {
  readonly patterns: Patterns;
  readonly report: (error: FieldError) => void;
}

/**
 * Checks `value` against everything in the schema but its CEL rules and returns what is wrong.
 * On an update, what did not change since `old` is not checked again (ratcheting).
 */
export function validate(value: unknown, old: unknown, schema: Structural, patterns: Patterns): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(value, old, schema, '', { patterns, report: (error) => errors.push(error) });
  return errors;
}

function visit(value: unknown, old: unknown, schema: Structural, path: string, context: Context): void {
  if (old !== undefined && equal(value, old)) return;
  if (value === null && schema.nullable === true) return;
  if (!hasType(value, schema)) {
    const found = typeName(value);
    const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type;
    context.report(typeInvalid(path, found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`));
    return;
  }
  if (schema.enum !== undefined && !schema.enum.some((item) => equal(item, value))) {
    context.report(notSupported(path, value, schema.enum));
  }
  if (typeof value === 'string') checkString(value, schema, path, context);
  if (typeof value === 'number') checkNumber(value, schema, path, context);
  if (isList(value)) checkList(value, old, schema, path, context);
  if (isMap(value)) checkMap(value, old, schema, path, context);
  checkCombinations(value, schema, path, context);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (isMap(value)) return 'object';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

function hasType(value: unknown, schema: Structural): boolean {
  const name = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) return name === 'integer' || name === 'string';
  if (schema.type === undefined || schema.type === name) return true;
  return schema.type === 'number' && name === 'integer';
}

function checkString(value: string, schema: Structural, path: string, { patterns, report }: Context): void {
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) report(tooLong(path, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    report(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  } else if (schema.pattern !== undefined && !compiled(schema.pattern, patterns).matcher(value).find()) {
    report(invalidValue(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  if (schema.format !== undefined && !hasFormat(value, schema.format)) {
    report(typeInvalid(path, value, `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`));
  }
}

function compiled(pattern: string, patterns: Patterns): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const made = RE2JS.compile(pattern);
  patterns.set(pattern, made);
  return made;
}

function checkNumber(value: number, schema: Structural, path: string, { report }: Context): void {
  const wrong = (what: string) => report(invalidValue(path, value, `${path} in body should be ${what}`));
  const { minimum, maximum, multipleOf } = schema;
  if (schema.type !== undefined && !fitsNumber(value, schema.format)) {
    const format = schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
    report(invalidValue('<nil>', '', `Checked value must be of type ${schema.type} ${format} in ${path}`));
  }
  if (maximum !== undefined && schema.exclusiveMaximum === true && value >= maximum) wrong(`less than ${maximum}`);
  else if (maximum !== undefined && value > maximum) wrong(`less than or equal to ${maximum}`);
  if (minimum !== undefined && schema.exclusiveMinimum === true && value <= minimum) wrong(`greater than ${minimum}`);
  else if (minimum !== undefined && value < minimum) wrong(`greater than or equal to ${minimum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) wrong(`a multiple of ${multipleOf}`);
}

function checkList(value: readonly unknown[], old: unknown, schema: Structural, path: string, context: Context): void {
  const { minItems, maxItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) context.report(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    context.report(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  const oldItem = correlate(old, schema);
  value.forEach((item, index) => {
    if (items !== undefined) visit(item, oldItem(item), items, childPath(path, index), context);
  });
  checkUnique(value, schema, path, context);
}

function checkUnique(value: readonly unknown[], schema: Structural, path: string, { report }: Context): void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const key = type === 'map' && isMap(item) ? Object.fromEntries(keys.map((name) => [name, item[name]])) : item;
    const text = canonical(key);
    if (seen.has(text)) report(duplicate(childPath(path, index), key));
    seen.add(text);
  });
}

function checkMap(value: JsonMap, old: unknown, schema: Structural, path: string, context: Context): void {
  const size = Object.keys(value).length;
  const { minProperties, maxProperties } = schema;
  if (maxProperties !== undefined && size > maxProperties) context.report(tooMany(path, size, maxProperties));
  if (minProperties !== undefined && size < minProperties) {
    context.report(invalidValue(path, size, `${path} in body should have at least ${minProperties} properties`));
  }
  for (const name of schema.required ?? []) {
    if (!(name in value)) context.report(required(childPath(path, name)));
  }
  for (const [key, item] of Object.entries(value)) {
    const child = keySchema(schema, key);
    if (child !== undefined) visit(item, isMap(old) ? old[key] : undefined, child, childPath(path, key), context);
  }
}

function checkCombinations(value: unknown, schema: Structural, path: string, { patterns, report }: Context): void {
  const passes = (part: Structural) => validate(value, undefined, part, patterns).length === 0;
  const wrong = (what: string) => report(invalidValue(path, '', `"${path}" must ${what}`));
  const count = schema.oneOf?.filter(passes).length ?? 1;
  if (count !== 1) {
    const found = count === 0 ? 'none valid' : `${count} valid alternatives`;
    wrong(`validate one and only one schema (oneOf). Found ${found}`);
  }
  if (schema.anyOf?.some(passes) === false) wrong('validate at least one schema (anyOf)');
  if (schema.allOf?.every(passes) === false) wrong('validate all the schemas (allOf)');
  if (schema.not !== undefined && passes(schema.not)) wrong('not validate the schema (not)');
}
