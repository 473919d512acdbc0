import type { Clock } from '../../../common/clock.ts';
import { expired } from '../api-error.ts';
import { crdType } from '../builtin/crd-type.ts';
import type { Change, ChangeType } from '../store/history.ts';
import type { Store } from '../store/store.ts';
import { StoredObject } from '../store/stored-object.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import { alarm } from './alarm.ts';
import { selectorOf } from './list.ts';
import { checkWatchOptions, parseNumber, parseVersion } from './list-options.ts';

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

export interface WatchTimes {
  /** For measuring. */
  readonly monotonic: Clock;
  /** Between two bookmarks. */
  readonly bookmarkMs: number;
}

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
    timeoutMs: 1_000 * (parseNumber(query.get('timeoutSeconds')) ?? 1_800),
  };
}

/** Sends the events of a watch until it times out, the store ends it or `stop` is called, which is returned. */
export function startWatch(
  store: Store,
  request: WatchRequest,
  sink: Sink,
  { monotonic, bookmarkMs }: WatchTimes,
): () => void {
  const { type, from } = request;
  if (from !== undefined && from !== 0 && from < store.compactedRevision) {
    sink.notice('ERROR', expired(`too old resource version: ${from} (${store.compactedRevision})`).toStatus());
    sink.end();
    return () => {};
  }
  const bookmark = (annotations?: Record<string, string>) => {
    if (store.revision < (from ?? 0)) return;
    const metadata = { resourceVersion: String(store.revision), ...(annotations && { annotations }) };
    sink.notice('BOOKMARK', { kind: type.kind, apiVersion: apiVersionOf(type), metadata });
  };
  if (from === undefined) sendCurrent(store, request, sink);
  else for (const change of from === 0 ? [] : store.since(from)) sendChange(change, request, sink);
  if (request.marksInitialEvents) bookmark({ 'k8s.io/initial-events-end': 'true' });
  const end = () => {
    stop();
    sink.end();
  };
  const unsubscribe = store.subscribe((change) => {
    // A store that was restored gives revisions again that this client has seen, and does not know it: nor do bookmarks tell.
    if (change.revision > (from ?? 0)) sendChange(change, request, sink);
    if (endsType(change, type)) end();
  }, end);
  const timeout = alarm(monotonic, request.timeoutMs, end);
  const ticker = request.bookmarks ? repeat(monotonic, bookmarkMs, bookmark) : undefined;
  const stop = () => {
    unsubscribe();
    ticker?.();
    timeout();
  };
  return stop;
}

function repeat(clock: Clock, ms: number, ring: () => void): () => void {
  const next = () =>
    alarm(clock, ms, () => {
      prevent = next();
      ring();
    });
  let prevent = next();
  return () => prevent();
}

function sendCurrent(store: Store, { type, namespace, matches }: WatchRequest, sink: Sink): void {
  for (const stored of store.list(type.storage, namespace)) {
    if (matches(stored)) sink.event('ADDED', stored);
  }
}

/** The definition has gone, and all of its objects before it. */
function endsType({ storage, type, current }: Change, { plural, group }: ResourceType): boolean {
  return type === 'DELETED' && storage === crdType.storage && current.object.metadata.name === `${plural}.${group}`;
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
  else if (before) sink.event('DELETED', change.type === 'DELETED' ? current : asItWas(previous, change.revision));
}

/** What a selector does not select any more is told as it was when it did, with the version of the change. */
function asItWas({ object }: StoredObject, revision: number): StoredObject {
  return StoredObject.of({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}
