import { userAgent } from '../../../common/version.ts';
import type { Tunnel } from '../../agent-client/schemas.ts';
import { Turns } from '../../agent-client/turns.ts';
import { AllowedHosts } from '../../reconcile/addresses/hosts.ts';
import { ServiceRoutes } from '../../reconcile/addresses/service-route.ts';
import { firstShard, type Placement } from '../../reconcile/connections/placement.ts';
import { Family, type FamilyKinds } from '../../reconcile/family.ts';
import type { SharedOptions } from '../../reconcile/kind-controller.ts';
import { isPaused } from '../../reconcile/resource/annotations.ts';
import { keyOf } from '../../reconcile/resource/resource.ts';
import { AgentConnection } from './registry/agent-connection.ts';
import type { AgentKindOptions } from './registry/agent-kind.ts';
import { type AgentEntry, Agents, agentKeyOf } from './registry/agents.ts';
import { routeTo } from './registry/route.ts';
import { words } from './registry/words.ts';

/** Agents are near, and what runs in them ends with them: they are looked at more often than the cloud. */
const lookMs = 15_000;

export interface AgentFamilyOptions {
  readonly kinds: FamilyKinds<AgentKindOptions>;
  readonly shared: SharedOptions;
  readonly settings: { readonly allowedAgentHosts: readonly string[] };
  /** Throws when this process may not start a call. */
  readonly guard: () => void;
}

/** The kinds that local agents back: agents, and what uses them. */
export class AgentFamily extends Family<AgentEntry, AgentKindOptions> {
  readonly #agents: Agents;

  constructor({ kinds, shared, settings, guard }: AgentFamilyOptions) {
    const { clock, random, dispatcher, reader, monotonic } = shared;
    const hosts = new AllowedHosts(settings.allowedAgentHosts, 'is not in --allowed-agent-hosts');
    const services = new ServiceRoutes({ reader, monotonic });
    const runtime = { clock, monotonic, random, dispatcher };
    const turns = new Turns(monotonic);
    const resyncIntervalMs = Math.min(lookMs, shared.resyncIntervalMs);
    const agents = new Agents({
      monotonic,
      hosts,
      open: (address, { namespace, ...hooks }) => {
        const { url } = address;
        const route = routeTo(address, hosts, services);
        return new AgentConnection({
          ...{ url, userAgent, guard, ...route, ...runtime },
          retryMs: resyncIntervalMs,
          turns: turns.of(namespace),
          ...hooks,
        });
      },
      enqueue: (agent) => this.enqueueProvider(agent),
      enqueueDependents: (agent, which) => this.dependents.enqueue(agent, which),
    });
    const held = new Set<number>();
    // No credential stands behind them, and several may lead to the same agent.
    const placement: Placement = {
      shareOf: (object) => ({ shard: firstShard, connection: agentKeyOf(object) }),
      isMine: () => held.has(firstShard),
    };
    const controllers = { ...shared, resyncIntervalMs, agents, placement };
    super({ kinds, controllers, usedBy: agentKeyOf, usedAs: 'agent', registry: agents, held });
    this.#agents = agents;
    const tunnels = this.kinds.find(({ kind }) => kind === 'AgentTunnel')?.resources;
    if (tunnels !== undefined) agents.followTunnels(tunnels);
  }

  /** The tunnels that run in the agents that this process looks at, as last seen. */
  running(): readonly { readonly agent: string; readonly tunnel: Tunnel }[] {
    return this.provider.resources.list().flatMap((object) => {
      const agent = keyOf(object);
      const running = isPaused(object) ? undefined : this.#agents.entry(agent)?.connection?.running();
      return (running ?? []).map((tunnel) => ({ agent, tunnel: { ...tunnel, name: words(tunnel.name) } }));
    });
  }
}
