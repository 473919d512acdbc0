import type { Clock } from '../../common/clock.ts';
import type { Runtime } from '../../common/runtime.ts';
import type {
  DeleteOptions,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WatchOptions,
  WriteOptions,
} from './client-options.ts';
import type { KubeConnection, KubeRequest, KubeResponse } from './connection.ts';
import { isGone, isNotFound, KubeConnectionError, type KubeError } from './errors.ts';
import { collectionPath, objectPath } from './paths.ts';
import { errorFromResponse } from './status.ts';
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from './types.ts';
import { decodeWatch, type WatchEvent } from './watch.ts';

export type {
  DeleteOptions,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from './client-options.ts';
export type { WatchEvent } from './watch.ts';

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const callTimeoutMs = 30_000;
const maxAttempts = 5;
/** Longer requests to wait are left to the caller's own backoff. */
const maxRetryAfterMs = 10_000;

/**
 * Reads and writes objects. Throws a KubeError when the server refused, a KubeConnectionError when there was no usable
 * answer, and the signal's reason when it aborted. 429 and 503 with Retry-After are waited for and tried again a few
 * times, for every verb, because the server did not act; nothing else is ever sent again.
 */
export class KubeClient {
  readonly #connection: KubeConnection;
  readonly #clock: Clock;

  constructor(connection: KubeConnection, { clock }: Pick<Runtime, 'clock'>) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** One page. Items get the apiVersion and kind that lists leave out. */
  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, signal, ...query } = options;
    const doing = `listing ${type.plural}${namespace === undefined ? '' : ` in ${namespace}`}`;
    const body = await this.#json({ method: 'GET', path: collectionPath(type, namespace, query), doing, signal });
    return toList<T>(type, doing, body);
  }

  /** Every page, `pageSize` (default 500) objects each; starts again when the pages expire on the way. */
  async listAll<T extends KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, 'limit' | 'continue'> & { readonly pageSize?: number } = {},
  ): Promise<ObjectList<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#listPages<T>(type, options);
      } catch (error) {
        if (!isGone(error) || attempt === 3) throw error;
      }
    }
  }

  /** Undefined when there is no such object. */
  async get<T extends KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    const doing = `getting ${nameOf(type, ref)}`;
    return this.#unlessNotFound(
      this.#object<T>({ method: 'GET', path: objectPath(type, ref, undefined), doing, signal: options.signal }),
    );
  }

  async create<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name, generateName } = object.metadata;
    const doing = `creating ${nameOf(type, { namespace, name: name ?? `${generateName}*` })}`;
    const path = collectionPath(type, namespace, writeQuery(options));
    return this.#object<T>({ method: 'POST', path, ...jsonBody(object), doing, signal: options.signal });
  }

  /** Replaces the object; with its resourceVersion, only if nobody else wrote since. */
  async update<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(type, object.metadata, options.subresource, writeQuery(options));
    const doing = `updating ${nameOf(type, object.metadata)}`;
    return this.#object<T>({ method: 'PUT', path, ...jsonBody(object), doing, signal: options.signal });
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const apply = patch.type === 'apply' ? { fieldManager: patch.fieldManager, force: patch.force } : {};
    return this.#object<T>({
      method: 'PATCH',
      path: objectPath(type, ref, options.subresource, { ...writeQuery(options), ...apply }),
      ...jsonBody(patch.body, patchTypes[patch.type]),
      doing: `patching ${nameOf(type, ref)}${options.subresource === undefined ? '' : ` ${options.subresource}`}`,
      signal: options.signal,
    });
  }

  /** Undefined when there was no such object; otherwise what the server answered (the object, or a Status). */
  async delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions = {}): Promise<unknown> {
    const { preconditions, propagationPolicy, signal } = options;
    const body = jsonBody({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy });
    const doing = `deleting ${nameOf(type, ref)}`;
    const request = { method: 'DELETE', path: objectPath(type, ref, undefined), ...body, doing, signal } as const;
    return this.#unlessNotFound(this.#json(request));
  }

  /**
   * The events until the server ends the watch. Iterating throws like the other methods; leaving the loop or aborting
   * the signal closes the connection.
   */
  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, silenceTimeoutMs = 150_000, ...query } = options;
    const doing = `watching ${type.plural}${namespace === undefined ? '' : ` in ${namespace}`}`;
    const path = collectionPath(type, namespace, { ...query, watch: true });
    const response = await this.#connection.request({
      method: 'GET',
      path,
      watch: true,
      doing,
      silenceTimeoutMs,
      signal,
    });
    try {
      if (response.status !== 200) throw await refusalOf(doing, response);
      yield* decodeWatch<T>(doing, response.body);
    } finally {
      response.destroy();
    }
  }

  async #listPages<T extends KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, 'limit' | 'continue'> & { readonly pageSize?: number },
  ): Promise<ObjectList<T>> {
    const { pageSize = 500, resourceVersion, resourceVersionMatch, ...selection } = options;
    const first = { ...selection, resourceVersion, resourceVersionMatch, limit: pageSize };
    let page = await this.list<T>(type, first);
    const items = [...page.items];
    while (page.continue !== undefined) {
      page = await this.list<T>(type, { ...selection, limit: pageSize, continue: page.continue });
      for (const item of page.items) items.push(item);
    }
    return { items, resourceVersion: page.resourceVersion };
  }

  async #unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #object<T extends KubeObject>(request: Omit<KubeRequest, 'silenceTimeoutMs'>): Promise<T> {
    const body = await this.#json(request);
    if (isObject(body)) return body as T;
    throw new KubeConnectionError(request.doing, new Error('the answer is not an object with metadata'));
  }

  async #json(request: Omit<KubeRequest, 'silenceTimeoutMs'>): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.#connection.request({ ...request, silenceTimeoutMs: callTimeoutMs });
      if (response.status < 300) return parseJson(request.doing, await response.text());
      const error = await refusalOf(request.doing, response);
      const waitMs = attempt < maxAttempts ? retryWaitMs(error) : undefined;
      if (waitMs === undefined) throw error;
      await this.#clock.sleep(waitMs, request.signal);
    }
  }
}

