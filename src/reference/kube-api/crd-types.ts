import type { FieldError } from './api-error.ts';
import { objectMeta, typeMeta } from './builtin/schemas.ts';
import { invalidValue, required } from './field-error.ts';
import { listOf, mapOf, stringsOf } from './json.ts';
import type { ApiObject } from './object.ts';
import type { Column, ResourceType } from './resource-type.ts';
import { CelValidator } from './schema/cel.ts';
import type { Structural } from './schema/structural.ts';

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The types that a CustomResourceDefinition serves. */
export function crdTypes(crd: ApiObject): readonly ResourceType[] {
  const spec = mapOf(crd.spec);
  return listOf(spec.versions)
    .map(mapOf)
    .filter((version) => version.served === true)
    .map((version) => crdType(crd, version));
}

function crdType(crd: ApiObject, version: Readonly<Record<string, unknown>>): ResourceType {
  const spec = mapOf(crd.spec);
  const names = mapOf(spec.names);
  const columns = listOf(version.additionalPrinterColumns).map((column) => withDescription(column as Column));
  return {
    group: String(spec.group),
    version: String(version.name),
    plural: String(names.plural),
    singular: String(names.singular),
    kind: String(names.kind),
    listKind: String(names.listKind),
    shortNames: stringsOf(names.shortNames),
    categories: stringsOf(names.categories),
    namespaced: spec.scope === 'Namespaced',
    hasStatus: mapOf(version.subresources).status !== undefined,
    storage: `${spec.group}/${names.plural}`,
    schema: withMetadata(mapOf(mapOf(version.schema).openAPIV3Schema)),
    columns: [
      { name: 'Name', type: 'string', format: 'name', jsonPath: '.metadata.name' },
      ...(columns.length === 0 ? [withDescription(age)] : columns),
    ],
    selectableFields: listOf(version.selectableFields).map((field) => String(mapOf(field).jsonPath).replace(/^\./, '')),
    custom: true,
    tracksGeneration: true,
    behaviour: {},
  };
}

function withDescription(column: Column): Column {
  return { description: `Custom resource definition column (in JSONPath format): ${column.jsonPath}`, ...column };
}

/** The CRD's schema with the fields that every object has; what it says about `metadata.name` stays. */
function withMetadata(schema: Structural): Structural {
  const metadata = schema.properties?.metadata;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { ...typeMeta.apiVersion, ...schema.properties?.apiVersion },
      kind: { ...typeMeta.kind, ...schema.properties?.kind },
      metadata: { ...metadata, ...objectMeta, properties: { ...objectMeta.properties, ...metadata?.properties } },
    },
  };
}

/** Why a definition cannot be served: a wrong name, no schema, or rules that are no CEL. */
export function crdErrors(crd: ApiObject): readonly FieldError[] {
  const spec = mapOf(crd.spec);
  const name = `${String(mapOf(spec.names).plural)}.${String(spec.group)}`;
  return [
    ...(crd.metadata.name === name ? [] : [nameError(crd.metadata.name)]),
    ...listOf(spec.versions).flatMap((version, index) => versionErrors(mapOf(version), `spec.versions[${index}]`)),
  ];
}

function nameError(name: string | undefined): FieldError {
  return invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
}

function versionErrors(version: Readonly<Record<string, unknown>>, path: string) {
  const schema = mapOf(version.schema).openAPIV3Schema;
  if (schema === undefined) return [required(`${path}.schema.openAPIV3Schema`)];
  return new CelValidator().syntaxErrors(schema as Structural, `${path}.schema.openAPIV3Schema`);
}
