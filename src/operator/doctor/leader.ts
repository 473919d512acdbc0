import type { Runtime } from '../../common/runtime.ts';
import { type Lease, leaseType } from '../controller/lease.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Check } from './check.ts';

export interface LeaderOptions extends Pick<Runtime, 'clock'> {
  readonly client: KubeClient;
  readonly namespace: string;
}

/** Whether an operator acts: it holds the Lease, and has renewed it. */
export function leaderCheck({ client, namespace, clock }: LeaderOptions): Check {
  return {
    name: 'operator',
    run: async () => {
      const { spec } = (await client.get<Lease>(leaseType, { namespace, name: 'edge-operator' })) ?? {};
      const { holderIdentity: holder = '', renewTime = '', leaseDurationSeconds = 0 } = spec ?? {};
      const isCurrent = clock.now() - Date.parse(renewTime) < 2_000 * leaseDurationSeconds;
      if (holder !== '' && isCurrent) return { at: holder, findings: [] };
      const problem = holder === '' ? 'no operator acts' : `the operator that acted, ${holder}, is gone`;
      const cure = `look at its pods: kubectl -n ${namespace} describe pods -l app.kubernetes.io/component=operator`;
      return { at: `the Lease edge-operator in ${namespace}`, findings: [{ problem, cure }] };
    },
  };
}
