import { credentialOf } from '../../common/credential/credential.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { UsageError } from '../../common/usage.ts';
import { userAgent } from '../../common/version.ts';
import { KubeClient } from '../kube/client.ts';
import { connect } from '../kube/connection.ts';
import { KubeConfigError } from '../kube/kubeconfig.ts';
import type { RunSettings } from '../settings.ts';
import { accountCheck } from './account.ts';
import { type Check, look, type Result } from './check.ts';
import { definitionsCheck } from './definitions.ts';
import { leaderCheck } from './leader.ts';
import { rightsCheck } from './rights.ts';
import { sampleCheck } from './sample.ts';

export interface DoctorOptions {
  readonly settings: Pick<
    RunSettings,
    'kubeconfig' | 'watchNamespaces' | 'apiUrl' | 'apiKeyFile' | 'leaderElectNamespace'
  >;
  /** The default account's key, when it is not in a file. */
  readonly apiKey: string | undefined;
  /** Instead of looking: make something, and delete it again. */
  readonly sample?: { readonly namespace: string; readonly account: string | undefined; readonly timeoutMs: number };
  readonly log: Log;
  readonly runtime: Runtime;
}

/** What a person should know of an installation. Writes nothing, but for the sample. @throws UsageError */
export async function examine(options: DoctorOptions): Promise<readonly Result[]> {
  const { settings, log, runtime, sample } = options;
  const ofAccount = sample === undefined ? await accountChecks(options) : [];
  const connection = await connect({ ...runtime, kubeconfig: settings.kubeconfig, userAgent, log }).catch((error) => {
    throw error instanceof KubeConfigError ? new UsageError(error.message, { cause: error }) : error;
  });
  try {
    const client = new KubeClient(connection, runtime);
    if (sample !== undefined) return await look([sampleCheck({ ...runtime, ...sample, client })]);
    const namespace = settings.leaderElectNamespace ?? connection.namespace;
    return await look([
      definitionsCheck(connection),
      rightsCheck({ connection, watchNamespaces: settings.watchNamespaces, ownNamespace: namespace }),
      ...ofAccount,
      leaderCheck({ ...runtime, client, namespace }),
    ]);
  } finally {
    await connection.close();
  }
}

/** None without a default account. @throws UsageError as `run` does for the same flags. */
async function accountChecks({ settings, apiKey, runtime }: DoctorOptions): Promise<readonly Check[]> {
  const credential = await credentialOf({ keyFile: settings.apiKeyFile, variable: apiKey }, runtime);
  if (credential === undefined) return [];
  if (settings.apiUrl === undefined) {
    throw new UsageError('--api-url is needed: the address of the Cloud Management API that the key is for');
  }
  return [accountCheck({ ...runtime, apiURL: settings.apiUrl, credential })];
}
