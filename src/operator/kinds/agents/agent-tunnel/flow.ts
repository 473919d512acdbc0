import type { Tunnel } from '../../../agent-client/schemas.ts';
import { keyOf } from '../../../kube/types.ts';
import { winnerOver } from '../../../reconcile/claims.ts';
import { freshSince, isDeleting, type Turn } from '../../../reconcile/context.ts';
import { announce } from '../../../reconcile/events.ts';
import { isCallFailure } from '../../../reconcile/external/contract.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { DependencyError, type Outcome, type Report, report, reportFailure } from '../../../reconcile/outcome.ts';
import { unlessRefused } from '../../../reconcile/refusals.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import type { OpenAgent } from '../registry/agent-connection.ts';
import { type Agents, agentKeyOf } from '../registry/agents.ts';
import { decide, differingField, isOf } from './decide.ts';
import { type Spec, type Status, spec as specSchema } from './schema.ts';
import { definitionOf, type Started, shownOf, startedOf, wanted } from './started.ts';

type TunnelTurn = Turn<undefined>;

/** A tunnel that a turn is about. */
interface Asked {
  readonly agent: OpenAgent;
  readonly spec: Spec;
  readonly tunnel: Started;
}

/**
 * The flow of AgentTunnel. What a resource is about to start is on durable record before the call that starts it: only
 * what is on record is ever stopped.
 */
export class TunnelFlow implements Flow<undefined> {
  readonly noun = 'tunnel';
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  claims(object: ManagedObject): readonly string[] {
    return [`${agentKeyOf(object)} ${nameOf(object)}`];
  }

  async ensure(turn: TunnelTurn): Promise<Outcome> {
    const parsed = parseSpec(specSchema, turn.object);
    if ('report' in parsed) return parsed.report;
    const { spec } = parsed;
    const agent = this.#agents.of(turn.object);
    const tunnel = wanted(turn.object, spec, nameOf(turn.object), agent.url);
    const rival = this.#rivalOf(turn);
    const object = await this.#stopOthers(turn, rival === undefined ? tunnel : undefined);
    if (rival !== undefined) return report('Conflict', heldBy(rival), { fields: {} });
    return this.#act({ ...turn, object }, { agent, spec, tunnel });
  }

  leavesNothing(object: ManagedObject): boolean {
    return startedOf(object) === undefined;
  }

  async remove(turn: TunnelTurn): Promise<Outcome> {
    const started = startedOf(turn.object);
    if (started !== undefined) await this.#stop(turn, started);
    await turn.writer.removeFinalizer(turn.object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const started = startedOf(object);
    return `tunnel ${started?.name} of the agent at ${started?.url}`;
  }

  forget(): void {}

  close(): void {}

  #rivalOf({ object, cache }: TunnelTurn): ManagedObject | undefined {
    return winnerOver(
      object,
      this.claims(object).flatMap((claim) => cache.claimants(claim)),
    );
  }

