import type { FieldError } from './api-error.ts';
import { objectMeta, typeMeta } from './builtin/schemas.ts';
import { nameColumn, printerColumn } from './columns.ts';
import { invalidValue, required } from './field-error.ts';
import { listOf, mapOf, stringsOf } from './json.ts';
import type { ApiObject } from './object.ts';
import type { ResourceType } from './resource-type.ts';
import { CelValidator } from './schema/cel.ts';
import type { Structural } from './schema/structural.ts';

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

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
  const columns = listOf(version.additionalPrinterColumns);
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
    columns: [nameColumn, ...(columns.length === 0 ? [age] : columns).map(printerColumn)],
    selectableFields: listOf(version.selectableFields).map((field) => String(mapOf(field).jsonPath).replace(/^\./, '')),
    custom: true,
    tracksGeneration: true,
    behaviour: {},
  };
}

/** The CRD's schema with the fields that every object has; what it says about `metadata.name` stays. */
function withMetadata(schema: Structural): Structural {
  const metadata = schema.properties?.metadata;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { ...schema.properties?.apiVersion, ...typeMeta.apiVersion },
      kind: { ...schema.properties?.kind, ...typeMeta.kind },
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
