import { omit } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Page } from '../reads/list.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { apiVersionOf, type ResourceType, shownAs, textAs } from '../types/resource-type.ts';
import { tableOf } from './table.ts';

/** In which shape the client wants objects: as they are, as rows of a table, or their metadata only; as JSON text. */
export interface Presentation {
  /** Presentations of one type with the same name give the same text. */
  readonly name: string;
  object(object: ApiObject): string;
  /** Like `object`; rows after the first need no column definitions. */
  event(stored: StoredObject, first: boolean): string;
  list(page: Page): string;
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
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return metadataPresentation(type);
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

/** A list whose items are JSON texts already. */
function listText(kind: string, apiVersion: string, page: Page, items: readonly string[]): string {
  const head = JSON.stringify({ kind, apiVersion, metadata: listMeta(page) });
  return `${head.slice(0, -1)},"items":[${items.join(',')}]}`;
}

function plainPresentation(type: ResourceType): Presentation {
  const bare = (stored: StoredObject) => JSON.stringify(omit(shownAs(type, stored.object), 'apiVersion', 'kind'));
  const item = type.custom ? (stored: StoredObject) => textAs(type, stored) : bare;
  return {
    name: 'plain',
    object: (object) => JSON.stringify(object),
    event: (stored) => textAs(type, stored),
    list: (page) => listText(type.listKind, apiVersionOf(type), page, page.items.map(item)),
  };
}

const partial = ({ metadata }: ApiObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

function metadataPresentation(type: ResourceType): Presentation {
  const event = (stored: StoredObject) => JSON.stringify(partial(shownAs(type, stored.object)));
  return {
    name: 'metadata',
    object: (object) => JSON.stringify(partial(object)),
    event,
    list: (page) => listText('PartialObjectMetadataList', 'meta.k8s.io/v1', page, page.items.map(event)),
  };
}

function tablePresentation(type: ResourceType, include: string, now: () => number): Presentation {
  const shown = (object: ApiObject) =>
    include === 'Object' ? object : include === 'None' ? undefined : partial(object);
  const table = (objects: readonly ApiObject[], metadata: object, withColumns: boolean) =>
    JSON.stringify(tableOf(type, objects, metadata, { shown, withColumns, now: now() }));
  const one = (object: ApiObject, withColumns: boolean) =>
    table([object], { resourceVersion: object.metadata.resourceVersion }, withColumns);
  return {
    name: `table of ${include}`,
    object: (object) => one(object, true),
    event: (stored, first) => one(shownAs(type, stored.object), first),
    list: (page) =>
      table(
        page.items.map(({ object }) => shownAs(type, object)),
        listMeta(page),
        true,
      ),
  };
}
