import type { Runtime } from '../../common/runtime.ts';
import { type Lease, leaseType } from '../controller/lease.ts';
import type { KubeClient } from '../kube/client.ts';
import { allOf } from './all-of.ts';
import type { Check, Finding, Looked } from './check.ts';

export interface LeaderOptions extends Pick<Runtime, 'clock'> {
  readonly client: KubeClient;
  readonly namespace: string;
  /** As the operator has it: each of several has a Lease of its own, and all have one together, which says how many they are. */
  readonly shards: number;
}

/** Who holds a Lease, or was the last to; empty for nobody. */
interface Hold {
  readonly holder: string;
  /** It is renewed. */
  readonly isCurrent: boolean;
}

const leaseName = 'edge-operator';

/** Whether an operator acts, in each shard: it holds the Lease, and has renewed it. */
export function leaderCheck({ client, namespace, clock, shards }: LeaderOptions): Check {
  const holdOf = async (name: string): Promise<Hold | undefined> => {
    const lease = await client.get<Lease>(leaseType, { namespace, name });
    const { holderIdentity: holder = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
    const isCurrent = holder !== '' && clock.now() - Date.parse(renewTime) < 2_000 * leaseDurationSeconds;
    return lease && { holder, isCurrent };
  };
  return {
    name: 'operator',
    run: async () => {
      const whole = await holdOf(leaseName);
      if (whole === undefined) return noLease(namespace);
      if (whole.isCurrent && shardsOf(whole) !== shards) return otherwise(namespace, shardsOf(whole));
      if (shards === 1) return lookedAt(namespace, [whole]);
      const names = Array.from({ length: shards }, (_, shard) => `${leaseName}-${shard}`);
      return lookedAt(namespace, await allOf(names.map(holdOf)));
    },
  };
}

/** Who does all of the work holds it by a name of its own. */
function shardsOf({ holder }: Hold): number {
  return Number(/^(\d+) shards$/.exec(holder)?.[1] ?? 1);
}

/** @param holds by shard */
function lookedAt(namespace: string, holds: readonly (Hold | undefined)[]): Looked {
  const holders = new Set(holds.map((hold) => hold?.holder ?? ''));
  const lost = holds.flatMap((hold, shard) =>
    hold?.isCurrent === true ? [] : [{ shard, holder: hold?.holder ?? '' }],
  );
  const findings = [...Map.groupBy(lost, ({ holder }) => holder)].map(([holder, those]) => {
    const shards = those.map(({ shard }) => shard).join(', ');
    return notHeld(namespace, holder, holds.length === 1 ? '' : ` in shard ${shards}`);
  });
  return { at: lost.length === 0 ? [...holders].join(', ') : `the Lease ${leaseName} in ${namespace}`, findings };
}

/** Most often somebody looks from elsewhere, and did not say where the operator is; or runs it from a checkout, by itself. */
function noLease(namespace: string): Looked {
  return {
    findings: [],
    failed: `there is no Lease ${leaseName} in namespace ${namespace}`,
    cure:
      'if the operator is in another namespace, name that: --leader-elect-namespace; ' +
      `one that runs without --leader-elect has none, and is not seen; else ${lookAtPods(namespace)}; ` +
      'where there are none, install it: docs/install.md',
  };
}

/** Its shards are not those that were asked for: nothing is known of these. */
function otherwise(namespace: string, shards: number): Looked {
  return {
    findings: [],
    failed: `the operator in namespace ${namespace} divides its work into ${shards} ${shards === 1 ? 'shard' : 'shards'}`,
    cure: `look with --shards ${shards}; if it is to be another number, ${lookAtPods(namespace)}`,
  };
}

/** @param where it acted, or nobody acts; empty for everywhere */
function notHeld(namespace: string, holder: string, where: string): Finding {
  const problem = holder === '' ? `no operator acts${where}` : `the operator that acted${where}, ${holder}, is gone`;
  return { problem, cure: lookAtPods(namespace) };
}

function lookAtPods(namespace: string): string {
  return `look at its pods: kubectl -n ${namespace} describe pods -l app.kubernetes.io/component=operator`;
}
