import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { CloudApiOptions } from '../../src/reference/cloud-api/server.ts';
import { chartDir, type Helm, helm, type Rendered, type Values } from '../deploy/helm.ts';
import { kubectlArgs } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { namespaceType, startWorld } from '../support/world.ts';
import type { AuditEvent } from './audit.ts';
import { tellEndedPods } from './ended-pods.ts';
import { clusterScripts, imageOf } from './scripts.ts';

const run = promisify(execFile);

export const onCluster = clusterScripts === undefined ? describe.skip : describe;

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export interface Release {
  readonly name: string;
  readonly namespace: string;
  /** Default Helm 4. */
  readonly by?: Helm;
}

/** What is known of a pod that runs: the ports that it really has, by those that it asked for. */
interface PodFile {
  readonly ports: Readonly<Record<string, number>>;
}

/** A cluster whose Deployments run, the reference cloud, and what a person has to work with both. */
export async function startCluster(cloud: Partial<CloudApiOptions> = {}) {
  const scripts = String(clusterScripts);
  const world = await startWorld(cloud, { crds: [], scripts });
  const { kubeconfig } = world.kube;
  const dir = dirname(kubeconfig);
  const env = { ...process.env, POD_SYNC_MS: '500' };
  await run(join(scripts, 'pods'), [dir, imageOf(String(process.env.TEST_RUN))], { env });

  const onRelease = ({ namespace, by = 'helm' }: Release, args: readonly string[], values?: Values) =>
    helm([...args, '--namespace', namespace], {
      env: { KUBECONFIG: kubeconfig },
      by,
      ...(values === undefined ? {} : { values }),
    });
  /** The default account is that of the reference cloud. */
  const valuesOf = ({ account, ...values }: Values): Values => ({
    account: { apiURL: world.cloud.url, apiKey: world.cloud.apiKey, ...(account as object) },
    ...values,
  });
  const waits = ['--wait', '--timeout', '60s'];

  return {
    ...world,
    /** Where everything of the cluster is. */
    dir,

    /** Resolves when its pods are ready, as `--wait` has it; fails with what they logged. */
    async install(release: Release, values: Values = {}, ...flags: readonly string[]): Promise<void> {
      const args = ['install', release.name, chartDir, '--create-namespace', ...waits, ...flags];
      await onRelease(release, args, valuesOf(values)).catch((error: Error) => {
        throw new Error(`${error.message}\n${logs(release.namespace)}`, { cause: error });
      });
    },

    async upgrade(release: Release, values: Values = {}): Promise<void> {
      await onRelease(release, ['upgrade', release.name, chartDir, ...waits], valuesOf(values));
    },

    async rollback(release: Release, revision: number): Promise<void> {
      await onRelease(release, ['rollback', release.name, String(revision), ...waits]);
    },

    /** `helm test`; fails with what its pods said. */
    async test(release: Release): Promise<void> {
      const ended = new AbortController();
      const telling = tellEndedPods(world.kube, ended.signal);
      try {
        await onRelease(release, ['test', release.name, '--timeout', '60s']).catch((error: Error) => {
          throw new Error(`${error.message}\n${logs(release.namespace, 'doctor')}`, { cause: error });
        });
      } finally {
        ended.abort();
        await telling;
      }
    },

    async uninstall(release: Release): Promise<void> {
      await onRelease(release, ['uninstall', release.name, ...waits]);
    },

    /** What the release consists of. */
    async manifest(release: Release): Promise<readonly Rendered[]> {
      const text = await onRelease(release, ['get', 'manifest', release.name]);
      const found = parseAllDocuments(text).map((document) => document.toJS() as Rendered | null);
      return found.filter((object) => object !== null);
    },

    kubectl,

    async createNamespaces(...names: readonly string[]): Promise<void> {
      for (const name of names)
        await world.client.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    },

    /** Resolves when as many pods are ready, and no other is there. */
    async scale({ name, namespace }: Release, replicas: number): Promise<void> {
      const of = ['deployment', '-l', labelsOf({ name, namespace })];
      await kubectl('-n', namespace, 'scale', ...of, `--replicas=${replicas}`);
      await kubectl('-n', namespace, 'rollout', 'status', ...of, '--timeout=60s');
      await until(`${replicas} pods`, async () => (await podNames({ name, namespace })).length === replicas);
    },

    podNames,

    /** Of the newest pod. */
    async metrics({ name, namespace }: Release): Promise<string> {
      const [pod] = await podNames({ name, namespace });
      const { ports } = JSON.parse(readFileSync(join(dir, 'pods', `${namespace}_${pod}.json`), 'utf8')) as PodFile;
      return (await fetch(`http://127.0.0.1:${ports['8080']}/metrics`)).text();
    },

    /** Of all pods that there were in the namespace. */
    logs,

    /** Everything that was asked of the API server, but for its own parts. */
    audit(): readonly AuditEvent[] {
      const lines = readFileSync(join(dir, 'audit.log'), 'utf8').split('\n');
      // The last line may be half written.
      return lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
    },
  };

  async function kubectl(...args: readonly string[]): Promise<string> {
    return (await run('kubectl', [...args, ...kubectlArgs(world.kube)], { timeout: 60_000 })).stdout;
  }

  async function podNames(release: Release): Promise<readonly string[]> {
    return (await kubectl('-n', release.namespace, 'get', 'pods', '-l', labelsOf(release), '-o', 'name'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/^pod\//, ''));
  }

  function logs(namespace: string, container = ''): string {
    const files = readdirSync(join(dir, 'pods')).filter((file) => file.startsWith(`${namespace}_`));
    const text = (file: string) => readFileSync(join(dir, 'pods', file), 'utf8');
    return files
      .filter((file) => file.endsWith(`${container}.log`))
      .map(text)
      .join('');
  }
}

/** Of everything that runs the operator of a release. */
const labelsOf = ({ name }: Release) => `app.kubernetes.io/instance=${name},app.kubernetes.io/component=operator`;
