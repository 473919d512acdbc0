import type { Runtime } from '../../common/runtime.ts';
import { type Lease, leaseType } from '../controller/lease.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Check, Finding, Looked } from './check.ts';

export interface LeaderOptions extends Pick<Runtime, 'clock'> {
  readonly client: KubeClient;
  readonly namespace: string;
}

/** Whether an operator acts: it holds the Lease, and has renewed it. */
export function leaderCheck({ client, namespace, clock }: LeaderOptions): Check {
  return {
    name: 'operator',
    run: async () => {
      const lease = await client.get<Lease>(leaseType, { namespace, name: 'edge-operator' });
      const { holderIdentity: holder = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
      const isCurrent = clock.now() - Date.parse(renewTime) < 2_000 * leaseDurationSeconds;
      if (holder !== '' && isCurrent) return { at: holder, findings: [] };
      if (lease === undefined) return noLease(namespace);
      return { at: `the Lease edge-operator in ${namespace}`, findings: [notHeld(namespace, holder)] };
    },
  };
}

/** Most often somebody looks from elsewhere, and did not say where the operator is; or runs it from a checkout, by itself. */
function noLease(namespace: string): Looked {
  return {
    findings: [],
    failed: `there is no Lease edge-operator in namespace ${namespace}`,
    cure:
      'if the operator is in another namespace, name that: --leader-elect-namespace; ' +
      `one that runs without --leader-elect has none, and is not seen; else ${lookAtPods(namespace)}; ` +
      'where there are none, install it: docs/install.md',
  };
}

function notHeld(namespace: string, holder: string): Finding {
  const problem = holder === '' ? 'no operator acts' : `the operator that acted, ${holder}, is gone`;
  return { problem, cure: lookAtPods(namespace) };
}

function lookAtPods(namespace: string): string {
  return `look at its pods: kubectl -n ${namespace} describe pods -l app.kubernetes.io/component=operator`;
}
