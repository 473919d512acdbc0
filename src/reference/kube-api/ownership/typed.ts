import { ApiError, type FieldError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import { prune } from '../schema/prune.ts';
import { validate } from '../schema/validate.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';

/** Throws 500, as the real server does, when a configuration has fields, types or list keys that its schema does not. */
export function checkTyped(configuration: ApiObject, type: ResourceType): void {
  const problems: string[] = [];
  prune(configuration, type.schema, (path) => problems.push(`.${path}: field not declared in schema`));
  const errors = validate(configuration, undefined, type.schema, new Map());
  problems.push(...errors.flatMap((error) => problemOf(error)));
  if (problems.length === 0) return;
  const { namespace = '', name = '' } = configuration.metadata;
  const subject = `(${namespace}/${name}; ${apiVersionOf(type)}, Kind=${type.kind})`;
  const list = problems.length === 1 ? problems[0] : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  throw new ApiError(500, undefined, `failed to create typed patch object ${subject}: ${list}`);
}

const names: Readonly<Record<string, string>> = {
  integer: 'numeric (int or float)',
  number: 'numeric (int or float)',
  array: 'list',
  object: 'map',
};

function problemOf({ reason, message, field }: FieldError): readonly string[] {
  const types = /must be of type (\S+): "(\w+)"/.exec(message);
  if (reason === 'FieldValueTypeInvalid' && types !== null && types[2] !== 'null') {
    const [, wanted = '', found = ''] = types;
    return names[wanted] !== undefined || wanted === 'string' || wanted === 'boolean'
      ? [`.${field}: expected ${names[wanted] ?? wanted}, got ${found}`]
      : [];
  }
  if (reason !== 'FieldValueDuplicate') return [];
  const key: unknown = JSON.parse(message.replace('Duplicate value: ', ''));
  const list = (field ?? '').replace(/\[\d+\]$/, '');
  if (typeof key !== 'object' || key === null) return [`.${list}: duplicate entries for key [=${JSON.stringify(key)}]`];
  const parts = Object.entries(key).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [`.${list}: duplicate entries for key [${parts.join(',')}]`];
}
