import type { Log } from '../common/log.ts';
import type { Runtime } from '../common/runtime.ts';
import { UsageError } from '../common/usage.ts';
import { userAgent } from '../common/version.ts';
import { connect, type KubeConnection } from './kube/connection.ts';
import { KubeConfigError } from './kube/kubeconfig.ts';
import { wrong } from './settings.ts';

/** The cluster that the settings name. @throws UsageError */
export async function connectTo(
  { kubeconfig }: { readonly kubeconfig?: string | undefined },
  log: Log,
  runtime: Runtime,
): Promise<KubeConnection> {
  try {
    return await connect({ ...runtime, kubeconfig, userAgent, log });
  } catch (error) {
    if (!(error instanceof KubeConfigError)) throw error;
    if (kubeconfig !== undefined) throw wrong('kubeconfig', error.message, { cause: error });
    throw new UsageError(`${error.message}; --kubeconfig names another`, { cause: error });
  }
}
