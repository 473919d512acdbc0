import { omit } from './json.ts';
import type { Page } from './list.ts';
import type { ApiObject } from './object.ts';
import { apiVersionOf, type ResourceType } from './resource-type.ts';
import { tableOf } from './table.ts';

/** In which shape the client wants objects: as they are, as rows of a table, or their metadata only. */
export interface Presentation {
  object(object: ApiObject): object;
  /** Like `object`; rows after the first need no column definitions. */
  event(object: ApiObject, first: boolean): object;
  list(page: Page): object;
}

/** Picks the shape from the Accept header and, for tables, `includeObject`. */
export function presentationOf(
  accept: string,
  query: URLSearchParams,
  type: ResourceType,
  now: () => number,
): Presentation {
  for (const range of accept.split(',')) {
    const as = /;\s*as=(\w+)/.exec(range)?.[1];
    if (as === 'Table') return tablePresentation(type, query.get('includeObject') ?? 'Metadata', now);
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return metadataPresentation;
    if (/application\/json|\*\/\*/.test(range)) break;
  }
  return plainPresentation(type);
}

function listMeta(page: Page): object {
  return {
    resourceVersion: page.resourceVersion,
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

const plainPresentation = (type: ResourceType): Presentation => ({
  object: (object) => object,
  event: (object) => object,
  list: (page) => ({
    kind: type.listKind,
    apiVersion: apiVersionOf(type),
    metadata: listMeta(page),
    items: page.items.map((item) => (type.custom ? item : omit(item, 'apiVersion', 'kind'))),
  }),
});

const partial = ({ metadata }: ApiObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

const metadataPresentation: Presentation = {
  object: partial,
  event: partial,
  list: (page) => ({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMeta(page),
    items: page.items.map(partial),
  }),
};

function tablePresentation(type: ResourceType, include: string, now: () => number): Presentation {
  const shown = (object: ApiObject) =>
    include === 'Object' ? object : include === 'None' ? undefined : partial(object);
  const table = (objects: readonly ApiObject[], metadata: object, withColumns: boolean) =>
    tableOf(type, objects, metadata, { shown, withColumns, now: now() });
  const versionOf = ({ metadata }: ApiObject) => ({ resourceVersion: metadata.resourceVersion });
  return {
    object: (object) => table([object], versionOf(object), true),
    event: (object, first) => table([object], versionOf(object), first),
    list: (page) => table(page.items, listMeta(page), true),
  };
}
