import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { TestKubeApi } from './kube-api.ts';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Arguments that lead kubectl to a server. What it caches of it goes with it: the next one may have the same port. */
export function kubectlArgs({ kubeconfig }: Pick<TestKubeApi, 'kubeconfig'>): readonly string[] {
  return ['--kubeconfig', kubeconfig, '--cache-dir', join(dirname(kubeconfig), 'kubectl')];
}
