import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pidIn } from '../support/pid-file.ts';
import { until } from '../support/until.ts';
import type { Cluster } from './cluster.ts';
import { clusterScripts } from './scripts.ts';

const run = promisify(execFile);

interface Saved {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly status?: object;
}

/** What a tool that saves objects has of a namespace: its Secrets and every resource. */
export async function save({ kubectl }: Cluster, namespace: string): Promise<readonly Saved[]> {
  const text = await kubectl('-n', namespace, 'get', 'secret,configmap,edge', '-o', 'json');
  const { items } = JSON.parse(text) as { items: readonly Saved[] };
  // Mirrored endpoints, and what the cluster makes in every namespace.
  return items.filter(({ kind }) => kind !== 'ConfigMap');
}

/** As such a tool brings them back: in a namespace that is new, and with the status only where it is asked to. */
export async function restore(
  { kubectl, dir }: Cluster,
  saved: readonly Saved[],
  options: { readonly status: boolean },
): Promise<void> {
  const file = join(dir, 'restored.json');
  for (const object of saved) {
    // biome-ignore lint/suspicious/noExplicitAny: objects of any kind
    const { uid, resourceVersion, generation, creationTimestamp, managedFields, ...metadata } = object.metadata as any;
    writeFileSync(file, JSON.stringify({ ...object, metadata }));
    await kubectl('create', '-f', file);
    if (!options.status || object.status === undefined) continue;
    const patch = JSON.stringify({ status: object.status });
    const { name, namespace } = object.metadata;
    await kubectl('-n', namespace, 'patch', object.kind, name, '--subresource=status', '--type=merge', '-p', patch);
  }
}

/** The namespace is gone and its resources with it, and nobody was asked: as after the loss of a cluster. */
export async function lose({ kubectl }: Cluster, saved: readonly Saved[]): Promise<void> {
  for (const { kind, metadata } of saved)
    await kubectl(
      '-n',
      metadata.namespace,
      'patch',
      kind,
      metadata.name,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    );
  for (const namespace of new Set(saved.map(({ metadata }) => metadata.namespace)))
    await kubectl('delete', 'namespace', namespace, '--timeout=60s');
}

const controlPlane = ['kube-controller-manager', 'kube-apiserver', 'etcd'];

/** Kills the control plane while pods go on, does something to its data, and starts it again. */
async function whileDown({ dir, kube }: Cluster, act: () => Promise<void>): Promise<void> {
  for (const name of controlPlane) {
    const pid = pidIn(join(dir, `${name}.pid`));
    if (pid === undefined) throw new Error(`${name} has no pid on file`);
    process.kill(pid, 'SIGKILL');
    await until(`${name} to be down`, () => !isAlive(pid));
  }
  await act();
  const { port } = new URL(kube.url);
  await run(join(String(clusterScripts), 'start'), [dir, port]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Everything that Kubernetes knows, to go back to. */
export async function saveEtcd(cluster: Cluster): Promise<{ restore(): Promise<void> }> {
  const [data, copy] = [join(cluster.dir, 'etcd'), join(cluster.dir, 'etcd-saved')];
  await whileDown(cluster, () => cp(data, copy, { recursive: true }));
  return {
    restore: () =>
      whileDown(cluster, async () => {
        await rm(data, { recursive: true });
        await cp(copy, data, { recursive: true });
      }),
  };
}
