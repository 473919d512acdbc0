import { randomUUID } from 'node:crypto';
import { keyOf, type ResourceType } from '../../../kube/types.ts';
import type { Users } from '../../../reconcile/dependents.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import {
  type ControllerOptions,
  type KindController,
  kindController,
  spread,
} from '../../../reconcile/kind-controller.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { AgentFlow } from '../agent/flow.ts';
import { definition as agentDefinition } from '../agent/schema.ts';
import { TunnelFlow } from '../agent-tunnel/flow.ts';
import { definition as tunnelDefinition } from '../agent-tunnel/schema.ts';
import { ReplayFlow } from '../request-replay/flow.ts';
import { definition as replayDefinition } from '../request-replay/schema.ts';
import { type Agents, agentKeyOf } from './agents.ts';

/** A look at an agent that hangs takes seconds: no agent is to wait for another's. */
const minConcurrency = 16;
const dayMs = 24 * 3_600_000;

export type AgentControllerOptions = Omit<ControllerOptions<undefined>, 'accountOf'> & { readonly agents: Agents };

/** The controller of AgentTunnel. */
export function tunnelController(options: AgentControllerOptions): KindController {
  return controllerOf(tunnelDefinition.type, options, agentKeyOf, new TunnelFlow(options.agents));
}

/** The controller of RequestReplay: once finished there is nothing to look for, thousands of them may wait to be removed. */
export function replayController(options: AgentControllerOptions): KindController {
  const agentOf = (object: ManagedObject) => options.agents.of(object).client;
  const flow = new ReplayFlow({ agentOf, nonce: randomUUID });
  return controllerOf(replayDefinition.type, { ...options, resyncIntervalMs: dayMs }, agentKeyOf, flow);
}

/** The controller of Agent. */
export function agentController(options: AgentControllerOptions & { readonly tunnels: Users }): KindController {
  return controllerOf(agentDefinition.type, options, keyOf, new AgentFlow(options));
}

/** An agent and its tunnels are due at the same moments, so that one list serves them all; agents at moments of their own. */
function controllerOf(
  type: ResourceType,
  options: AgentControllerOptions,
  agentKey: (object: ManagedObject) => string,
  flow: Flow<undefined>,
): KindController {
  const accountOf = (object: ManagedObject) => ({ key: agentKey(object), client: undefined });
  const concurrency = Math.max(options.concurrency, minConcurrency);
  return kindController<undefined>(type, { ...options, accountOf, concurrency }, () => ({
    flow,
    epochOf: (object) => -spread(agentKey(object)),
  }));
}
