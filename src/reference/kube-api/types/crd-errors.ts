import type { FieldError } from '../api-error.ts';
import { invalidValue, notSupported, required } from '../field-error.ts';
import { type JsonMap, listOf, mapOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { CelValidator } from '../schema/cel.ts';
import type { Structural } from '../schema/structural.ts';

/** Why a definition cannot be served, or not after the one that is. */
export function crdErrors(crd: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const spec = mapOf(crd.spec);
  const name = `${String(mapOf(spec.names).plural)}.${String(spec.group)}`;
  const rule = 'must be spec.names.plural+"."+spec.group';
  return [
    ...(crd.metadata.name === name ? [] : [invalidValue('metadata.name', crd.metadata.name, rule)]),
    ...identity(spec).flatMap(([field, value]) => (value ? [] : [required(field)])),
    ...(old === undefined ? [] : changes(spec, mapOf(old.spec))),
    ...scopeErrors(spec.scope),
    ...storageErrors(listOf(spec.versions).map(mapOf)),
    ...listOf(spec.versions).flatMap((version, index) => versionErrors(mapOf(version), `spec.versions[${index}]`)),
  ];
}

/** What a definition must say and cannot change. */
function identity({ group, scope, names }: JsonMap): readonly (readonly [field: string, value: unknown])[] {
  const { plural, kind } = mapOf(names);
  return [
    ['spec.group', group],
    ['spec.scope', scope],
    ['spec.names.plural', plural],
    ['spec.names.kind', kind],
  ];
}

function changes(spec: JsonMap, old: JsonMap): readonly FieldError[] {
  const before = new Map(identity(old));
  const changed = identity(spec).filter(([field, value]) => value !== before.get(field));
  return changed.map(([field, value]) => invalidValue(field, value, 'field is immutable'));
}

function scopeErrors(scope: unknown): readonly FieldError[] {
  const scopes = ['Cluster', 'Namespaced'];
  return !scope || scopes.includes(String(scope)) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function storageErrors(versions: readonly JsonMap[]): readonly FieldError[] {
  if (versions.filter(({ storage }) => storage === true).length === 1) return [];
  const names = versions.map(({ name }) => name);
  return [invalidValue('spec.versions', names, 'must have exactly one version marked as storage version')];
}

function versionErrors(version: JsonMap, path: string): readonly FieldError[] {
  const schema = mapOf(version.schema).openAPIV3Schema;
  if (schema === undefined) return [required(`${path}.schema.openAPIV3Schema`)];
  return new CelValidator().syntaxErrors(schema as Structural, `${path}.schema.openAPIV3Schema`);
}
