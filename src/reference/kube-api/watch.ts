import { expired } from './api-error.ts';
import { selectorOf } from './list.ts';
import { checkWatchOptions, parseNumber, parseVersion } from './list-options.ts';
import { apiVersionOf, type ResourceType } from './resource-type.ts';
import type { Change, ChangeType, Store } from './store.ts';
import type { StoredObject } from './stored-object.ts';

/** Receives the events of one watch. */
export interface Sink {
  event(type: ChangeType, object: StoredObject): void;
  notice(type: 'BOOKMARK' | 'ERROR', object: object): void;
  end(): void;
}

export interface WatchRequest {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly matches: (stored: StoredObject) => boolean;
  /** Changes after this revision are sent; undefined starts with the current objects. */
  readonly from: number | undefined;
  /** A bookmark tells when the current objects were all sent. */
  readonly marksInitialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

/** A longer timer of Node fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Reads the watch parameters of a list request. Throws 400 or 422 when they make no sense. */
export function parseWatch(query: URLSearchParams, type: ResourceType, namespace: string | undefined): WatchRequest {
  checkWatchOptions(query);
  const initial = query.get('sendInitialEvents') === 'true';
  const version = parseVersion(query, 'watch');
  const bookmarks = query.get('allowWatchBookmarks') === 'true';
  const fromNow = query.get('sendInitialEvents') === 'false';
  return {
    type,
    namespace,
    matches: selectorOf(query, type),
    from: initial || (!fromNow && (version === undefined || version === 0)) ? undefined : (version ?? 0),
    marksInitialEvents: initial && bookmarks,
    bookmarks,
    timeoutMs: Math.min(1_000 * (parseNumber(query.get('timeoutSeconds')) ?? 1_800), longestTimerMs),
  };
}

/** Sends the events of a watch until it times out or `stop` is called, which is returned. */
export function startWatch(store: Store, request: WatchRequest, sink: Sink, bookmarkMs: number): () => void {
  const { type, from } = request;
  if (from !== undefined && from !== 0 && from < store.compactedRevision) {
    sink.notice('ERROR', expired(`too old resource version: ${from} (${store.compactedRevision})`).toStatus());
    sink.end();
    return () => {};
  }
  const bookmark = (annotations?: Record<string, string>) => {
    const metadata = { resourceVersion: String(store.revision), ...(annotations && { annotations }) };
    sink.notice('BOOKMARK', { kind: type.kind, apiVersion: apiVersionOf(type), metadata });
  };
  if (from === undefined) sendCurrent(store, request, sink);
  else for (const change of from === 0 ? [] : store.since(from)) sendChange(change, request, sink);
  if (request.marksInitialEvents) bookmark({ 'k8s.io/initial-events-end': 'true' });
  const unsubscribe = store.subscribe((change) => sendChange(change, request, sink));
  const ticker = request.bookmarks ? setInterval(bookmark, bookmarkMs) : undefined;
  const stop = () => {
    unsubscribe();
    clearInterval(ticker);
    clearTimeout(timeout);
  };
  const timeout = setTimeout(() => {
    stop();
    sink.end();
  }, request.timeoutMs);
  return stop;
}

function sendCurrent(store: Store, { type, namespace, matches }: WatchRequest, sink: Sink): void {
  for (const stored of store.list(type.storage, namespace)) {
    if (matches(stored)) sink.event('ADDED', stored);
  }
}

/** An object that starts or stops matching is added or deleted as far as this watch is concerned. */
function sendChange(change: Change, { type, namespace, matches }: WatchRequest, sink: Sink): void {
  if (change.storage !== type.storage) return;
  const { current, previous } = change;
  if (!current.isIn(namespace)) return;
  const before = previous !== undefined && matches(previous);
  const after = change.type !== 'DELETED' && matches(current);
  if (before && after) sink.event('MODIFIED', current);
  else if (after) sink.event('ADDED', current);
  else if (before) sink.event('DELETED', current);
}
