import { definition as agentDefinition } from '../kinds/agent/schema.ts';
import { definition as tunnelDefinition } from '../kinds/agent-tunnel/schema.ts';
import { type ControllerOptions, type KindController, kindController, spread } from '../kinds/controller.ts';
import type { Users } from '../kinds/users.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import { AgentFlow } from './agent-flow.ts';
import { type Agents, agentKeyOf } from './agents.ts';
import { TunnelFlow } from './tunnel-flow.ts';

/** A look at an agent that hangs takes seconds: no agent is to wait for another's. */
const minConcurrency = 16;

export type AgentControllerOptions = Omit<ControllerOptions<undefined>, 'accountOf'> & { readonly agents: Agents };

/** The controller of AgentTunnel. */
export function tunnelController(options: AgentControllerOptions): KindController {
  return controllerOf(tunnelDefinition.type, options, agentKeyOf, new TunnelFlow(options.agents));
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
  flow: AgentFlow | TunnelFlow,
): KindController {
  const accountOf = (object: ManagedObject) => ({ key: agentKey(object), client: undefined });
  const concurrency = Math.max(options.concurrency, minConcurrency);
  return kindController<undefined>(type, { ...options, accountOf, concurrency }, () => ({
    flow,
    epochOf: (object) => -spread(agentKey(object)),
  }));
}
