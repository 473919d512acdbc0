import type { KubeConnection, KubeRequest, KubeResponse } from './connection.ts';
import { KubeConnectionError } from './errors.ts';

/** One request to the API server, as it is counted. */
export interface KubeSample {
  /** As in the rules of roles; `watchlist` is a list that comes as the beginning of a watch. */
  readonly verb: string;
  /** In the plural: `reservedaddrs`. */
  readonly resource: string;
  /** Of the answer; undefined without one. */
  readonly status: number | undefined;
  /** Until the answer was there; of a watch, its headers. */
  readonly ms: number;
}

/** A watch that is open. */
export interface OpenWatch {
  /** Something came, a bookmark at least. */
  told(): void;
  /** May be called again. */
  closed(): void;
}

export interface KubeObserver {
  onRequest(sample: KubeSample): void;
  onWatch(resource: string): OpenWatch;
}

/** The same connection, with somebody who is told of what is asked and answered. */
export function observed(inner: KubeConnection, observer: KubeObserver, now: () => number): KubeConnection {
  const request = async (asked: KubeRequest): Promise<KubeResponse> => {
    const what = whatOf(asked);
    const startedAt = now();
    const count = (status: number | undefined) => observer.onRequest({ ...what, status, ms: now() - startedAt });
    try {
      const response = await inner.request(asked);
      count(response.status);
      return asked.watch && response.status === 200 ? watched(response, observer.onWatch(what.resource)) : response;
    } catch (error) {
      // Anything else is of our own doing: given up, or not permitted.
      if (error instanceof KubeConnectionError) count(undefined);
      throw error;
    }
  };
  return {
    server: inner.server,
    namespace: inner.namespace,
    inCluster: inner.inCluster,
    history: inner.history,
    request,
    withGuard: (guard) => observed(inner.withGuard(guard), observer, now),
    apart: () => observed(inner.apart(), observer, now),
    close: () => inner.close(),
  };
}

function watched(response: KubeResponse, watch: OpenWatch): KubeResponse {
  const destroy = () => {
    watch.closed();
    response.destroy();
  };
  return { ...response, body: followed(response.body, watch), destroy };
}

async function* followed(body: KubeResponse['body'], watch: OpenWatch): KubeResponse['body'] {
  try {
    for await (const chunk of body) {
      watch.told();
      yield chunk;
    }
  } finally {
    watch.closed();
  }
}

const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** From `/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]`; the core group is `/api/v1`. */
function whatOf({ method, path, watch }: KubeRequest): Pick<KubeSample, 'verb' | 'resource'> {
  const [address = '', query = ''] = path.split('?');
  const parts = address.split('/').slice(address.startsWith('/apis/') ? 4 : 3);
  const [resource = '', name] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  if (method !== 'GET') return { verb: verbs[method], resource };
  if (watch) return { verb: query.includes('sendInitialEvents=true') ? 'watchlist' : 'watch', resource };
  return { verb: name === undefined ? 'list' : 'get', resource };
}
