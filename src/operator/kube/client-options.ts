import type { KubeObject } from './types.ts';

/** Which objects of a type. */
export interface Selection {
  /** Without it, all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only `metadata` is sent: what else is in the objects never comes here. */
  readonly metadataOnly?: boolean | undefined;
}

export interface ListOptions extends Selection {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  /** Of the answer, which fails with an AnswerTooLargeError when it is longer. */
  readonly mostBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListAllOptions<T extends KubeObject> extends Omit<ListOptions, 'limit' | 'continue' | 'mostBytes'> {
  /** Objects in a page; default 500. */
  readonly pageSize?: number | undefined;
  /** What is kept of an object; undefined leaves it out. Default all of it. */
  readonly keep?: (object: T) => T | undefined;
}

export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Present when there is another page. */
  readonly continue?: string;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  /** A list within the watch: ADDED for every object, then a BOOKMARK annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds?: number | undefined;
  /** Longest silence before the watch fails as timed out; default 150 s (bookmarks come every minute). */
  readonly silenceTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends ReadOptions {
  readonly subresource?: 'status' | undefined;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface DeleteOptions extends ReadOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

/** `json` is RFC 6902, `merge` RFC 7386, `apply` server-side apply. */
export type Patch =
  | { readonly type: 'merge'; readonly body: unknown }
  | { readonly type: 'json'; readonly body: readonly unknown[] }
  | { readonly type: 'apply'; readonly body: unknown; readonly fieldManager: string; readonly force?: boolean };
