import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { startTestCloud, type TestCloud } from '../support/cloud-api.ts';
import { type GateProxy, type GateProxyOptions, startGateProxy } from '../support/gate-proxy.ts';
import { LocalAgent } from '../support/local-agent.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { claimPorts } from '../support/ports.ts';
import type { World } from '../support/world.ts';

/** One namespace with an operator and a cloud of its own, in which one state of every kind is brought about. */
export interface Lab {
  readonly world: World;
  readonly cloud: TestCloud;
  readonly namespace: string;
  apply(kind: string, spec: object, more?: { name?: string; annotations?: object }): Promise<ManagedObject>;
  /** Makes what resources refer to. */
  give(kind: 'Secret' | 'ConfigMap', name: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** An agent that the operator may use, through a gate that may answer in its place. */
  agent(intercept?: Intercept): Promise<LabAgent>;
  /** The address of an agent, or a cloud, that does not run. */
  readonly nobody: string;
  close(): Promise<void>;
}

export type Intercept = NonNullable<GateProxyOptions['intercept']>;

export interface LabAgent {
  /** Through the gate. */
  readonly url: string;
  readonly gate: GateProxy;
  readonly agent: LocalAgent;
}

/** As many as the states of one lab need. */
const agentPorts = 12;

/** Name of the resource whose status is recorded. */
export const recordedName = 'example';

export async function openLab(world: World, options: { readonly operator: boolean }): Promise<Lab> {
  const [namespace, cloud, claim] = await Promise.all([world.namespace(), startTestCloud(), claimPorts(agentPorts)]);
  const [nobody, ...ports] = claim.ports;
  const agents: LabAgent[] = [];
  const args = ['--watch-namespaces', namespace, '--requests-per-minute', '10000'];
  const agentHosts = claim.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const operator = options.operator
    ? startOperatorProcess({
        kubeconfig: world.kube.kubeconfig,
        apiURL: cloud.url,
        apiKey: cloud.apiKey,
        args: [...args, '--allowed-agent-hosts', agentHosts, '--allowed-api-hosts', `http://127.0.0.1:${nobody}`],
      })
    : undefined;
  return {
    world,
    cloud,
    namespace,
    apply: (kind, spec, { name = recordedName, annotations = {} } = {}) =>
      world.apply(kind, namespace, name, spec, annotations),
    give: (kind, name, data) => world.give(kind, namespace, name, data),
    async agent(intercept) {
      const agent = new LocalAgent(ports.pop() ?? 0);
      await agent.start();
      const gate = await startGateProxy(agent.url, { port: ports.pop() ?? 0, ...(intercept && { intercept }) });
      agents.push({ url: gate.url, gate, agent });
      return { url: gate.url, gate, agent };
    },
    nobody: `http://127.0.0.1:${nobody}`,
    async close() {
      await operator?.stop('SIGKILL');
      for (const { gate, agent } of agents) await Promise.all([gate.close(), agent.stop()]);
      await Promise.all([cloud.stop(), claim.release()]);
    },
  };
}
