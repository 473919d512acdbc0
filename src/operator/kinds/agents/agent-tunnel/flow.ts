import { ApiError } from '../../../../common/http/errors.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { freshSince, type ReconcileContext } from '../../../reconcile/context.ts';
import { emit } from '../../../reconcile/events.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { DependencyError, type Outcome, type Report, report, reportFailure } from '../../../reconcile/outcome.ts';
import { unlessRefused } from '../../../reconcile/refusals.ts';
import { isDeleting, keyOf, type ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import { type Agents, agentKeyOf } from '../registry/agents.ts';
import { agentIdentity, claimOn, claimsOf, isElsewhere, rivalOver } from '../registry/ownership.ts';
import { words } from '../registry/words.ts';
import { decide, differingField, isOf } from './decide.ts';
import { type Spec, type Status, spec as specSchema } from './schema.ts';
import { definitionOf, recordOf, type Started, shownOf, startedOf, wanted } from './started.ts';

type Context = ReconcileContext<undefined>;

/** A tunnel that a context is about. */
interface Asked {
  readonly agent: AgentConnection;
  readonly spec: Spec;
  readonly tunnel: Started;
}

/**
 * The flow of AgentTunnel. What a resource is about to start is on durable record before the call that starts it: only
 * what is on record is ever stopped.
 */
export class TunnelFlow implements Flow<undefined> {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  /** What it asks for in an Agent, and what it has in an agent, which Agents of other namespaces may lead to as well. */
  claims(object: ManagedObject): readonly string[] {
    return [...new Set([claimIn(object), ...claimsOf(object)])];
  }

  async ensure(context: Context): Promise<Outcome> {
    const parsed = parseSpec(specSchema, context.object);
    if ('report' in parsed) return parsed.report;
    const { spec } = parsed;
    const agent = this.#agents.of(context.object);
    const tunnel = wanted(context.object, spec, nameOf(context.object), agent.url);
    const rival = rivalOf(context, tunnel);
    const object = await this.#stopOthers(context, rival === undefined ? tunnel : undefined);
    if (rival !== undefined) return conflict(context, tunnel, rival);
    return this.#act({ ...context, object }, { agent, spec, tunnel });
  }

  leavesNothing(object: ManagedObject): boolean {
    return startedOf(object) === undefined;
  }

  async remove(context: Context): Promise<Outcome> {
    const started = startedOf(context.object);
    if (started !== undefined) await this.#stop(context, started);
    await context.writer.removeFinalizer(context.object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const started = startedOf(object);
    return `tunnel ${started?.name} of the agent at ${started?.url}`;
  }

  /** Stops what the resource started elsewhere, or under another name, or may not have any more. */
  async #stopOthers(context: Context, kept: Started | undefined): Promise<ManagedObject> {
    const started = startedOf(context.object);
    if (started === undefined || (started.url === kept?.url && started.name === kept.name)) return context.object;
    await this.#stop(context, started);
    return context.writer.insist(context.object, () => recordOf(undefined));
  }

  async #act(context: Context, asked: Asked): Promise<Outcome> {
    const { agent, spec, tunnel } = asked;
    const { name } = tunnel;
    const running = await agent.find(name, freshSince(context), context.call);
    context.memory.of(context.uid).observed = true;
    // What another began while we looked is on its record before it runs.
    const rival = rivalOf(context, tunnel);
    if (rival !== undefined) return conflict(context, tunnel, rival);
    const started = startedOf(context.object);
    const action = decide({ wanted: tunnel, options: spec.options ?? {}, started, running });
    switch (action.kind) {
      case 'none':
        return available(running as Tunnel, tunnel);
      case 'adopt':
        await context.writer.record(context.object, recordOf(tunnel));
        emit(context, 'Adopted', `adopted tunnel ${name}, which ran already as asked`);
        return available(running as Tunnel, tunnel);
      case 'conflict':
        return report('Conflict', takenBy(name, action.field), { fields: {} });
      case 'replace':
        await agent.stop(name, context.call);
        return this.#start(context, asked, () => {
          emit(context, 'Updated', `replaced tunnel ${name}: ${action.fields.join(', ')}`);
        });
      case 'start':
        return this.#start(context, asked, () => emitStart(context, name, started !== undefined));
    }
  }

  #start(context: Context, asked: Asked, onStarted: () => void): Promise<Outcome> {
    return unlessRefused(context, `start ${JSON.stringify(asked.tunnel)}`, async () => {
      try {
        const running = await start(context, asked);
        onStarted();
        return available(running, asked.tunnel);
      } catch (error) {
        // Whatever the status showed does not run any more.
        return { ...reportFailure(error), fields: {} };
      }
    });
  }

  /** Whether it has to be left: docs/adr/0007-agents.md. */
  #isLost({ object }: Context, url: string, error: unknown): error is Error {
    if (error instanceof DependencyError) return !isDeleting(object);
    return isNobodyThere(error) && !this.#agents.isInUse(url);
  }

  /** Stops a tunnel that is on record, if it still runs as that. Records are written by tenants: another's it is not. */
  async #stop(context: Context, started: Started): Promise<void> {
    const { url, name } = started;
    const rival = rivalOf(context, started);
    if (rival !== undefined && isElsewhere(rival, context.object)) return;
    const { namespace = '' } = context.object.metadata;
    try {
      await this.#agents.visit(url, namespace, async (agent) => {
        const running = await agent.find(name, context.startedAt, context.call);
        if (running === undefined || !isOf(running, started)) return;
        await agent.stop(name, context.call);
        emit(context, 'Deleted', `stopped tunnel ${name}`);
      });
    } catch (error) {
      if (!this.#isLost(context, url, error)) throw error;
      emit(
        context,
        'Orphaned',
        `${this.leftBehind(context.object)} is left behind, if it still runs: ${error.message}`,
      );
    }
  }
}

