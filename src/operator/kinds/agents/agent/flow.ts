import { ApiError } from '../../../../common/http/errors.ts';
import type { AgentStatus } from '../../../agent-client/schemas.ts';
import { type Dependents, namesOf } from '../../../reconcile/connections/dependents.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { freshSince } from '../../../reconcile/occasion.ts';
import { conditionOf, keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import {
  DependencyError,
  type Outcome,
  type Report,
  report,
  reportFailure,
} from '../../../reconcile/status/outcome.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import type { AgentContext as Context } from '../registry/agent-kind.ts';
import type { Agents } from '../registry/agents.ts';
import type { Status } from './schema.ts';

/** Tunnels that are not in the cache are not seen going: they are looked for this often. */
const tunnelsRetryMs = 5_000;

type Legs = NonNullable<Status['legs']>;

/** The flow of Agent: asks the agent how it does, and outlives its tunnels. */
export class AgentFlow implements Flow<undefined> {
  readonly #agents: Agents;
  readonly #dependents: Dependents;

  constructor(options: { agents: Agents; dependents: Dependents }) {
    this.#agents = options.agents;
    this.#dependents = options.dependents;
  }

  async ensure(context: Context): Promise<Outcome> {
    const { resource } = context;
    await resource.hold();
    const entry = this.#agents.entry(keyOf(resource.object));
    if (entry === undefined) throw new DependencyError('this agent is not in the cache yet');
    const { connection: agent, refusal = 'spec: cannot be used' } = entry;
    if (agent === undefined) return report('Rejected', refusal, { fields: {} });
    try {
      return await check(context, agent);
    } catch (error) {
      const fields = { url: agent.url, agentVersion: resource.object.status?.agentVersion };
      const failure = { ...reportFailure(error), fields };
      // What was not even asked is not away.
      return error instanceof ApiError ? { ...failure, retry: { kind: 'after', ms: agent.retryInMs() } } : failure;
    }
  }

  /** Its tunnels are stopped through it: it goes after them. */
  async remove({ resource }: Context): Promise<Outcome> {
    const tunnels = await this.#dependents.of(resource.object);
    if (tunnels.length > 0) {
      const message = `waiting for the tunnels in this agent to be deleted: ${namesOf(tunnels)}`;
      return report('Deleting', message, { retry: { kind: 'after', ms: tunnelsRetryMs } });
    }
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    return `what runs in Agent ${keyOf(object)}`;
  }
}

async function check(context: Context, agent: AgentConnection): Promise<Report> {
  const { status, tunnels } = await agent.check(freshSince(context), context.call);
  context.facts.observed = true;
  const { url } = agent;
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = {
    url,
    agentVersion: status.agent_version,
    status: status.status,
    legs: legsOf(context, status),
    tunnelCount: tunnels,
  };
  if (status.status === 'online') return report('Available', `the agent at ${url} is online`, { fields });
  const message = `the agent at ${url} answers, but is ${JSON.stringify(status.status)}, not "online"`;
  return report('Unreachable', message, { fields, retry: { kind: 'resync' } });
}

/** Latencies are never the same twice: those that are shown stay, or every look would be a write. */
function legsOf({ occasion, resource: { object } }: Context, { session: { legs } }: AgentStatus): Legs {
  const shown = (object.status?.legs ?? []) as Legs;
  const same = JSON.stringify(shown.map(({ region }) => region)) === JSON.stringify(legs.map(({ region }) => region));
  return same && !occasion.requested && conditionOf(object, 'Ready')?.status === 'True' ? shown : legs;
}
