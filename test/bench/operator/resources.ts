import { Pool } from 'undici';
import type { Cloud, Kube } from './servers.ts';

export const group = '/apis/edge-operator.dev/v1alpha1';
const collection = `${group}/namespaces/default/reservedaddrs`;
const inFlight = 16;

export const nameOf = (index: number) => `addr-${String(index).padStart(6, '0')}`;

interface Resource {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations?: Record<string, string>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: object;
  // biome-ignore lint/suspicious/noExplicitAny: as the operator wrote it
  readonly status?: any;
}

/** Writes of the bench's own, to both servers. */
export class Resources {
  readonly #kube: Kube;
  readonly #cloud: Cloud;
  readonly #kubePool: Pool;
  readonly #cloudPool: Pool;

  constructor(kube: Kube, cloud: Cloud) {
    this.#kube = kube;
    this.#cloud = cloud;
    this.#kubePool = new Pool(kube.url, { connections: inFlight, connect: { rejectUnauthorized: false } });
    this.#cloudPool = new Pool(cloud.url, { connections: inFlight });
  }

  async close(): Promise<void> {
    await Promise.all([this.#kubePool.close(), this.#cloudPool.close()]);
  }

  /** Creates resources that nobody has reconciled. */
  async create(from: number, to: number): Promise<void> {
    await inTurn(from, to, (index) => this.#write('POST', collection, resource(index)));
  }

  /** Creates resources as the operator leaves them when they are Ready, and their objects. */
  async createReady(from: number, to: number, like: Resource): Promise<void> {
    await inTurn(from, to, async (index) => {
      const { id, uri, addr, created_at: createdAt } = await this.#address(specOf(index));
      const old = { id: String(like.status.id), uid: like.metadata.uid };
      const as = <T>(value: T, uid = ''): T =>
        JSON.parse(JSON.stringify(value).replaceAll(old.id, id).replaceAll(old.uid, uid));
      const made = await this.#write('POST', collection, resource(index, like.metadata.finalizers));
      const annotations = as(like.metadata.annotations ?? {}, made.metadata.uid);
      const [host, port] = addr.split(':');
      const status = { ...as(like.status), uri, addr, host, port: Number(port), createdAt };
      await this.#write('PATCH', `${collection}/${nameOf(index)}`, { metadata: { annotations } });
      await this.#write('PATCH', `${collection}/${nameOf(index)}/status`, { status });
    });
  }

  async get(index: number): Promise<Resource> {
    return this.#write('GET', `${collection}/${nameOf(index)}`);
  }

  async edit(index: number, description: string): Promise<void> {
    await this.#write('PATCH', `${collection}/${nameOf(index)}`, { spec: { description } });
  }

  /** Resolves when so many resources are Ready. */
  async whenReady(count: number, timeoutMs: number): Promise<void> {
    const ready = new Set<string>();
    const signal = AbortSignal.timeout(timeoutMs);
    // An API server ends a watch that falls behind.
    while (ready.size < count) await this.#watch(ready, count, signal);
  }

  /** Adds the names of those that are Ready; counts events, and parses none. */
  async #watch(ready: Set<string>, count: number, signal: AbortSignal): Promise<void> {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const path = `${group}/reservedaddrs?${query}`;
    const sent = { method: 'GET', path, headers: this.#headers(), signal, bodyTimeout: 0 } as const;
    const { statusCode, body } = await this.#kubePool.request(sent);
    if (statusCode >= 300) throw new Error(`GET ${path}: ${statusCode} ${await body.text()}`);
    let rest = '';
    body.setEncoding('utf8');
    for await (const chunk of body) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.includes('"reason":"Available"')) continue;
        ready.add(/"name":"([^"]+)"/.exec(line)?.[1] ?? '');
      }
      if (ready.size >= count) return;
    }
  }

  #headers() {
    return { authorization: `Bearer ${this.#kube.token}` };
  }

  async #write(method: 'GET' | 'POST' | 'PATCH', path: string, object?: object): Promise<Resource> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { statusCode, body } = await this.#kubePool.request({
      ...{ method, path },
      headers: { ...this.#headers(), 'content-type': type },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    });
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${await body.text()}`);
    return (await body.json()) as Resource;
  }

  async #address(spec: object): Promise<Record<'id' | 'uri' | 'addr' | 'created_at', string>> {
    const { statusCode, body } = await this.#cloudPool.request({
      method: 'POST',
      path: '/reserved_addrs',
      headers: {
        authorization: `Bearer ${this.#cloud.key}`,
        'service-version': '2',
        'content-type': 'application/json',
        'x-bench': 'own',
      },
      body: JSON.stringify(spec),
    });
    if (statusCode >= 300) throw new Error(`POST /reserved_addrs: ${statusCode} ${await body.text()}`);
    return (await body.json()) as Record<'id' | 'uri' | 'addr' | 'created_at', string>;
  }
}

const specOf = (index: number) => ({ description: `bench ${index}`, metadata: `{"n":${index}}`, region: 'eu' });

function resource(index: number, finalizers: readonly string[] = []) {
  const metadata = { name: nameOf(index), finalizers };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'ReservedAddr', metadata, spec: specOf(index) };
}

async function inTurn(from: number, to: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const worker = async () => {
    for (let index = next++; index < to; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}
