import type { InformerGroup } from '../../../controller/informer-group.ts';
import { keyOf } from '../../../kube/types.ts';
import { annotation } from '../../../reconcile/annotations.ts';
import { isDeleting, isPaused } from '../../../reconcile/context.ts';
import { DependencyError } from '../../../reconcile/outcome.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import { spec as specSchema } from '../agent/schema.ts';
import type { OpenAgent, OpenAgentOptions } from './agent-connection.ts';
import type { Admission, AgentHosts } from './agent-hosts.ts';

type AgentHooks = Pick<OpenAgentOptions, 'onChange' | 'onCount'>;

export interface AgentsOptions {
  readonly hosts: AgentHosts;
  readonly open: (key: string, url: string, hooks: AgentHooks) => OpenAgent;
  /** The Agent is to be reconciled. */
  readonly wake: (agent: string) => void;
  /** So is what uses it. */
  readonly wakeUsers: (agent: string) => void;
}

/** What lives in this process for one Agent. */
type Entry = { readonly object: ManagedObject } & ({ readonly agent: OpenAgent } | { readonly refusal: string });

/** The agent that a resource uses, as a key that is unique in the cluster. */
export function agentKeyOf({ metadata, spec }: ManagedObject): string {
  return `${metadata.namespace}/${(spec.agentRef as { name?: string } | undefined)?.name}`;
}

/** The agents of this operator, one for each Agent. A resource finds agents of its own namespace only. */
export class Agents {
  readonly #options: AgentsOptions;
  readonly #entries = new Map<string, Entry>();
  #resources: Pick<InformerGroup<ManagedObject>, 'whenSynced'> | undefined;

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /** Keeps an entry for each of the Agents, from now on. */
  follow(resources: Pick<InformerGroup<ManagedObject>, 'onChange' | 'whenSynced'>): void {
    this.#resources = resources;
    resources.onChange(
      ({ type, object }) => {
        if (type === 'delete') this.#remove(keyOf(object));
        else this.#put(keyOf(object), object);
      },
      { ownWrites: true },
    );
  }

  /** The agent that a resource names in `spec.agentRef`. Throws DependencyError, saying why, when it cannot be used now. */
  of(object: ManagedObject): OpenAgent {
    const key = agentKeyOf(object);
    const entry = this.#entries.get(key);
    if (entry === undefined) throw new DependencyError(`Agent ${key} does not exist`);
    const problem = problemOf(entry);
    if (problem !== undefined) throw new DependencyError(`Agent ${key} ${problem}`);
    return (entry as { agent: OpenAgent }).agent;
  }

  entry(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Whether an Agent that is there to stay has this address. */
  isInUse(url: string): boolean {
    return [...this.#entries.values()].some((entry) => entryURL(entry) === url && !isDeleting(entry.object));
  }

  /**
   * Uses the agent at an address that a resource of this namespace once used, whether there is an Agent for it or not.
   * Throws DependencyError for one that no request may go to any more.
   */
  async visit<T>(url: string, namespace: string, use: (agent: OpenAgent) => Promise<T>): Promise<T> {
    if (!this.#options.hosts.admits(url, namespace)) throw new DependencyError(notAdmitted(url));
    const known = [...this.#entries.values()].find((entry) => entryURL(entry) === url);
    if (known !== undefined && 'agent' in known) return use(known.agent);
    const agent = this.#options.open(url, url, { onChange: () => {}, onCount: () => {} });
    try {
      return await use(agent);
    } finally {
      await agent.close();
    }
  }

  /** Resolves when the Agents are known, or cannot be for now: what starts before that is told so. */
  async whenKnown(signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    await this.#resources?.whenSynced(limit).catch(() => {});
  }

  async close(): Promise<void> {
    const closing = [...this.#entries.values()].map((entry) => ('agent' in entry ? entry.agent.close() : undefined));
    await Promise.all(closing);
  }

  #put(key: string, object: ManagedObject): void {
    const before = this.#entries.get(key);
    const address = this.#addressOf(object);
    const entry = { object, ...('url' in address ? { agent: this.#agentAt(address.url, key, before) } : address) };
    this.#entries.set(key, entry);
    if (before === undefined || stateOf(before) !== stateOf(entry)) this.#options.wakeUsers(key);
  }

  /** One for as long as the address is the same; the idle connections of another close by themselves. */
  #agentAt(url: string, key: string, before: Entry | undefined): OpenAgent {
    const known = before !== undefined && 'agent' in before && before.agent.url === url ? before.agent : undefined;
    const { open, wake, wakeUsers } = this.#options;
    return known ?? open(key, url, { onChange: () => wakeUsers(key), onCount: () => wake(key) });
  }

  #addressOf(object: ManagedObject): Admission {
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return { refusal: parsed.report.message };
    return this.#options.hosts.addressOf(parsed.spec, object.metadata.namespace ?? '');
  }

  #remove(key: string): void {
    this.#entries.delete(key);
    this.#options.wakeUsers(key);
  }
}

/** Why, as the end of a sentence that begins with the Agent, it cannot be used now; that it is away it says itself. */
function problemOf(entry: Entry): string | undefined {
  if ('refusal' in entry) return `cannot be used: ${entry.refusal}`;
  if (isDeleting(entry.object)) return 'is being deleted';
  return isPaused(entry.object) ? `is paused by its annotation ${annotation.paused}` : undefined;
}

/** Changes with what matters to the users: where the agent is, whether it can be used, and whether it is there. */
function stateOf(entry: Entry): string {
  const ready = conditionOf(entry.object, 'Ready')?.status;
  return `${entryURL(entry)} ${problemOf(entry) ?? ready}`;
}

function entryURL(entry: Entry): string | undefined {
  return 'agent' in entry ? entry.agent.url : undefined;
}

function notAdmitted(url: string): string {
  return `no request may go to ${url}: add its host to --allowed-agent-hosts, or set the annotation ${annotation.forceOrphan} to "true" to let this resource go and leave behind what it started`;
}
