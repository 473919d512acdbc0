import { type KubeRequest, kubeRequests, startTestKubeApi, type TestKubeApiOptions } from '../support/kube-api.ts';
import { until } from '../support/until.ts';
import { widgetCrd } from './widget-crd.ts';

/** An object as it came; the suite looks at whatever it likes. */
// biome-ignore lint/suspicious/noExplicitAny: responses are looked at field by field in expectations
export type Body = any;

export interface Answer {
  readonly code: number;
  readonly body: Body;
  readonly warnings: string;
}

export interface Cluster {
  readonly request: KubeRequest;
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>;
  merge(path: string, body: object): Promise<Answer>;
  apply(path: string, manager: string, body: object, query?: string): Promise<Answer>;
  /** Path of the objects of a type in a namespace that no other test uses. */
  fresh(type?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Paths of types, with `*` where the namespace goes. */
export const paths = {
  widgets: '/apis/test.example.com/v1/namespaces/*/widgets',
  configmaps: '/api/v1/namespaces/*/configmaps',
  secrets: '/api/v1/namespaces/*/secrets',
  events: '/apis/events.k8s.io/v1/namespaces/*/events',
  coreEvents: '/api/v1/namespaces/*/events',
  leases: '/apis/coordination.k8s.io/v1/namespaces/*/leases',
} as const;

/** A server of its own with one definition. */
export async function startCluster(
  crd: object = widgetCrd,
  options: Omit<TestKubeApiOptions, 'crds'> = {},
): Promise<Cluster> {
  const kube = await startTestKubeApi({ ...options, crds: [crd] });
  const request = kubeRequests(kube.url, kube.token);
  let namespaces = 0;

  const send = async (method: string, path: string, body?: unknown, contentType = 'application/json') => {
    const headers = { 'Content-Type': contentType, 'User-Agent': 'suite/1.0' };
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await request(path, { method, headers, ...(text === undefined ? {} : { body: text }) });
    const answer = await response.text();
    return {
      code: response.status,
      body: parsed(answer),
      warnings: response.headers.get('warning') ?? '',
    };
  };

  return {
    request,
    send,
    merge: (path, body) => send('PATCH', path, body, 'application/merge-patch+json'),
    apply: (path, manager, body, query = '') =>
      send('PATCH', `${path}?fieldManager=${manager}${query}`, body, 'application/apply-patch+yaml'),
    async fresh(type = paths.widgets) {
      namespaces += 1;
      const name = `n${namespaces}`;
      const { code } = await send('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
      if (code !== 201) throw new Error(`creating a namespace: ${code}`);
      const path = type.replace('*', name);
      await until('the namespace to take objects', async () => (await send('GET', path)).code === 200);
      return path;
    },
    stop: kube.stop,
  };
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const widget = (name: string | undefined, spec: object = {}, more: Body = {}) => ({
  apiVersion: 'test.example.com/v1',
  kind: 'Widget',
  ...more,
  metadata: { ...(name === undefined ? {} : { name }), ...more.metadata },
  spec: { color: 'red', ...spec },
});

export const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

/** Field and message of each cause, in no particular order: the real server's order is not fixed. */
export function causes(answer: Answer): readonly string[] {
  const list: readonly { field: string; message: string }[] = answer.body.details?.causes ?? [];
  return list.map(({ field, message }) => `${field}: ${message}`).sort();
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

/** All events of a watch that ends by itself, or the first ones for which `enough` holds. */
export async function watchUntil(
  cluster: Cluster,
  path: string,
  enough: (events: readonly WatchEvent[]) => boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly WatchEvent[]> {
  const stop = new AbortController();
  const response = await until('the watch to be accepted', async () => {
    const answer = await cluster.request(path, { headers, signal: stop.signal });
    if (answer.status !== 429) return answer;
    await answer.body?.cancel();
    return undefined;
  });
  const events: WatchEvent[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.map((line) => JSON.parse(line)));
    if (enough(events)) break;
  }
  stop.abort();
  return events;
}
