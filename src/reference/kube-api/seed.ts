import type { ApiObject } from './object.ts';
import type { Objects } from './objects/objects.ts';
import type { Registry } from './types/registry.ts';
import type { ResourceType } from './types/resource-type.ts';
import { checkGvk } from './writes/decode.ts';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const options = { dryRun: false, fieldManager: 'edge-operator-kube', onUnknown: () => {}, warn: () => {} };

/**
 * Creates what a new cluster has, and the given CustomResourceDefinitions; those of an earlier start are brought up to
 * date. Throws ApiError when one is invalid.
 */
export function seed(objects: Objects, registry: Registry, crds: readonly object[]): void {
  const namespace = registry.builtin({ group: '', plural: 'namespaces' });
  for (const name of namespaces) {
    if (objects.find(namespace, { namespace: undefined, name }) !== undefined) continue;
    objects.create(namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, options);
  }
  const definition = registry.builtin({ group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' });
  for (const crd of crds) ensure(objects, definition, checkGvk({ ...crd }, definition));
}

function ensure(objects: Objects, type: ResourceType, wanted: ApiObject): void {
  const ref = { namespace: undefined, name: wanted.metadata.name ?? '' };
  if (objects.find(type, ref) === undefined) return void objects.create(type, wanted, options);
  const change = (current: ApiObject) => ({
    ...current,
    ...wanted,
    metadata: { ...current.metadata, ...wanted.metadata },
  });
  objects.update(type, ref, { ...options, subresource: undefined, change });
}
