import { credentialOf } from '../../common/credential/credential.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { UsageError } from '../../common/usage.ts';
import { connectTo } from '../connect-to.ts';
import { KubeClient } from '../kube/client.ts';
import type { RunSettings } from '../settings.ts';
import { accountCheck } from './account.ts';
import { type Check, look, type Result } from './check.ts';
import { clusterCheck } from './cluster.ts';
import { definitionsCheck } from './definitions.ts';
import { leaderCheck } from './leader.ts';
import { rightsCheck } from './rights.ts';
import { type SampleOptions, sampleCheck } from './sample.ts';

export interface DoctorOptions {
  readonly settings: Pick<
    RunSettings,
    | 'kubeconfig'
    | 'watchNamespaces'
    | 'apiUrl'
    | 'apiKeyFile'
    | 'mirrorNamespace'
    | 'mirrorInterval'
    | 'leaderElectNamespace'
    | 'shards'
  >;
  /** The default account's key, when it is not in a file. */
  readonly apiKey: string | undefined;
  /** Instead of looking: make something, and delete it again. */
  readonly sample?: Pick<SampleOptions, 'namespace' | 'account' | 'timeoutMs' | 'signal'>;
  readonly log: Log;
  readonly runtime: Runtime;
}

/** What a person should know of an installation. Writes nothing, but for the sample. @throws UsageError */
export async function examine(options: DoctorOptions): Promise<readonly Result[]> {
  const { settings, log, runtime, sample } = options;
  const ofAccount = sample === undefined ? await checkOfAccount(options) : undefined;
  const connection = await connectTo(settings, log, runtime);
  try {
    const client = new KubeClient(connection, runtime);
    const ofCluster = await look([clusterCheck(connection)]);
    const isReached = ofCluster.every(({ failed }) => failed === undefined);
    if (ofAccount === undefined)
      return isReached && sample !== undefined
        ? await look([sampleCheck({ ...runtime, ...sample, client })])
        : ofCluster;
    const { watchNamespaces, shards } = settings;
    const mirrors = ofAccount !== noAccount && settings.mirrorInterval > 0;
    const mirrorNamespace = mirrors ? (settings.mirrorNamespace ?? connection.namespace) : undefined;
    const namespace = settings.leaderElectNamespace ?? connection.namespace;
    const inCluster = [
      definitionsCheck(connection),
      rightsCheck({ connection, client, watchNamespaces, ownNamespace: namespace, mirrorNamespace, shards }),
      ofAccount,
      leaderCheck({ ...runtime, client, namespace, shards }),
    ];
    return [...ofCluster, ...(await look(isReached ? inCluster : [ofAccount]))];
  } finally {
    await connection.close();
  }
}

/** @throws UsageError as `run` does for the same flags. */
async function checkOfAccount({ settings, apiKey, runtime }: DoctorOptions): Promise<Check> {
  const credential = await credentialOf({ keyFile: settings.apiKeyFile, variable: apiKey }, runtime);
  if (credential === undefined) return noAccount;
  if (settings.apiUrl === undefined) {
    throw new UsageError('--api-url is needed: the address of the Cloud Management API that the key is for');
  }
  return accountCheck({ ...runtime, apiURL: settings.apiUrl, credential });
}

/** There need be none, but nobody is to take that for a key that was tried. */
const noAccount: Check = {
  name: 'account',
  run: async () => ({ at: 'nothing: no key was given; --api-url and --api-key-file have it tried', findings: [] }),
};
