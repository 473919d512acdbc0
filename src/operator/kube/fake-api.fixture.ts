import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../common/log.ts';
import { type Runtime, systemRuntime } from '../../common/runtime.ts';
import { KubeClient } from './client.ts';
import { connect, type Guard, type KubeConnection } from './connection.ts';
import type { KubeObject, ResourceType } from './types.ts';

export const widgetType: ResourceType = {
  group: 'example.dev',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number };
  readonly status?: { readonly seen?: number };
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export const isWatch = ({ query }: SeenRequest): boolean => query.get('watch') === 'true';

type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** A stateful API server of one collection per path, with answers that can be scripted. */
export class FakeApi {
  readonly requests: SeenRequest[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #scripted: { readonly matches: (request: SeenRequest) => boolean; readonly answer: Answer }[] = [];
  readonly #objects = new Map<string, Record<string, unknown> & KubeObject>();
  readonly #watches = new Set<ServerResponse>();
  readonly #sockets = new Set<Socket>();
  readonly #folders: string[] = [];
  readonly #connections: KubeConnection[] = [];
  /** Whether the server knows `sendInitialEvents`. */
  streamsLists = true;
  connectionCount = 0;
  #version = 100;

  static async start(): Promise<FakeApi> {
    const api = new FakeApi();
    api.#server.on('connection', (socket) => {
      api.connectionCount++;
      api.#sockets.add(socket);
      socket.on('close', () => api.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'fake-api-'));
    this.#folders.push(folder);
    return folder;
  }

  async connection(user: object = { token: 'secret' }, guard?: Guard, server = this.url): Promise<KubeConnection> {
    const kubeconfig = join(await this.folder(), 'config');
    const config = {
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
      'current-context': 'x',
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const connection = await connect({ ...systemRuntime, kubeconfig, userAgent: 'test/1', log: silentLog, guard });
    this.#connections.push(connection);
    return connection;
  }

  async client(runtime: Pick<Runtime, 'monotonic'> = systemRuntime): Promise<KubeClient> {
    return new KubeClient(await this.connection(), runtime);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await Promise.all(this.#folders.map((folder) => rm(folder, { recursive: true })));
  }

  /** Answers the next request that matches. */
  script(matches: (request: SeenRequest) => boolean, answer: Answer): void {
    this.#scripted.push({ matches, answer });
  }

  /** What a user does behind the client's back: create or change, as a watch event too. */
  put(name: string, fields: Record<string, unknown> = {}, metadata: Partial<KubeObject['metadata']> = {}): Widget {
    const path = `/apis/example.dev/v1/namespaces/default/widgets/${name}`;
    const present = this.#objects.get(path);
    return this.#store(path, {
      apiVersion: 'example.dev/v1',
      kind: 'Widget',
      ...fields,
      metadata: { name, namespace: 'default', uid: present?.metadata.uid ?? `uid-${this.#version}`, ...metadata },
    });
  }

  remove(name: string, announce = true): void {
    this.#remove(`/apis/example.dev/v1/namespaces/default/widgets/${name}`, announce);
  }

  /** Any object is gone, by its path, and no watch tells. */
  forget(path: string): void {
    this.#remove(path, false);
  }

