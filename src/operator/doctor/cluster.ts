import type { KubeConnection } from '../kube/connection.ts';
import { isForbidden, isNothingThere } from '../kube/errors.ts';
import { ask } from './ask.ts';
import type { Check } from './check.ts';

/** Whether the API server answers: without it there is nothing else to look at. */
export function clusterCheck(connection: KubeConnection): Check {
  const { server } = connection;
  return {
    name: 'cluster',
    run: async () => {
      await ask(connection, { path: '/version', doing: `asking ${server} for its version` }).catch((error) => {
        // Whoever says so has taken the credentials.
        if (!isForbidden(error) && !isNothingThere(error)) throw error;
      });
      return { at: server, findings: [] };
    },
  };
}