/** Records, starts, and records again where the agent shows another definition than was asked. */
async function start(context: Context, { agent, spec, tunnel }: Asked): Promise<Tunnel> {
  const { writer } = context;
  const marked = await writer.record(context.object, recordOf(tunnel));
  try {
    const running = await agent.start(definitionOf(spec, tunnel.name), context.call);
    const shown = shownOf(running);
    if (differingField(shown, tunnel) !== undefined) await writer.insist(marked, () => recordOf({ ...tunnel, shown }));
    return running;
  } catch (error) {
    if (isNotSent(error)) await writer.insist(marked, () => recordOf(undefined));
    throw error;
  }
}

/** Or certainly not carried out. */
function isNotSent(error: unknown): boolean {
  return error instanceof DependencyError || (error instanceof ApiError && error.definite);
}

function emitStart(context: Context, name: string, before: boolean): void {
  if (before && context.drift) {
    emit(context, 'DriftCorrected', `started tunnel ${name} again: it no longer ran`);
    context.onDriftCorrected?.();
  } else {
    emit(context, 'Created', `started tunnel ${name}`);
  }
}

/** Of the same Agent, or of another one that leads to the same agent. */
function rivalOf({ object, cache }: Context, { url, name }: Started): ManagedObject | undefined {
  const tunnel = { agent: agentIdentity(url), name };
  const claimants = [claimIn(object), claimOn(tunnel)].flatMap((claim) => cache.claimants(claim));
  return rivalOver(object, claimants, tunnel);
}

function conflict({ object }: Context, { name }: Started, rival: ManagedObject): Report {
  return report('Conflict', isElsewhere(rival, object) ? heldElsewhere(name) : heldBy(rival), { fields: {} });
}

function available({ name, uri, public_url }: Tunnel, { url, name: tunnelName }: Started): Report {
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = {
    uri: words(uri),
    agentURL: url,
    tunnelName,
    publicURL: words(public_url),
  };
  return report('Available', `tunnel ${words(name)} runs`, { fields });
}

/** Nothing listens at the address, or it is none: no agent runs there. */
function isNobodyThere(error: unknown): error is Error {
  const code = error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(String(code));
}

/** What it asks for in its Agent. */
function claimIn(object: ManagedObject): string {
  return `${agentKeyOf(object)} ${nameOf(object)}`;
}

function nameOf({ metadata, spec }: ManagedObject): string {
  return typeof spec.tunnelName === 'string' ? spec.tunnelName : metadata.name;
}

function heldBy(rival: ManagedObject): string {
  return `the tunnel is managed by ${rival.kind} ${keyOf(rival)}, which made it or is older: remove one of the two`;
}

function heldElsewhere(name: string): string {
  return `the agent is shared, and its tunnel ${name} is managed by a resource of another namespace: set spec.tunnelName to another name`;
}

function takenBy(name: string, field: string): string {
  return `a tunnel ${name} that this resource did not start runs in the agent, with another ${field}: stop it, or set spec.tunnelName to another name`;
}