  #remove(path: string, announce: boolean): void {
    const object = this.#objects.get(path);
    this.#objects.delete(path);
    const metadata = { ...object?.metadata, resourceVersion: String(++this.#version) };
    if (announce) this.emit({ type: 'DELETED', object: { ...object, metadata } });
  }

  emit(event: object): void {
    for (const watch of this.#watches) watch.write(`${JSON.stringify(event)}\n`);
  }

  bookmark(): void {
    this.emit({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(++this.#version) } } });
  }

  dropWatches(how: 'end' | 'reset' = 'end'): void {
    for (const watch of this.#watches) {
      if (how === 'end') watch.end();
      else watch.socket?.resetAndDestroy();
    }
  }

  /** Returns how to go back to what is there now. Other versions were given since, by the time that anybody looks. */
  backup(): (dropped?: 'end' | 'reset') => void {
    const objects = [...this.#objects];
    return (dropped) => {
      this.#objects.clear();
      for (const [path, object] of objects) this.#objects.set(path, object);
      this.dropWatches(dropped);
      this.#watches.clear();
    };
  }

  /** As after the restore of a backup. */
  rewind(version: number): void {
    this.#version = version;
  }

  watchRequests(): readonly SeenRequest[] {
    return this.requests.filter(isWatch);
  }

  #store(path: string, object: Record<string, unknown> & KubeObject): Widget {
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    const metadata = {
      ...object.metadata,
      resourceVersion: String(++this.#version),
      managedFields: [{ manager: 'test', time: new Date().toISOString() }],
    };
    const stored = { ...object, metadata };
    this.#objects.set(path, stored);
    this.emit({ type, object: stored });
    return stored;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.url);
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method = 'GET', headers } = incoming;
    const request = { method, path: url.pathname, query: url.searchParams, headers, body };
    this.requests.push(request);
    const index = this.#scripted.findIndex(({ matches }) => matches(request));
    const [scripted] = index < 0 ? [] : this.#scripted.splice(index, 1);
    if (scripted !== undefined) scripted.answer(response, request);
    else if (isWatch(request)) this.#watch(request, response);
    else this.#call(request, response);
  }

  #call(request: SeenRequest, response: ServerResponse): unknown {
    const present = this.#objects.get(request.path);
    if (request.method === 'GET' && request.path.endsWith('s')) return this.#list(request, response);
    if (request.method === 'POST') {
      const object = JSON.parse(request.body);
      const path = `${request.path}/${object.metadata.name}`;
      if (this.#objects.has(path)) return status(response, 409, 'AlreadyExists');
      const metadata = { ...object.metadata, uid: `uid-${this.#version}` };
      return json(response, 201, this.#store(path, { ...object, metadata }));
    }
    if (present === undefined) return status(response, 404, 'NotFound');
    if (request.method === 'GET') return json(response, 200, present);
    if (request.method === 'DELETE') {
      this.#remove(request.path, true);
      return json(response, 200, { kind: 'Status', status: 'Success' });
    }
    const sent = JSON.parse(request.body);
    const expected = sent.metadata?.resourceVersion;
    if (expected !== undefined && expected !== present.metadata.resourceVersion)
      return status(response, 409, 'Conflict');
    const base = request.method === 'PUT' ? {} : present;
    const metadata = { ...present.metadata, ...sent.metadata };
    return json(response, 200, this.#store(request.path, { ...base, ...sent, metadata }));
  }

  #inCollection(path: string): (Record<string, unknown> & KubeObject)[] {
    const [root = '', plural = ''] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    return [...this.#objects]
      .filter(([key]) => key.startsWith(root) && key.includes(`/${plural}/`))
      .map(([, each]) => each);
  }

  #list(request: SeenRequest, response: ServerResponse): unknown {
    const all = this.#inCollection(request.path).map(({ kind: _, apiVersion: __, ...rest }) => rest);
    const start = Number(request.query.get('continue') ?? 0);
    const end = start + Number(request.query.get('limit') ?? all.length);
    const more = end < all.length ? { continue: String(end) } : {};
    return json(response, 200, {
      items: all.slice(start, end),
      metadata: { resourceVersion: String(this.#version), ...more },
    });
  }

  #watch(request: SeenRequest, response: ServerResponse): unknown {
    const initial = request.query.get('sendInitialEvents') === 'true';
    if (initial && !this.streamsLists) return status(response, 422, 'Invalid');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
    const since = Number(request.query.get('resourceVersion') ?? 0);
    const missed = this.#inCollection(request.path).filter((each) => Number(each.metadata.resourceVersion) > since);
    for (const object of missed)
      response.write(`${JSON.stringify({ type: initial ? 'ADDED' : 'MODIFIED', object })}\n`);
    if (!initial) return undefined;
    const metadata = { resourceVersion: String(this.#version), annotations: { 'k8s.io/initial-events-end': 'true' } };
    return response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`);
  }
}

export function json(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function status(
  response: ServerResponse,
  code: number,
  reason: string,
  headers: Record<string, string> = {},
): void {
  json(response, code, { kind: 'Status', status: 'Failure', code, reason, message: `scripted ${reason}` }, headers);
}

/** Polls until the condition holds; fails after `ms` with what was waited for. */
export async function until(what: string, holds: () => boolean, ms = 30_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`timed out waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
