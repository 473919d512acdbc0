import type { KubeConnection, KubeRequest, KubeResponse } from '../../src/operator/kube/connection.ts';
import { KubeConnectionError } from '../../src/operator/kube/errors.ts';

/** Sends again what never left: on a busy machine it may take the tests longer to connect than the product waits. */
export function patient(inner: KubeConnection): KubeConnection {
  const request = async (what: KubeRequest, left = 5): Promise<KubeResponse> => {
    try {
      return await inner.request(what);
    } catch (error) {
      if (left === 0 || !isUnsent(error)) throw error;
      return request(what, left - 1);
    }
  };
  return {
    server: inner.server,
    namespace: inner.namespace,
    inCluster: inner.inCluster,
    history: inner.history,
    request,
    withGuard: (guard) => patient(inner.withGuard(guard)),
    apart: () => patient(inner.apart()),
    close: () => inner.close(),
  };
}

function isUnsent(error: unknown): boolean {
  const cause = error instanceof KubeConnectionError ? (error.cause as { readonly code?: unknown }) : undefined;
  return cause?.code === 'UND_ERR_CONNECT_TIMEOUT';
}