async function refusalOf(doing: string, response: KubeResponse): Promise<KubeError> {
  return errorFromResponse(doing, response.status, response.retryAfter, await response.text());
}

function retryWaitMs(error: KubeError): number | undefined {
  if (error.status !== 429 && error.status !== 503) return undefined;
  const { retryAfterMs } = error;
  return retryAfterMs !== undefined && retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
}

function parseJson(doing: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new KubeConnectionError(doing, new Error('the answer is not JSON', { cause: error }));
  }
}

function toList<T extends KubeObject>(type: ResourceType, doing: string, body: unknown): ObjectList<T> {
  const { items, metadata } = (body ?? {}) as {
    items?: unknown;
    metadata?: { resourceVersion?: string; continue?: string };
  };
  if (!(Array.isArray(items) || items === null) || typeof metadata?.resourceVersion !== 'string') {
    throw new KubeConnectionError(doing, new Error('the answer is not a list'));
  }
  const filled = (items ?? []).map((item: T) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
  const more = metadata.continue ? { continue: metadata.continue } : {};
  return { items: filled, resourceVersion: metadata.resourceVersion, ...more };
}

function isObject(body: unknown): boolean {
  return typeof (body as KubeObject | null)?.metadata?.name === 'string';
}

function writeQuery(options: WriteOptions) {
  return { fieldValidation: options.fieldValidation, dryRun: options.dryRun ? 'All' : undefined };
}

function jsonBody(
  body: unknown,
  contentType = 'application/json',
): { readonly body: string; readonly contentType: string } {
  return { body: JSON.stringify(body), contentType };
}

function nameOf(type: ResourceType, ref: ObjectRef): string {
  return `${type.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
}
