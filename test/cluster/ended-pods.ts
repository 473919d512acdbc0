import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestKubeApi } from '../support/kube-api.ts';
import { kubectlArgs } from '../support/kubectl.ts';

const run = promisify(execFile);
const pollMs = 200;

interface PodObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly restartPolicy: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly [
      { readonly lastState: { readonly terminated?: { readonly exitCode: number } } },
    ];
  };
}

/** The cluster's small kubelet starts every process again: what a pod that is to run once came to is told here. */
export async function tellEndedPods(kube: Pick<TestKubeApi, 'kubeconfig'>, signal: AbortSignal): Promise<void> {
  const kubectl = async (...args: readonly string[]) => (await run('kubectl', [...args, ...kubectlArgs(kube)])).stdout;
  while (!signal.aborted) {
    const { items } = JSON.parse(await kubectl('get', 'pods', '-A', '-o', 'json')) as { items: readonly PodObject[] };
    for (const { metadata, spec, status } of items) {
      const [container] = status.containerStatuses ?? [];
      const terminated = container?.lastState.terminated;
      if (spec.restartPolicy !== 'Never' || status.phase !== 'Running' || terminated === undefined) continue;
      const phase = terminated.exitCode === 0 ? 'Succeeded' : 'Failed';
      const ended = { ...container, state: { terminated }, ready: false, restartCount: 0 };
      const patch = JSON.stringify({ status: { phase, containerStatuses: [ended] } });
      const how = ['--subresource=status', '--type=merge', '-p', patch];
      // Whoever waited for it may have deleted it.
      await kubectl('-n', metadata.namespace, 'patch', 'pod', metadata.name, ...how).catch(() => {});
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
