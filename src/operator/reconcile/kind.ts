import type { z } from 'zod';
import type { ResourceType } from '../kube/types.ts';
import type { KindController } from './kind-controller.ts';

export const apiGroup = 'edge-operator.dev';
export const apiVersion = 'v1alpha1';

/** A column of `kubectl get`; priority 1 shows with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

/** What a kind says about itself to Kubernetes; `crds/` is generated from it. */
export interface KindDefinition {
  readonly type: ResourceType;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  readonly columns: readonly PrinterColumn[];
  /** Paths of the fields that `kubectl get --field-selector` takes, such as `.spec.edgeID`. */
  readonly selectable: readonly string[];
}

export function edgeType(kind: string, plural: string): ResourceType {
  return { group: apiGroup, version: apiVersion, plural, kind, namespaced: true };
}

/** A kind: what Kubernetes is told of it, and what reconciles it. `Options` is what its family gives to all its kinds. */
export interface Kind<Options> {
  readonly definition: KindDefinition;
  readonly controller: (options: Options) => KindController;
}
