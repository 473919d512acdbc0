import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { KubeContext, Surroundings } from './kubeconfig.ts';

const folder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As a pod finds its API server and its service account; undefined when this is no pod that has one. */
export async function inClusterContext({ env, readFile }: Surroundings): Promise<KubeContext | undefined> {
  const [host, port] = [env('KUBERNETES_SERVICE_HOST'), env('KUBERNETES_SERVICE_PORT')];
  if (!host || !port) return undefined;
  const read = (name: string) => readFile(join(folder, name)).catch(() => undefined);
  const [token, namespace] = await Promise.all([read('token'), read('namespace')]);
  if (token === undefined) return undefined;
  return {
    cluster: {
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      'certificate-authority': join(folder, 'ca.crt'),
    },
    // The file and not what it says now: it is rotated.
    user: { tokenFile: join(folder, 'token') },
    namespace: namespace?.trim(),
  };
}
