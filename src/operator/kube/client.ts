import type { Clock } from '../../common/clock.ts';
import type { Runtime } from '../../common/runtime.ts';
import type {
  DeleteOptions,
  ListAllOptions,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WatchOptions,
  WriteOptions,
} from './client-options.ts';
import type { KubeConnection, KubeRequest, KubeResponse } from './connection.ts';
import {
  AnswerTooLargeError,
  isGone,
  isNotFound,
  KubeConnectionError,
  type KubeError,
  StoodStillError,
} from './errors.ts';
import type { History } from './history.ts';
import { collectionPath, objectPath } from './paths.ts';
import { Pulse } from './pulse.ts';
import { errorFromResponse } from './status.ts';
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from './types.ts';
import { decodeWatch, type WatchEvent } from './watch.ts';

export type {
  DeleteOptions,
  ListAllOptions,
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

/** A page of a list is held whole, as text and parsed, and parsed in one go: two objects of the largest size that etcd takes. */
const mostPageBytes = 3 * 1024 * 1024;

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
  readonly #monotonic: Clock;
  readonly #pulse: Pulse;

  constructor(connection: KubeConnection, { monotonic }: Pick<Runtime, 'monotonic'>) {
    this.#connection = connection;
    this.#monotonic = monotonic;
    this.#pulse = new Pulse(monotonic);
  }

  get history(): History {
    return this.#connection.history;
  }

  /** One page. Items get the apiVersion and kind that lists leave out. */
  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, signal, mostBytes, metadataOnly, ...query } = options;
    const doing = `listing ${type.plural}${namespace === undefined ? '' : ` in ${namespace}`}`;
    const path = collectionPath(type, namespace, query);
    const limits = mostBytes === undefined ? {} : { mostBytes };
    const body = await this.#json({ method: 'GET', path, ...acceptOf('List', metadataOnly), ...limits, doing, signal });
    return toList<T>(type, doing, body);
  }

  /**
   * Every page, `pageSize` (default 500) objects each, fewer where they are large; starts again when the pages expire on
   * the way. Of each object only what `keep` makes of it is held longer than its page; undefined leaves it out.
   */
  async listAll<T extends KubeObject>(type: ResourceType, options: ListAllOptions<T> = {}): Promise<ObjectList<T>> {
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
   * The events until the server ends the watch. Iterating throws like the other methods, and a StoodStillError where it ended, or
   * was answered, while the process stood still; leaving the loop or aborting the signal closes the connection.
   */
  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, silenceTimeoutMs = 150_000, metadataOnly, ...query } = options;
    const doing = `watching ${type.plural}${namespace === undefined ? '' : ` in ${namespace}`}`;
    const path = collectionPath(type, namespace, { ...query, watch: true });
    const how = { doing, silenceTimeoutMs, signal, watch: true, ...acceptOf('', metadataOnly) };
    using pulse = this.#pulse.follow(silenceTimeoutMs);
    const check = (cause?: unknown) => {
      if (pulse.stoodStill()) throw new StoodStillError(doing, cause);
    };
    try {
      const response = await this.#connection.request({ method: 'GET', path, ...how });
      try {
        if (response.status !== 200) throw await refusalOf(doing, response);
        check();
        for await (const event of decodeWatch<T>(doing, response.body)) {
          if (event.type === 'ERROR') check(event.error);
          yield event;
        }
      } finally {
        response.destroy();
      }
    } catch (error) {
      if (error instanceof KubeConnectionError && signal?.aborted !== true) check(error);
      throw error;
    }
    check();
  }

  async #listPages<T extends KubeObject>(type: ResourceType, options: ListAllOptions<T>): Promise<ObjectList<T>> {
    const {
      pageSize = 500,
      resourceVersion,
      resourceVersionMatch,
      keep = (object: T) => object,
      ...selection
    } = options;
    const items: T[] = [];
    let limit = pageSize;
    let from: ListOptions = { resourceVersion, resourceVersionMatch };
    for (;;) {
      const page = await this.#page<T>(type, { ...selection, ...from, limit });
      if (page === undefined) {
        limit = Math.ceil(limit / 4);
        continue;
      }
      for (const item of page.items) {
        const kept = keep(item);
        if (kept !== undefined) items.push(kept);
      }
      if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
      limit = Math.min(pageSize, limit * 2);
      from = { continue: page.continue };
    }
  }

  /** Undefined when it is too large to be held, and could be smaller. */
  async #page<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions & { readonly limit: number },
  ): Promise<ObjectList<T> | undefined> {
    try {
      return await this.list<T>(type, { ...options, ...(options.limit > 1 ? { mostBytes: mostPageBytes } : {}) });
    } catch (error) {
      if (error instanceof AnswerTooLargeError) return undefined;
      throw error;
    }
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
      await this.#monotonic.sleep(waitMs, request.signal);
    }
  }
}

/** How to ask for metadata only. */
function acceptOf(suffix: 'List' | '', metadataOnly = false): { readonly accept?: string } {
  return metadataOnly ? { accept: `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1` } : {};
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
