import type { Readable } from 'node:stream';
import { readText } from '../../common/http/body.ts';
import { PermittedSending } from '../../common/http/permitted-sending.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import { CredentialCache } from './credential-cache.ts';
import { type Credentials, findAccess } from './credentials.ts';
import { AnswerTooLargeError, KubeConnectionError } from './errors.ts';
import { History } from './history.ts';
import { Semaphore } from './semaphore.ts';
import { maxConnections, type Transport, Transports } from './transport.ts';

/** One HTTP request to the API server. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query, without the server: `/api/v1/namespaces/default/pods?limit=5`. */
  readonly path: string;
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Of the answer, which fails when it is longer; default no bound. */
  readonly mostBytes?: number;
  readonly body?: string;
  /** What is being done, for errors: `patching ReservedAddr default/a`. */
  readonly doing: string;
  /** Longest silence, before the answer and within it. */
  readonly silenceTimeoutMs: number;
  /** A watch holds a stream of a shared connection, or where the server speaks HTTP/1.1 a connection, for as long as it lasts. */
  readonly watch?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, whatever its status. Reading it fails with a KubeConnectionError. */
export interface KubeResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Of a watch, which must be read to its end or `destroy`ed; any other answer has been read already, see `text`. */
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  destroy(): void;
}

/** Called before a request is sent; what it throws is thrown to the caller and nothing is sent. */
export type Guard = (request: KubeRequest) => void;

export interface KubeConnection {
  /** `https://host:port`, without a slash at the end. */
  readonly server: string;
  /** The pod's own namespace in a cluster, else the context's, else `default`. */
  readonly namespace: string;
  readonly inCluster: boolean;
  /** Of the server: one, however many connections there are to it. */
  readonly history: History;
  /**
   * Sends one request and resolves when the answer is there (of a watch, its headers). A 401 renews the credentials and is
   * tried once more; nothing else is ever sent twice.
   */
  request(request: KubeRequest): Promise<KubeResponse>;
  /** The same connections behind another guard; closing either closes both. */
  withGuard(guard: Guard): KubeConnection;
  /** The same server by connections of its own: calls there never wait for others, however long those hang. */
  apart(): KubeConnection;
  /** Ends every request and watch, but those on a dispatcher that was given. */
  close(): Promise<void>;
}

export interface ConnectOptions extends Pick<Runtime, 'monotonic' | 'dispatcher' | 'env' | 'readFile'> {
  /** Path of a kubeconfig; without it in-cluster, else the default kubeconfig. */
  readonly kubeconfig?: string | undefined;
  readonly userAgent: string;
  readonly guard?: Guard | undefined;
  readonly log: Log;
}

/** Finds the cluster and how to authenticate to it; sends nothing yet. Throws a KubeConfigError. */
export async function connect(options: ConnectOptions): Promise<KubeConnection> {
  const access = await findAccess(options.kubeconfig, options);
  await access.check();
  const { origin, pathname } = new URL(access.server);
  const shared = {
    ...access,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    userAgent: options.userAgent,
    log: options.log,
    credentials: new CredentialCache(access, options.monotonic),
    transports: new Transports(access.proxyURL, options.dispatcher),
    calls: new Semaphore(maxConnections),
    history: new History(options.monotonic),
  };
  return new Connection(shared, options.guard);
}

interface Shared {
  readonly server: string;
  /** The two parts of `server`: a path, without a slash at its end, where a proxy stands before several. */
  readonly origin: string;
  readonly basePath: string;
  readonly namespace: string;
  readonly inCluster: boolean;
  readonly userAgent: string;
  readonly log: Log;
  readonly credentials: CredentialCache;
  readonly transports: Transports;
  readonly calls: Semaphore;
  readonly history: History;
}

class Connection implements KubeConnection {
  readonly #shared: Shared;
  readonly #guard: Guard | undefined;
  /** What carries calls; watches have theirs in any case. */
  readonly #pool: keyof Transport;

  constructor(shared: Shared, guard: Guard | undefined, pool: keyof Transport = 'calls') {
    this.#shared = shared;
    this.#guard = guard;
    this.#pool = pool;
  }

  get server(): string {
    return this.#shared.server;
  }

  get namespace(): string {
    return this.#shared.namespace;
  }

  get inCluster(): boolean {
    return this.#shared.inCluster;
  }

  get history(): History {
    return this.#shared.history;
  }

