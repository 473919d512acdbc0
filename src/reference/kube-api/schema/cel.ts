import { Environment, Optional, type ParseResult } from '@marcbachmann/cel-js';
import type { FieldError } from '../api-error.ts';
import { invalidValue } from '../field-error.ts';
import { equal, isList, isMap } from '../json.ts';
import { addKubernetesFunctions } from './cel-functions.ts';
import { celValue } from './cel-values.ts';
import { correlate } from './correlate.ts';
import { type CelRule, childPath, keySchema, type Structural } from './structural.ts';

/** A rule whose expressions were parsed; parsing throws on bad syntax. */
interface Compiled {
  readonly rule: CelRule;
  readonly usesOldSelf: boolean;
  readonly check: ParseResult;
  readonly message: ParseResult | undefined;
}

/** Evaluates the `x-kubernetes-validations` of one schema. */
export class CelValidator {
  readonly #environment = addKubernetesFunctions(
    new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, enableOptionalTypes: true }),
  );
  readonly #compiled = new Map<CelRule, Compiled>();

  /** What the rules find wrong with `value`; rules that name `oldSelf` run only where there was an old value. */
  validate(value: unknown, old: unknown, schema: Structural): readonly FieldError[] {
    const errors: FieldError[] = [];
    this.#visit(value, old, schema, '', errors);
    return errors;
  }

  /** Rules that are no CEL expressions. */
  syntaxErrors(schema: Structural, path: string): readonly FieldError[] {
    const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
      const problem = this.#syntaxError(rule);
      return problem === undefined
        ? []
        : [
            invalidValue(
              `${path}.x-kubernetes-validations[${index}].rule`,
              rule.rule,
              `compilation failed: ${problem}`,
            ),
          ];
    });
    const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      this.syntaxErrors(child, `${path}.properties[${name}]`),
    );
    const items = schema.items === undefined ? [] : this.syntaxErrors(schema.items, `${path}.items`);
    const additional = schema.additionalProperties;
    const values = typeof additional === 'object' ? this.syntaxErrors(additional, `${path}.additionalProperties`) : [];
    return [...own, ...children, ...items, ...values];
  }

  #syntaxError(rule: CelRule): string | undefined {
    try {
      this.#compile(rule);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #visit(value: unknown, old: unknown, schema: Structural, path: string, errors: FieldError[]): void {
    for (const rule of schema['x-kubernetes-validations'] ?? []) {
      const error = this.#evaluate(this.#compile(rule), value, old, schema, path === '' ? '<nil>' : path);
      if (error !== undefined) errors.push(error);
    }
    if (isList(value) && schema.items !== undefined) {
      const items = schema.items;
      const oldItem = correlate(old, schema);
      value.forEach((item, index) => void this.#visit(item, oldItem(item), items, childPath(path, index), errors));
    } else if (isMap(value)) {
      for (const [key, item] of Object.entries(value)) {
        const child = keySchema(schema, key);
        if (child === undefined) continue;
        this.#visit(item, isMap(old) ? old[key] : undefined, child, childPath(path, key), errors);
      }
    }
  }

  #evaluate(compiled: Compiled, value: unknown, old: unknown, schema: Structural, path: string) {
    const { rule, usesOldSelf } = compiled;
    if (usesOldSelf && old === undefined && rule.optionalOldSelf !== true) return undefined;
    if (!usesOldSelf && old !== undefined && equal(value, old)) return undefined;
    const self = celValue(value, schema);
    const oldSelf = old === undefined ? undefined : celValue(old, schema);
    const variables = { self, oldSelf: rule.optionalOldSelf === true ? Optional.of(oldSelf) : oldSelf };
    try {
      if (compiled.check(variables) === true) return undefined;
    } catch (error) {
      return celError(rule, path, value, `rule evaluation error: ${(error as Error).message}`);
    }
    return celError(rule, path, value, messageOf(compiled, variables));
  }

  #compile(rule: CelRule): Compiled {
    const known = this.#compiled.get(rule);
    if (known !== undefined) return known;
    const made: Compiled = {
      rule,
      usesOldSelf: /\boldSelf\b/.test(rule.rule),
      check: this.#environment.parse(rule.rule),
      message: rule.messageExpression === undefined ? undefined : this.#environment.parse(rule.messageExpression),
    };
    this.#compiled.set(rule, made);
    return made;
  }
}

function messageOf({ rule, message }: Compiled, variables: Record<string, unknown>): string {
  const fallback = rule.message ?? `failed rule: ${rule.rule.trim()}`;
  if (message === undefined) return fallback;
  try {
    const text: unknown = message(variables);
    return typeof text === 'string' && text.trim() !== '' ? text : fallback;
  } catch {
    return fallback;
  }
}

function celError(rule: CelRule, path: string, value: unknown, message: string): FieldError {
  const field = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`.replace(/^<nil>\./, '');
  // Like the real server, which does not show whole maps and lists.
  const text = isMap(value) || isList(value) ? undefined : JSON.stringify(value);
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return { reason: rule.reason, message: `Forbidden: ${message}`, field };
    case 'FieldValueRequired':
      return { reason: rule.reason, message: `Required value: ${message}`, field };
    case 'FieldValueDuplicate':
      return { reason: rule.reason, message: `Duplicate value: ${text ?? message}`, field };
    default:
      return {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${text === undefined ? '' : `${text}: `}${message}`,
        field,
      };
  }
}
