import { userAgent } from '../../../common/version.ts';
import type { Tunnel } from '../../agent-client/schemas.ts';
import type { InformerGroup } from '../../controller/informer-group.ts';
import { keyOf } from '../../kube/types.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { isPaused } from '../../reconcile/context.ts';
import { Users } from '../../reconcile/dependents.ts';
import { type ControllerOptions, everyShard, type KindController } from '../../reconcile/kind-controller.ts';
import type { ManagedObject } from '../../reconcile/resource.ts';
import type { RunSettings } from '../../settings.ts';
import { definition as agentDefinition } from './agent/schema.ts';
import { definition as tunnelDefinition } from './agent-tunnel/schema.ts';
import { OpenAgent, type OpenAgentOptions } from './registry/agent-connection.ts';
import { AgentHosts } from './registry/agent-hosts.ts';
import { Agents, agentKeyOf } from './registry/agents.ts';
import { agentController, replayController, tunnelController } from './registry/controllers.ts';
import { finishedIn } from './request-replay/finished.ts';

/** Agents are near, and what runs in them ends with them: they are looked at more often than the cloud. */
const lookMs = 15_000;

export interface LocalAgentsOptions {
  readonly settings: RunSettings;
  /** Throws when this process may not start a call. */
  readonly guard: () => void;
  readonly metrics: Metrics;
  readonly shared: Omit<ControllerOptions<never>, 'accountOf'>;
}

/** The half of the operator that works with local agents: agents, and the kinds that use them. */
export class LocalAgents {
  /** Every kind, Agent first. */
  readonly kinds: readonly KindController[];
  readonly #options: LocalAgentsOptions;
  readonly #lookMs: number;
  readonly #agents: Agents;
  readonly #agentKind: KindController;
  readonly #everyAgent: InformerGroup<ManagedObject>;
  readonly #tunnelKind: KindController;
  readonly #replayKind: KindController;
  /** They hold an Agent that is being deleted; replays do not: nothing of them is to be undone. */
  readonly #tunnels: Users;

  constructor(options: LocalAgentsOptions) {
    this.#options = options;
    this.#lookMs = Math.min(lookMs, options.settings.resyncInterval);
    this.#agents = new Agents({
      hosts: new AgentHosts(options.settings.allowedAgentHosts),
      open: (key, url, hooks) => this.#open(key, url, hooks),
      wake: (agent) => this.#wake(agent),
      wakeUsers: (agent) => this.#wakeUsers(agent),
    });
    const shared = { ...options.shared, resyncIntervalMs: this.#lookMs, agents: this.#agents };
    this.#tunnelKind = tunnelController(shared);
    this.#replayKind = replayController(shared);
    this.#tunnels = new Users({
      kinds: [this.#tunnelKind],
      types: [tunnelDefinition.type],
      usedBy: agentKeyOf,
      client: shared.client,
      onReleased: (agent) => this.#wake(agent),
    });
    this.#agentKind = agentController({ ...shared, tunnels: this.#tunnels });
    this.#everyAgent = everyShard(agentDefinition.type, shared, this.#agentKind);
    this.#agents.follow(this.#everyAgent);
    this.kinds = [this.#agentKind, this.#tunnelKind, this.#replayKind];
    this.#showTunnels(options.metrics);
  }

  /** Follows agents and what uses them until the signal aborts; on every replica. */
  async watch(signal: AbortSignal): Promise<void> {
    const informers = new Set([this.#everyAgent, ...this.kinds.map(({ resources }) => resources)]);
    await Promise.all([...informers].map((resources) => resources.run(signal)));
  }

  /** Reconciles until `leading` aborts, then finishes what is under way. Once only. */
  async run(leading: AbortSignal): Promise<void> {
    await Promise.all([this.#agentKind.run(leading), this.#runUsers(leading)]);
  }

  close(): Promise<void> {
    return this.#agents.close();
  }

  #open(key: string, url: string, hooks: Pick<OpenAgentOptions, 'onChange' | 'onCount'>): OpenAgent {
    const { guard, shared } = this.#options;
    const { clock } = shared;
    const retryMs = this.#lookMs;
    return new OpenAgent(key, { url, userAgent, guard, clock, random: Math.random, retryMs, ...hooks });
  }

  async #runUsers(leading: AbortSignal): Promise<void> {
    await this.#agents.whenKnown(leading);
    await Promise.all([this.#tunnelKind.run(leading), this.#replayKind.run(leading)]);
  }

  #wakeUsers(agent: string): void {
    this.#tunnels.wake(agent, 'all');
    this.#replayKind.enqueueWhere((object) => agentKeyOf(object) === agent && finishedIn(object) === undefined);
  }

  /** An Agent shows how many tunnels run, and one that is being deleted waits for them to go. */
  #wake(agent: string): void {
    this.#agentKind.enqueueWhere((object) => keyOf(object) === agent);
  }

  /** Of the agents that this shard has. */
  #showTunnels(metrics: Metrics): void {
    const show = (metric: 'tunnelConnections' | 'tunnelOpenConnections' | 'tunnelRequests', value: Value) =>
      metrics.poll(metric, () => this.#agentKind.resources.list().flatMap((agent) => this.#samples(agent, value)));
    show('tunnelConnections', ({ conns }) => conns.count);
    show('tunnelOpenConnections', ({ conns }) => conns.gauge);
    show('tunnelRequests', ({ http }) => http.count);
  }

  #samples(object: ManagedObject, value: Value) {
    const agent = keyOf(object);
    const entry = this.#agents.entry(agent);
    if (entry === undefined || 'refusal' in entry || isPaused(object)) return [];
    return entry.agent.running().map(({ name, metrics }) => ({
      labels: { agent, tunnel: name },
      // A counter below 0 would spoil the scrape.
      value: Math.max(0, value(metrics)),
    }));
  }
}

type Value = (metrics: Tunnel['metrics']) => number;
