import type { JsonMap } from './json.ts';

export interface ManagedFieldsEntry extends JsonMap {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: JsonMap;
  readonly subresource?: string;
}

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
}

export interface Meta extends JsonMap {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** One API object. Never changed in place: every write makes a new one. */
export interface ApiObject extends JsonMap {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
}

/** RFC 3339 with seconds, as `metav1.Time`. */
export function timestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

export function finalizersOf(object: ApiObject): readonly string[] {
  return object.metadata.finalizers ?? [];
}

export function withMeta(object: ApiObject, changes: Partial<Meta>): ApiObject {
  const metadata = Object.fromEntries(
    Object.entries({ ...object.metadata, ...changes }).filter(([, value]) => value !== undefined),
  );
  return { ...object, metadata };
}
