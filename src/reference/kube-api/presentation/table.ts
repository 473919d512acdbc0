import type { ApiObject } from '../object.ts';
import type { Column, ResourceType } from '../types/resource-type.ts';

export interface TableOptions {
  /** What each row carries besides its cells. */
  readonly shown: (object: ApiObject) => object | undefined;
  readonly withColumns: boolean;
  /** Milliseconds since the epoch; ages are counted from it. */
  readonly now: number;
}

/** A `meta.k8s.io/v1` Table: what `kubectl get` prints. */
export function tableOf(
  type: ResourceType,
  objects: readonly ApiObject[],
  metadata: object,
  options: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.withColumns ? type.columns.map((column) => definition(column, type)) : null,
    rows: objects.map((object) => ({
      cells: type.columns.map((column) => column.cell(object, options.now)),
      object: options.shown(object),
    })),
  };
}

function definition({ name, type, format, description, priority }: Column, resource: ResourceType) {
  const documented = name === 'Name' ? resource.schema.properties?.metadata?.properties?.name?.description : undefined;
  return { name, type, format: format ?? '', description: description ?? documented ?? '', priority: priority ?? 0 };
}
