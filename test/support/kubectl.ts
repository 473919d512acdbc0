import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestKubeApi } from './kube-api.ts';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Arguments that lead kubectl to a server. What it caches of it goes with it: the next one may have the same port. */
export function kubectlArgs({ kubeconfig }: Pick<TestKubeApi, 'kubeconfig'>): readonly string[] {
  return ['--kubeconfig', kubeconfig, '--cache-dir', join(dirname(kubeconfig), 'kubectl')];
}

/** Runs kubectl to its end. Not spawnSync: the servers that it talks to live in this very process. */
export async function kubectl(kube: Pick<TestKubeApi, 'kubeconfig'>, args: readonly string[], input = '') {
  const child = spawn('kubectl', [...kubectlArgs(kube), ...args]);
  child.stdin.end(input);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: status as number | null, stdout, stderr };
}
