import { objectMeta, typeMeta } from '../builtin/schemas.ts';
import { type JsonMap, listOf, mapOf, stringsOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { nameColumn, printerColumn } from '../presentation/columns.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import type { Structural } from '../schema/structural.ts';
import { apiVersionOf, type ResourceType, type ScalePaths } from './resource-type.ts';

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
    scale: mapOf(version.subresources).scale as ScalePaths | undefined,
    storage: `${spec.group}/${names.plural}`,
    schema: withMetadata(mapOf(mapOf(version.schema).openAPIV3Schema)),
    columns: [nameColumn, ...(columns.length === 0 ? [age] : columns).map(printerColumn)],
    selectableFields: listOf(version.selectableFields).map((field) => String(mapOf(field).jsonPath).replace(/^\./, '')),
    custom: true,
    tracksGeneration: true,
    warning: deprecation(spec, version),
    isTerminating: crd.metadata.deletionTimestamp !== undefined,
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

function deprecation(spec: JsonMap, version: JsonMap): string | undefined {
  if (version.deprecated !== true) return undefined;
  const { kind } = mapOf(spec.names);
  return String(version.deprecationWarning ?? `${spec.group}/${version.name} ${kind} is deprecated`);
}

/** The object as the schema of its version shows it now: pruned, and with defaults. */
export function reformed(types: readonly ResourceType[], object: ApiObject): ApiObject {
  const type = types.find((each) => apiVersionOf(each) === object.apiVersion);
  return type === undefined
    ? object
    : (applyDefaults(
        prune(object, type.schema, () => {}),
        type.schema,
      ) as ApiObject);
}