  /** Stops what the resource started elsewhere, or under another name, or may not have any more. */
  async #stopOthers(turn: TunnelTurn, kept: Started | undefined): Promise<ManagedObject> {
    const started = startedOf(turn.object);
    if (started === undefined || (started.url === kept?.url && started.name === kept.name)) return turn.object;
    await this.#stop(turn, started);
    return turn.writer.recordStarted(turn.object, undefined);
  }

  async #act(turn: TunnelTurn, asked: Asked): Promise<Outcome> {
    const { agent, spec, tunnel } = asked;
    const { name } = tunnel;
    const running = await agent.find(name, freshSince(turn), turn.call);
    turn.memory.of(turn.uid).observed = true;
    const started = startedOf(turn.object);
    const action = decide({ wanted: tunnel, options: spec.options ?? {}, started, running });
    switch (action.kind) {
      case 'none':
        return available(running as Tunnel);
      case 'adopt':
        await turn.writer.recordStarted(turn.object, JSON.stringify(tunnel));
        announce(turn, 'Adopted', `adopted tunnel ${name}, which ran already as asked`);
        return available(running as Tunnel);
      case 'conflict':
        return report('Conflict', takenBy(name, action.field), { fields: {} });
      case 'replace':
        await agent.stop(name);
        return this.#start(turn, asked, () => {
          announce(turn, 'Updated', `replaced tunnel ${name}: ${action.fields.join(', ')}`);
        });
      case 'start':
        return this.#start(turn, asked, () => announceStart(turn, name, started !== undefined));
    }
  }

  #start(turn: TunnelTurn, asked: Asked, announceIt: () => void): Promise<Outcome> {
    return unlessRefused(turn, `start ${JSON.stringify(asked.tunnel)}`, async () => {
      try {
        const running = await start(turn, asked);
        announceIt();
        return available(running);
      } catch (error) {
        // Whatever the status showed does not run any more.
        return { ...reportFailure(error), fields: {} };
      }
    });
  }

  /** Whether it has to be left: docs/adr/0007-agents.md. */
  #isLost({ object }: TunnelTurn, url: string, error: unknown): error is Error {
    if (error instanceof DependencyError) return !isDeleting(object);
    return isNobodyThere(error) && !this.#agents.isInUse(url);
  }

  /** Stops a tunnel that is on record, if it still runs as that. */
  async #stop(turn: TunnelTurn, started: Started): Promise<void> {
    const { url, name } = started;
    const { namespace = '' } = turn.object.metadata;
    try {
      await this.#agents.visit(url, namespace, async (agent) => {
        const running = await agent.find(name, turn.startedAt, turn.call);
        if (running === undefined || !isOf(running, started)) return;
        await agent.stop(name);
        announce(turn, 'Deleted', `stopped tunnel ${name}`);
      });
    } catch (error) {
      if (!this.#isLost(turn, url, error)) throw error;
      announce(turn, 'Orphaned', `${this.leftBehind(turn.object)} is left behind, if it still runs: ${error.message}`);
    }
  }
}

/** Records, starts, and records again where the agent shows another definition than was asked. */
async function start(turn: TunnelTurn, { agent, spec, tunnel }: Asked): Promise<Tunnel> {
  const { writer } = turn;
  const marked = await writer.beginStart(turn.object, JSON.stringify(tunnel));
  try {
    const running = await agent.start(definitionOf(spec, tunnel.name));
    const shown = shownOf(running);
    if (differingField(shown, tunnel) !== undefined)
      await writer.recordStarted(marked, JSON.stringify({ ...tunnel, shown }));
    return running;
  } catch (error) {
    if (isCallFailure(error) && error.definite) await writer.recordStarted(marked, undefined);
    throw error;
  }
}

function announceStart(turn: TunnelTurn, name: string, before: boolean): void {
  if (before && turn.drift) {
    announce(turn, 'DriftCorrected', `started tunnel ${name} again: it no longer ran`);
    turn.onDriftCorrected?.();
  } else {
    announce(turn, 'Created', `started tunnel ${name}`);
  }
}

function available({ name, uri, public_url }: Tunnel): Report {
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = { uri, publicURL: public_url };
  return report('Available', `tunnel ${name} runs`, { fields });
}

/** Nothing listens at the address, or it is none: no agent runs there. */
function isNobodyThere(error: unknown): error is Error {
  const code = error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(String(code));
}

function nameOf({ metadata, spec }: ManagedObject): string {
  return typeof spec.tunnelName === 'string' ? spec.tunnelName : metadata.name;
}

function heldBy(rival: ManagedObject): string {
  return `the tunnel is managed by ${rival.kind} ${keyOf(rival)}, which is older: remove one of the two`;
}

function takenBy(name: string, field: string): string {
  return `a tunnel ${name} that this resource did not start runs in the agent, with another ${field}: stop it, or set spec.tunnelName to another name`;
}
