import { fieldsV1, managedFieldsEntry, objectMeta, ownerReference } from '../builtin/schemas.ts';
import type { Exchange } from '../exchange.ts';
import type { Registry } from '../types/registry.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { patchTypes } from '../writes/patch.ts';
import type { Document } from './discovery.ts';
import { groupVersions } from './discovery.ts';

/** OpenAPI v3, for `kubectl explain` and client-side validation: an index and one document for each group version. */
export function openApi(exchange: Exchange, registry: Registry): Document | undefined {
  if (exchange.method !== 'GET') return undefined;
  if (exchange.path === '/openapi/v3') return { body: { paths: index(registry) } };
  const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(exchange.path);
  if (match === null) return undefined;
  const [, group = '', version] = match;
  const types = registry.types.filter((type) => type.group === group && type.version === version);
  return types.length === 0 ? undefined : { body: groupDocument(group, types) };
}

const pathOf = (group: string, version: string) => (group === '' ? `api/${version}` : `apis/${group}/${version}`);

function index(registry: Registry) {
  const all = [...groupVersions(registry)].flatMap(([group, names]) => names.map((name) => pathOf(group, name)));
  return Object.fromEntries(all.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }]));
}

function groupDocument(group: string, types: readonly ResourceType[]) {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.4' },
    paths: Object.assign({}, ...types.map(pathsOf)),
    components: {
      schemas: {
        ...metaSchemas,
        ...Object.fromEntries(types.map((type) => [schemaName(type, group), schemaOf(type)])),
      },
    },
  };
}

/** Reversed group, version and kind, as the real server names schemas of CRDs. */
const schemaName = (type: ResourceType, group: string) =>
  `${group === '' ? 'io.k8s.api.core' : group.split('.').reverse().join('.')}.${type.version}.${type.kind}`;

const gvkOf = ({ group, version, kind }: ResourceType) => ({ group, version, kind });

function schemaOf(type: ResourceType) {
  const { description } = objectMeta;
  const properties = { ...type.schema.properties, metadata: { description, ...refTo('ObjectMeta') } };
  return { ...type.schema, properties, 'x-kubernetes-group-version-kind': [gvkOf(type)] };
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const refTo = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${meta}.${name}` }] });
const { managedFields, ownerReferences } = objectMeta.properties ?? {};

/** Parts that kubectl shows by their names. */
const metaSchemas = {
  [`${meta}.ObjectMeta`]: {
    ...objectMeta,
    properties: {
      ...objectMeta.properties,
      managedFields: { ...managedFields, items: refTo('ManagedFieldsEntry') },
      ownerReferences: { ...ownerReferences, items: refTo('OwnerReference') },
    },
  },
  [`${meta}.ManagedFieldsEntry`]: {
    ...managedFieldsEntry,
    properties: { ...managedFieldsEntry.properties, fieldsV1: refTo('FieldsV1') },
  },
  [`${meta}.FieldsV1`]: fieldsV1,
  [`${meta}.OwnerReference`]: ownerReference,
};

/** The paths tell kubectl which query parameters each verb knows. */
function pathsOf(type: ResourceType) {
  const prefix = `/${pathOf(type.group, type.version)}/${type.namespaced ? 'namespaces/{namespace}/' : ''}${type.plural}`;
  const operation = (action: string) => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvkOf(type),
    parameters: ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
      name,
      in: 'query',
      schema: { type: 'string', uniqueItems: true },
    })),
    responses: { 200: { description: 'OK' } },
  });
  return {
    [prefix]: { post: operation('post'), get: operation('list') },
    [`${prefix}/{name}`]: {
      get: operation('get'),
      put: operation('put'),
      patch: { ...operation('patch'), requestBody: { content: patchContent(type) } },
    },
  };
}

/** kubectl looks here whether objects of the type can be merged strategically. */
function patchContent(type: ResourceType) {
  return Object.fromEntries(patchTypes(type).map((mediaType) => [mediaType, { schema: { type: 'object' } }]));
}
