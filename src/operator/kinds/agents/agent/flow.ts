import type { AgentStatus } from '../../../agent-client/schemas.ts';
import { keyOf } from '../../../kube/types.ts';
import { freshSince, type Turn } from '../../../reconcile/context.ts';
import { namesOf, type Users } from '../../../reconcile/dependents.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { DependencyError, type Outcome, report, reportFailure } from '../../../reconcile/outcome.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource.ts';
import type { OpenAgent } from '../registry/agent-connection.ts';
import type { Agents } from '../registry/agents.ts';
import type { Status } from './schema.ts';

/** Tunnels of other shards are not seen going: they are looked for this often. */
const usersRetryMs = 5_000;

type AgentTurn = Turn<undefined>;
type Legs = NonNullable<Status['legs']>;

/** The flow of Agent: asks the agent how it does, and outlives its tunnels. */
export class AgentFlow implements Flow<undefined> {
  readonly noun = 'agent';
  readonly #agents: Agents;
  readonly #tunnels: Users;

  constructor(options: { agents: Agents; tunnels: Users }) {
    this.#agents = options.agents;
    this.#tunnels = options.tunnels;
  }

  claims(): readonly string[] {
    return [];
  }

  async ensure(turn: AgentTurn): Promise<Outcome> {
    await turn.writer.addFinalizer(turn.object);
    const entry = this.#agents.entry(keyOf(turn.object));
    if (entry === undefined) throw new DependencyError('this agent is not in the cache yet');
    if ('refusal' in entry) return report('Rejected', entry.refusal, { fields: {} });
    const { agent } = entry;
    try {
      return await check(turn, agent);
    } catch (error) {
      const fields = { url: agent.url, agentVersion: turn.object.status?.agentVersion };
      return { ...reportFailure(error), fields, retry: { kind: 'after', ms: agent.retryInMs() } };
    }
  }

  leavesNothing(): boolean {
    return false;
  }

  /** Its tunnels are stopped through it: it goes after them. */
  async remove({ object, writer }: AgentTurn): Promise<Outcome> {
    const tunnels = await this.#tunnels.of(object);
    if (tunnels.length > 0) {
      const message = `waiting for the tunnels in this agent to be deleted: ${namesOf(tunnels)}`;
      return report('Deleting', message, { retry: { kind: 'after', ms: usersRetryMs } });
    }
    await writer.removeFinalizer(object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    return `what runs in Agent ${keyOf(object)}`;
  }

  forget(): void {}

  close(): void {}
}

async function check(turn: AgentTurn, agent: OpenAgent): Promise<Outcome> {
  const { status, tunnels } = await agent.check(freshSince(turn), turn.call);
  turn.memory.of(turn.uid).observed = true;
  const { url } = agent;
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = {
    url,
    agentVersion: status.agent_version,
    status: status.status,
    legs: legsOf(turn, status),
    tunnelCount: tunnels,
  };
  if (status.status === 'online') return report('Available', `the agent at ${url} is online`, { fields });
  const message = `the agent at ${url} answers, but is ${JSON.stringify(status.status)}, not "online"`;
  return report('Unreachable', message, { fields, retry: { kind: 'resync' } });
}

/** Latencies are never the same twice: those that are shown stay, or every look would be a write. */
function legsOf({ asked, object }: AgentTurn, { session }: AgentStatus): Legs {
  const legs = session.legs.map(({ region, latency }) => ({ region, latency }));
  const shown = (object.status?.legs ?? []) as Legs;
  const same = JSON.stringify(shown.map(({ region }) => region)) === JSON.stringify(legs.map(({ region }) => region));
  return same && !asked && conditionOf(object, 'Ready')?.status === 'True' ? shown : legs;
}
