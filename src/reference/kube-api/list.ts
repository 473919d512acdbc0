import { ApiError, badRequest, expired, type FieldError, invalid } from './api-error.ts';
import { forbiddenField, notSupported } from './field-error.ts';
import { type ResourceType, shownAs } from './resource-type.ts';
import { fieldSelector, labelSelector } from './selectors.ts';
import type { Store } from './store.ts';
import type { StoredObject } from './stored-object.ts';

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
  checkVersionMatch(query);
  const limit = parseNumber(query.get('limit'));
  const token = query.get('continue') ?? '';
  const from = token === '' ? undefined : decodeToken(token, store);
  const revision = from?.rv ?? exactRevision(query, store) ?? store.revision;
  const stored =
    revision === store.revision ? store.list(type.storage, namespace) : store.listAt(revision, type.storage, namespace);
  const matches = selectorOf(query, type);
  const found = stored.filter((each) => (from === undefined || each.key > from.start) && matches(each));
  const items = limit === undefined || limit === 0 ? found : found.slice(0, limit);
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
  const wanted = parseNumber(query.get('resourceVersion'));
  if (wanted === undefined) return undefined;
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  if (query.get('resourceVersionMatch') !== 'Exact' || wanted === 0) return undefined;
  if (wanted < store.compactedRevision) throw expired('The resourceVersion for the provided list is too old.');
  return wanted;
}

/** Throws 422 when `resourceVersionMatch` makes no sense. */
function checkVersionMatch(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  if (match === '') return;
  const errors: FieldError[] = [];
  const forbid = (why: string) => errors.push(forbiddenField('resourceVersionMatch', `resourceVersionMatch ${why}`));
  if (version === '') forbid('is forbidden unless resourceVersion is provided');
  if (query.get('continue')) forbid('is forbidden when continue is provided');
  if (match === 'Exact' && version === '0') forbid('"exact" is forbidden for resourceVersion "0"');
  if (!['Exact', 'NotOlderThan'].includes(match))
    errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors);
}

function tooLarge(wanted: number, current: number): ApiError {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  return new ApiError(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' }],
    retryAfterSeconds: 1,
  });
}

interface Token {
  readonly rv: number;
  readonly start: string;
}

function encodeToken(token: Token): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');
}

function decodeToken(text: string, store: Store): Token {
  const token = parseToken(text);
  if (token.rv >= store.compactedRevision) return token;
  throw expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  );
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

export function parseNumber(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
