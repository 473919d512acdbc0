import type { Log } from '../common/log.ts';
import type { Runtime } from '../common/runtime.ts';
import type { KubeClient } from './kube/client.ts';
import { isForbidden } from './kube/errors.ts';
import { namespaceType } from './kube/types.ts';

export interface InstallationOptions extends Pick<Runtime, 'monotonic'> {
  readonly client: KubeClient;
  /** The operator's own. */
  readonly namespace: string;
  readonly log: Log;
}

const retryMs = 5_000;

/**
 * What this installation of the operator is known by when nobody named it: its namespace and the beginning of that one's
 * uid. It outlives restarts, upgrades and a reinstallation there, and is another one in a cluster that was set up from the
 * same files. Waits until the API server says it; where it may not be read the namespace alone has to do. Undefined when
 * `signal` aborts.
 */
export async function installationIn(
  { client, namespace, monotonic, log }: InstallationOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    try {
      const uid = (await client.get(namespaceType, { name: namespace }, { signal }))?.metadata.uid;
      return uid === undefined ? namespace : `${namespace}-${uid.slice(0, 8)}`;
    } catch (error) {
      if (signal.aborted) break;
      if (isForbidden(error)) {
        log.warn('may not get the namespace that this installation is known by: its name alone has to do', {
          namespace,
        });
        return namespace;
      }
      log.warn('cannot read the namespace that this installation is known by', { namespace, error: String(error) });
      await monotonic.sleep(retryMs, signal).catch(() => {});
    }
  }
  return undefined;
}
