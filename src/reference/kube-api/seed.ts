import { checkGvk } from './decode.ts';
import type { Objects } from './objects.ts';
import type { Registry } from './registry.ts';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Creates what a new cluster has, and the given CustomResourceDefinitions. Throws ApiError when one is invalid. */
export function seed(objects: Objects, registry: Registry, crds: readonly object[]): void {
  const options = { dryRun: false, fieldManager: 'edge-operator-kube', onUnknown: () => {} };
  const namespace = registry.builtin({ group: '', plural: 'namespaces' });
  for (const name of namespaces) {
    objects.create(namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, options);
  }
  const definition = registry.builtin({ group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' });
  for (const crd of crds) {
    objects.create(definition, checkGvk({ ...crd }, definition), options);
  }
}
