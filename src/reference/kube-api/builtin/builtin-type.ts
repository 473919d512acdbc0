import { ageColumn, nameColumn } from '../presentation/columns.ts';
import type { Structural } from '../schema/structural.ts';
import type { Behaviour, Column, ResourceType } from '../types/resource-type.ts';

export interface BuiltinSpec {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly schema: Structural;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced?: boolean;
  readonly hasStatus?: boolean;
  readonly storage?: string;
  /** Columns between NAME and AGE; all columns when `allColumns` is set. */
  readonly columns?: readonly Column[];
  readonly allColumns?: readonly Column[];
  readonly selectableFields?: readonly string[];
  readonly tracksGeneration?: boolean;
  readonly behaviour?: Behaviour;
}

/** A built-in type from what sets it apart: namespaced and plain unless it says otherwise. */
export function builtinType(spec: BuiltinSpec): ResourceType {
  return {
    group: spec.group,
    version: spec.version,
    plural: spec.plural,
    singular: spec.kind.toLowerCase(),
    kind: spec.kind,
    listKind: `${spec.kind}List`,
    shortNames: spec.shortNames ?? [],
    categories: spec.categories ?? [],
    namespaced: spec.namespaced ?? true,
    hasStatus: spec.hasStatus ?? false,
    storage: spec.storage ?? `${spec.group}/${spec.plural}`,
    schema: spec.schema,
    columns: spec.allColumns ?? [nameColumn, ...(spec.columns ?? []), ageColumn],
    selectableFields: spec.selectableFields ?? [],
    custom: false,
    tracksGeneration: spec.tracksGeneration ?? false,
    behaviour: { unconditionalUpdate: true, ...spec.behaviour },
  };
}
