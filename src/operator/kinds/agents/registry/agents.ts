import type { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import { Registry, type RegistryEntry, type RegistryOptions } from '../../../reconcile/connections/registry.ts';
import { annotation, isPaused } from '../../../reconcile/resource/annotations.ts';
import { conditionOf, isDeleting, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import { DependencyError } from '../../../reconcile/status/outcome.ts';
import { spec as specSchema } from '../agent/schema.ts';
import { type AgentAddress, addressOf, admitted } from './address.ts';
import type { AgentConnection, AgentConnectionOptions } from './agent-connection.ts';
import { agentIdentity, claimOn, hasMade } from './ownership.ts';

interface AgentUse extends Pick<AgentConnectionOptions, 'onChange' | 'onCount'> {
  /** That it is used for. */
  readonly namespace: string;
}

export interface AgentsOptions extends Pick<RegistryOptions<AgentEntry>, 'enqueueDependents' | 'monotonic'> {
  readonly hosts: AllowedHosts;
  readonly open: (address: AgentAddress, use: AgentUse) => AgentConnection;
  /** The Agent is to be reconciled. */
  readonly enqueue: (agent: string) => void;
}

/** No request may go to an address any more that a resource once used. */
export class NotAdmittedError extends DependencyError {
  override readonly name = 'NotAdmittedError';
}

/** The agent that a resource uses, as a key that is unique in the cluster. */
export function agentKeyOf({ metadata, spec }: ManagedObject): string {
  return `${metadata.namespace}/${(spec.agentRef as { name?: string } | undefined)?.name}`;
}

/** The AgentTunnels, by what they claim. */
export interface TunnelIndex {
  /** All of them are known. */
  readonly synced: boolean;
  byIndex(name: 'claim', value: string): readonly ManagedObject[];
}

/** What lives in this process for one Agent: its connection for as long as its address stays the same. */
export class AgentEntry implements RegistryEntry {
  readonly #hosts: AllowedHosts;
  readonly #open: (address: AgentAddress) => AgentConnection;
  #object: ManagedObject;
  #connection: AgentConnection | undefined;
  #refusal: string | undefined;

  constructor(object: ManagedObject, hosts: AllowedHosts, open: (address: AgentAddress) => AgentConnection) {
    this.#object = object;
    this.#hosts = hosts;
    this.#open = open;
    this.follow(object);
  }

  /** The idle connections of another address close by themselves. */
  follow(object: ManagedObject): void {
    this.#object = object;
    const address = this.#addressOf(object);
    this.#refusal = 'refusal' in address ? address.refusal : undefined;
    if ('refusal' in address) this.#connection = undefined;
    else if (this.#connection?.url !== address.url) this.#connection = this.#open(address);
  }

  /** Why nothing may be sent: then there is no connection. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get connection(): AgentConnection | undefined {
    return this.#connection;
  }

  get namespace(): string {
    return this.#object.metadata.namespace ?? '';
  }

  /** Where requests go, if they may. */
  get address(): string | undefined {
    return this.#connection?.url;
  }

  get isDeleting(): boolean {
    return isDeleting(this.#object);
  }

  /** That it is away it says itself. */
  problem(): string | undefined {
    if (this.#connection === undefined) return `cannot be used: ${this.#refusal}`;
    return this.isDeleting ? 'is being deleted' : this.pause;
  }

  /** Why nothing is to be sent, also to stop what runs, as long as a person says so. */
  get pause(): string | undefined {
    return isPaused(this.#object) ? `is paused by its annotation ${annotation.paused}` : undefined;
  }

  /** Where the agent is, and whether it is there. */
  state(): string {
    const ready = this.problem() === undefined ? conditionOf(this.#object, 'Ready')?.status : undefined;
    return `${this.#connection?.url} ${ready}`;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  #addressOf(object: ManagedObject): AgentAddress | { readonly refusal: string } {
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return { refusal: parsed.report.message };
    return addressOf(parsed.spec, object.metadata.namespace ?? '', this.#hosts);
  }
}

/** The agents of this operator, one for each Agent. A resource finds agents of its own namespace only. */
export class Agents extends Registry<AgentEntry> {
  readonly #options: AgentsOptions;
  #tunnels: TunnelIndex | undefined;

  constructor(options: AgentsOptions) {
    const { hosts, open, enqueue, enqueueDependents, monotonic } = options;
    const openEntry = (key: string, object: ManagedObject) => {
      const { namespace = '' } = object.metadata;
      const use = { namespace, onChange: () => this.wakeDependents(key), onCount: () => enqueue(key) };
      return new AgentEntry(object, hosts, (address) => open(address, use));
    };
    super({ open: openEntry, enqueueDependents, monotonic });
    this.#options = options;
  }

  /** The agent that a resource names in `spec.agentRef`. Throws DependencyError, saying why, when it cannot be used now. */
  of(object: ManagedObject): AgentConnection {
    const key = agentKeyOf(object);
    const entry = this.entryIfRead(key);
    const problem = entry === undefined ? 'does not exist' : entry.problem();
    if (problem === undefined && entry?.connection !== undefined) return entry.connection;
    throw new DependencyError(`Agent ${key} ${problem}`);
  }

  /**
   * Throws DependencyError while the agent that a resource names is paused: what it had is not stopped either, also where the
   * agent was before.
   */
  checkPause(object: ManagedObject): void {
    const key = agentKeyOf(object);
    const pause = this.entryIfRead(key)?.pause;
    if (pause !== undefined) throw new DependencyError(`Agent ${key} ${pause}`);
  }

  /** From now on it is known who made which tunnel. */
  followTunnels(resources: TunnelIndex): void {
    this.#tunnels = resources;
  }

  /** Whether Agents of other namespaces lead to the same agent. Throws DependencyError while that is not known. */
  isShared(url: string, namespace: string): boolean {
    if (!this.synced) throw new DependencyError('the Agents are not read yet');
    return this.#leadingTo(url).some((entry) => entry.namespace !== namespace);
  }

  /**
   * Whether a resource of this namespace made the tunnel of this name in the agent at the address. Throws DependencyError
   * while that is not known.
   */
  hasMade(namespace: string, url: string, name: string): boolean {
    if (this.#tunnels?.synced !== true) throw new DependencyError('the AgentTunnels are not read yet');
    const tunnel = { agent: agentIdentity(url), name };
    const claimants = this.#tunnels.byIndex('claim', claimOn(tunnel));
    return claimants.some((object) => object.metadata.namespace === namespace && hasMade(object, tunnel));
  }

  /** Whether an Agent that is there to stay has this address. Throws DependencyError while that is not known. */
  isInUse(url: string): boolean {
    if (!this.synced) throw new DependencyError('the Agents are not read yet');
    return this.#leadingTo(url).some(({ isDeleting: going }) => !going);
  }

  /**
   * Uses the agent at an address that a resource of this namespace once used, whether there is an Agent for it or not.
   * Throws NotAdmittedError for one that no request may go to any more.
   */
  async visit<T>(url: string, namespace: string, use: (agent: AgentConnection) => Promise<T>): Promise<T> {
    const address = this.checkVisit(url, namespace);
    // By that of another namespace it would wait in whose turns long answers are read, and for whose requests.
    const isOwn = (entry: AgentEntry) => entry.namespace === namespace && entry.address === url;
    const known = this.entries().find(isOwn)?.connection;
    if (known !== undefined) return use(known);
    const agent = this.#options.open(address, { namespace });
    try {
      return await use(agent);
    } finally {
      await agent.close();
    }
  }

  /** Throws where {@link visit} does: also to be asked by whoever waited on the way. */
  checkVisit(url: string, namespace: string): AgentAddress {
    const address = admitted(url, namespace, this.#options.hosts);
    if (address === undefined) throw new NotAdmittedError(notAdmitted(url));
    // Those of others are no matter of this namespace.
    const own = this.#leadingTo(url).filter((entry) => entry.namespace === namespace);
    const [paused] = own.every(({ pause }) => pause !== undefined) ? own : [];
    if (paused !== undefined) throw new DependencyError(`the Agent of ${url} ${paused.pause}`);
    return address;
  }

  /** However the address is spelled. */
  #leadingTo(url: string): readonly AgentEntry[] {
    const identity = agentIdentity(url);
    return this.entries().filter(({ address }) => address !== undefined && agentIdentity(address) === identity);
  }
}

function notAdmitted(url: string): string {
  return `no request may go to ${url}: add its host to --allowed-agent-hosts, or set the annotation ${annotation.forceOrphan} to "true" to let this resource go and leave behind what it started`;
}
