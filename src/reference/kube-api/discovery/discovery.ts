import type { Exchange } from '../exchange.ts';
import type { Registry } from '../types/registry.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';

export interface Document {
  readonly body: object;
  readonly contentType?: string;
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];
const aggregated = /g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList/;

/** Discovery, legacy and aggregated, and the version; undefined for any other path. */
export function discover(exchange: Exchange, registry: Registry): Document | undefined {
  if (exchange.method !== 'GET') return undefined;
  const parts = exchange.path.split('/').filter((part) => part !== '');
  const [root, first, second] = parts;
  const wantsAggregated = aggregated.test(exchange.header('accept'));
  if (parts.length === 0) return { body: { paths: paths(registry) } };
  if (exchange.path === '/version') return { body: version };
  if (exchange.path === '/api') return wantsAggregated ? aggregate(registry, true) : { body: coreVersions };
  if (exchange.path === '/apis') return wantsAggregated ? aggregate(registry, false) : { body: groupList(registry) };
  if (root === 'api' && parts.length === 2) return resourceList(registry, '', first ?? '');
  if (root === 'apis' && parts.length === 2) return groupDocument(registry, first ?? '');
  if (root === 'apis' && parts.length === 3) return resourceList(registry, first ?? '', second ?? '');
  return undefined;
}

const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.4-edge-operator',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

const coreVersions = { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };

/** Versions of each group, in the order in which they were defined. */
export function groupVersions(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, Set<string>>();
  for (const { group, version: name } of registry.types) groups.set(group, (groups.get(group) ?? new Set()).add(name));
  return new Map([...groups].map(([group, names]) => [group, [...names]]));
}

function paths(registry: Registry): readonly string[] {
  const ofGroups = [...groupVersions(registry)].flatMap(([group, names]) =>
    group === '' ? [] : [`/apis/${group}`, ...names.map((name) => `/apis/${group}/${name}`)],
  );
  return [
    '/api',
    '/api/v1',
    '/apis',
    ...ofGroups,
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ];
}

function groupOf(name: string, names: readonly string[]) {
  const versions = names.map((each) => ({ groupVersion: `${name}/${each}`, version: each }));
  return { name, versions, preferredVersion: versions[0] };
}

function groupList(registry: Registry) {
  const groups = [...groupVersions(registry)].filter(([name]) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(([name, names]) => groupOf(name, names)) };
}

function groupDocument(registry: Registry, name: string): Document | undefined {
  const names = groupVersions(registry).get(name);
  return names && { body: { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(name, names) } };
}

function typesOf(registry: Registry, group: string, name: string): readonly ResourceType[] {
  return registry.types.filter((type) => type.group === group && type.version === name);
}

function resourceList(registry: Registry, group: string, name: string): Document | undefined {
  const types = typesOf(registry, group, name);
  if (types.length === 0) return undefined;
  const resources = types.flatMap((type) => [
    legacyResource(type),
    ...subresourcesOf(type).map((part) => legacyPart(type, part)),
  ]);
  const groupVersion = apiVersionOf({ group, version: name });
  return { body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources } };
}

function legacyResource(type: ResourceType) {
  return {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: type.custom ? customVerbs : verbs,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
  };
}

interface Part {
  readonly name: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
}

function subresourcesOf(type: ResourceType): readonly Part[] {
  const { group, version: name, kind } = type;
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return [
    ...(type.hasStatus ? [{ name: 'status', responseKind: { group, version: name, kind } }] : []),
    ...(type.scale === undefined ? [] : [{ name: 'scale', responseKind: scale }]),
  ];
}

function legacyPart({ plural, namespaced, kind }: ResourceType, { name, responseKind }: Part) {
  const other = responseKind.kind === kind ? { kind } : responseKind;
  return { name: `${plural}/${name}`, singularName: '', namespaced, ...other, verbs: statusVerbs };
}

/** All groups with their resources in one document, as newer clients ask for it. */
function aggregate(registry: Registry, core: boolean): Document {
  const groups = [...groupVersions(registry)].filter(([name]) => (name === '') === core);
  const items = groups.map(([name, names]) => ({
    metadata: name === '' ? {} : { name },
    versions: names.map((each) => ({
      version: each,
      resources: typesOf(registry, name, each).map(aggregatedResource),
      freshness: 'Current',
    })),
  }));
  const body = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
  return { body, contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
}

function aggregatedResource(type: ResourceType) {
  const responseKind = { group: type.group, version: type.version, kind: type.kind };
  const parts = subresourcesOf(type).map((part) => ({
    subresource: part.name,
    responseKind: part.responseKind,
    verbs: statusVerbs,
  }));
  return {
    resource: type.plural,
    responseKind,
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.custom ? customVerbs : verbs,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(parts.length === 0 ? {} : { subresources: parts }),
  };
}