  withGuard(guard: Guard): KubeConnection {
    return new Connection(this.#shared, guard, this.#pool);
  }

  apart(): KubeConnection {
    return new Connection({ ...this.#shared, calls: new Semaphore(maxConnections) }, this.#guard, 'apart');
  }

  async request(request: KubeRequest): Promise<KubeResponse> {
    const { calls, history } = this.#shared;
    if (request.watch) return history.note(() => this.#authenticated(request));
    await calls.acquire();
    try {
      return await history.note(() => this.#read(request));
    } finally {
      calls.release();
    }
  }

  close(): Promise<void> {
    return this.#shared.transports.close();
  }

  async #read(request: KubeRequest): Promise<KubeResponse> {
    const response = await this.#authenticated(request);
    const text = await response.text();
    return { ...response, text: async () => text };
  }

  async #authenticated(request: KubeRequest): Promise<KubeResponse> {
    const { credentials, log } = this.#shared;
    const first = await this.#credentials(request, () => credentials.get());
    const response = await this.#send(request, first);
    if (response.status !== 401) return response;
    response.destroy();
    log.debug('the API server refused the credentials; reading them again');
    return this.#send(request, await this.#credentials(request, () => credentials.renew(first)));
  }

  async #credentials(request: KubeRequest, read: () => Promise<Credentials>): Promise<Credentials> {
    try {
      return await read();
    } catch (error) {
      throw new KubeConnectionError(`${request.doing}: reading credentials`, error);
    }
  }

  async #send(request: KubeRequest, credentials: Credentials): Promise<KubeResponse> {
    const transport = this.#shared.transports.for(credentials.tls);
    request.signal?.throwIfAborted();
    // So that nothing is connected in vain; and again once connected, which may have taken seconds.
    this.#guard?.(request);
    const sending = new PermittedSending(() => this.#guard?.(request));
    try {
      const answer = this.#dispatch(request, transport, credentials, sending);
      // What still waits for a connection hears of an abort from undici only when it has one.
      return await unlessAborted(
        answer.then((arrived) => responseOf(request, arrived)),
        request.signal,
      );
    } catch (error) {
      throw sending.isRefused ? sending.refusal : failure(request, error);
    }
  }

  #dispatch(request: KubeRequest, transport: Transport, credentials: Credentials, { interceptor }: PermittedSending) {
    const { method, path, body, contentType, accept = 'application/json', silenceTimeoutMs, signal } = request;
    return transport[request.watch ? 'watches' : this.#pool].compose(interceptor).request({
      origin: this.#shared.origin,
      path: this.#shared.basePath + path,
      method,
      headers: {
        ...credentials.headers,
        accept,
        'user-agent': this.#shared.userAgent,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      body: body ?? null,
      headersTimeout: headersTimeoutOf(request),
      bodyTimeout: silenceTimeoutMs,
      // Else undici closes the connection after every DELETE that has a body.
      reset: false,
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

type KubeAnswer = Awaited<ReturnType<Transport['calls']['request']>>;

function responseOf(request: KubeRequest, answer: KubeAnswer): KubeResponse {
  const { statusCode, headers, body } = answer;
  const retryAfter = headers['retry-after'];
  // An unread body that fails later (the signal aborts, the socket breaks) must not end the process.
  body.on('error', () => {});
  return {
    status: statusCode,
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    body: translated(request, body),
    text: () => textOf(request, body),
    destroy: () => body.destroy(),
  };
}

async function textOf(request: KubeRequest, body: Readable): Promise<string> {
  const { mostBytes = Number.POSITIVE_INFINITY, doing } = request;
  const text = await readText(body, mostBytes).catch((error: unknown) => {
    throw failure(request, error);
  });
  if (text === undefined) throw new AnswerTooLargeError(doing, mostBytes);
  return text;
}

async function* translated(request: KubeRequest, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(request, error);
  }
}

/** An abort by the caller stays what it was; everything else is a failed connection. */
function failure(request: KubeRequest, error: unknown): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  const code = (error as { readonly code?: unknown } | null)?.code;
  const limits = new Map<unknown, number>([
    ['UND_ERR_HEADERS_TIMEOUT', headersTimeoutOf(request)],
    ['UND_ERR_BODY_TIMEOUT', request.silenceTimeoutMs],
  ]);
  const limitMs = limits.get(code);
  if (limitMs === undefined) return new KubeConnectionError(request.doing, error);
  const silence = new Error(`the API server was silent for ${limitMs / 1_000} s`, { cause: error });
  return new KubeConnectionError(request.doing, silence, true);
}

/** A server that works begins its answer at once, however long a watch may then be silent. */
function headersTimeoutOf(request: KubeRequest): number {
  return Math.min(request.silenceTimeoutMs, 30_000);
}
