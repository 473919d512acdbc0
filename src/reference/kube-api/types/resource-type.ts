import type { FieldError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { Structural } from '../schema/structural.ts';
import type { StoredObject } from '../store/stored-object.ts';

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** What it shows of an object; `now` is in milliseconds since the epoch. */
  readonly cell: (object: ApiObject, now: number) => unknown;
}

/** Where a definition says that the replicas of an object are, such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** Everything that the server knows about one version of one kind of object. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** `spec` and `status` are written on endpoints of their own. */
  readonly hasStatus: boolean;
  readonly scale?: ScalePaths | undefined;
  /** Types with the same storage show the same objects: versions of one CRD, events of both groups. */
  readonly storage: string;
  readonly schema: Structural;
  readonly columns: readonly Column[];
  /** Field selectors beyond `metadata.name` and `metadata.namespace`, such as `spec.color`. */
  readonly selectableFields: readonly string[];
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  readonly tracksGeneration: boolean;
  /** Sent with every answer, such as that the version is deprecated. */
  readonly warning?: string | undefined;
  /** Its definition is being deleted: nothing new can be created. */
  readonly isTerminating?: boolean;
  readonly behaviour: Behaviour;
}

/** What sets a built-in type apart from a plain stored object; all pure. */
export interface Behaviour {
  /** Field values that an empty object has in the real server's types; they belong to no field manager. */
  readonly emptyObject?: Readonly<Record<string, unknown>>;
  /** An unconditional PUT is allowed. */
  readonly unconditionalUpdate?: boolean;
  /** Normalises an object before it is checked, such as `stringData` of Secrets. */
  readonly prepare?: (object: ApiObject, old: ApiObject | undefined) => ApiObject;
  /** Changes an object when its deletion is asked for, such as a finalizer of the server's own. */
  readonly beforeDelete?: (object: ApiObject) => ApiObject;
  readonly validate?: (object: ApiObject, old: ApiObject | undefined) => readonly FieldError[];
  /** Only for a type that is stored in another type's shape. */
  readonly toStored?: (object: ApiObject) => ApiObject;
  readonly fromStored?: (object: ApiObject) => ApiObject;
}

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** JSON text of a stored object as this type shows it: the stored text wherever that is the same. */
export function textAs(type: ResourceType, stored: StoredObject): string {
  const same = type.behaviour.fromStored === undefined && stored.apiVersion === apiVersionOf(type);
  return same ? stored.text : JSON.stringify(shownAs(type, stored.object));
}

/** The stored object as this type shows it. */
export function shownAs(type: ResourceType, stored: ApiObject): ApiObject {
  const object = type.behaviour.fromStored?.(stored) ?? stored;
  const apiVersion = apiVersionOf(type);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}
