import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sourcesOf } from '../../../scripts/tools.ts';
import { claimPorts } from '../../support/ports.ts';
import type { Cluster } from '../cluster.ts';
import { clusterScripts } from '../scripts.ts';

const run = promisify(execFile);

/** Folder of Flux's controllers, packed; undefined where there are none. */
const packed = clusterScripts === undefined ? undefined : join(clusterScripts, 'flux');
export const hasFlux = packed !== undefined && existsSync(packed);

export interface Flux {
  /** Has it look at a source, Kustomization or HelmRelease now. */
  reconcile(kind: string, name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Flux on the cluster: its definitions, and its controllers as processes that may do anything. */
export async function startFlux({ kubectl, dir, kube }: Cluster): Promise<Flux> {
  for (const module of await sourcesOf('flux')) {
    const files = globSync(join(module, 'config/crd/bases/*.yaml'));
    await kubectl('apply', '--server-side', ...files.flatMap((file) => ['-f', file]));
  }
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
  await kubectl('create', 'namespace', 'flux-system');
  const home = join(dir, 'flux');
  await mkdir(home, { recursive: true });
  const { ports, release } = await claimPorts(7);
  const [storage, ...others] = ports;
  const flags: Readonly<Record<string, readonly string[]>> = {
    source: [
      `--storage-path=${home}`,
      `--storage-addr=127.0.0.1:${storage}`,
      `--storage-adv-addr=127.0.0.1:${storage}`,
    ],
    kustomize: ['--requeue-dependency=2s'],
    helm: ['--requeue-dependency=2s'],
  };
  const started = Object.entries(flags).map(async ([name, own]): Promise<ChildProcess> => {
    const program = join(home, `${name}-controller`);
    await run('sh', ['-c', `xz -dc "${packed}/${name}-controller.xz" > "${program}" && chmod +x "${program}"`]);
    const addresses = ['metrics', 'health'].map((what) => `--${what}-addr=127.0.0.1:${others.pop()}`);
    const log = openSync(join(home, `${name}.log`), 'a');
    return spawn(program, [...own, ...addresses], {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        KUBECONFIG: kube.kubeconfig,
        RUNTIME_NAMESPACE: 'flux-system',
      },
    });
  });
  const controllers = await Promise.all(started);
  let times = 0;
  return {
    reconcile: async (kind, name) => {
      const asked = `reconcile.fluxcd.io/requestedAt=${times++}`;
      await kubectl('-n', 'flux-system', 'annotate', '--overwrite', kind, name, asked);
    },
    stop: async () => {
      const exits = controllers.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined));
      for (const child of controllers) child.kill('SIGTERM');
      await Promise.all(exits);
      await release();
    },
  };
}
