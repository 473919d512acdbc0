import { badRequest, expired } from '../api-error.ts';
import type { Store } from '../store/store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ResourceType, shownAs } from '../types/resource-type.ts';
import { checkListOptions, checkReached, parseNumber, parseVersion } from './list-options.ts';
import { fieldSelector, labelSelector } from './selectors.ts';

export interface Page {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
  readonly remaining: number | undefined;
}

/** The label and field selectors of a request as one predicate. Throws 400 when they cannot be used. */
export function selectorOf(query: URLSearchParams, type: ResourceType): (stored: StoredObject) => boolean {
  const byLabel = labelSelector(query.get('labelSelector') ?? '');
  const byField = fieldSelector(query.get('fieldSelector') ?? '', type);
  if (!isSelective(query)) return () => true;
  return (stored) => {
    const object = shownAs(type, stored.object);
    return byLabel(object) && byField(object);
  };
}

function isSelective(query: URLSearchParams): boolean {
  return Boolean(query.get('labelSelector') || query.get('fieldSelector'));
}

/** One page of a list; every page of a list shows the objects as they were when the first was read. */
export function listPage(
  store: Store,
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
): Page {
  checkListOptions(query);
  const limit = parseNumber(query.get('limit')) ?? 0;
  const from = continued(query, store);
  const revision = from?.rv ?? exactRevision(query, store) ?? store.revision;
  const stored =
    revision === store.revision ? store.list(type.storage, namespace) : store.listAt(revision, type.storage, namespace);
  const matches = selectorOf(query, type);
  const found = stored.filter((each) => (from === undefined || each.key > from.start) && matches(each));
  const items = limit > 0 ? found.slice(0, limit) : found;
  const last = items.at(-1);
  if (last === undefined || items.length === found.length) {
    return { items, resourceVersion: String(revision), continue: undefined, remaining: undefined };
  }
  return {
    items,
    resourceVersion: String(revision),
    continue: encodeToken({ rv: revision, start: last.key }),
    remaining: isSelective(query) ? undefined : found.length - items.length,
  };
}

/** The revision that the request insists on, if any. Throws 410 when it is forgotten and 504 when it is yet to come. */
function exactRevision(query: URLSearchParams, store: Store): number | undefined {
  const wanted = parseVersion(query, 'list');
  checkReached(wanted, store.revision);
  if (wanted === undefined || query.get('resourceVersionMatch') !== 'Exact') return undefined;
  if (wanted < store.compactedRevision) throw expired('The resourceVersion for the provided list is too old.');
  return wanted;
}

/** Where a page starts; a token of revision -1 goes on with the objects as they are now. */
interface Token {
  readonly rv: number;
  readonly start: string;
}

const latest = -1;

function encodeToken(token: Token): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');
}

const inconsistent =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function continued(query: URLSearchParams, store: Store): Token | undefined {
  const text = query.get('continue') ?? '';
  if (text === '') return undefined;
  if (parseVersion(query, 'list')) throw badRequest('specifying resource version is not allowed when using continue');
  const { rv, start } = parseToken(text);
  if (rv === latest) return { rv: store.revision, start };
  if (rv < store.compactedRevision) throw expired(inconsistent, encodeToken({ rv: latest, start }));
  return { rv, start };
}

function parseToken(text: string): Token {
  try {
    const token: Partial<Token> = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof token.rv === 'number' && typeof token.start === 'string') return { rv: token.rv, start: token.start };
  } catch {
    // Refused below like any other text that is no token.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
