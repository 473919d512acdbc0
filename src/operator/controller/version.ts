import type { KubeObject } from '../kube/types.ts';

/** The resourceVersion as the integer it is (Kubernetes 1.35 promises it; every release before kept to it). */
export function versionOf(object: Pick<KubeObject, 'metadata'>): bigint {
  return BigInt(object.metadata.resourceVersion ?? 0);
}

export function sameUid(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}
