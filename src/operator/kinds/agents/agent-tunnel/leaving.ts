import { hasRecords } from '../../../reconcile/resource/annotations.ts';
import { isDeleting, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import { RefusedError, type Report, report } from '../../../reconcile/status/outcome.ts';
import { type AgentConnection, OddTunnelError } from '../registry/agent-connection.ts';
import type { AgentContext as Context } from '../registry/agent-kind.ts';
import { type Agents, NotAdmittedError } from '../registry/agents.ts';
import { agentIdentity, hasMade, isElsewhere } from '../registry/ownership.ts';
import { isOf } from './decide.ts';
import { nameOf, rivalOf } from './rival.ts';
import { type Status, spec as specSchema } from './schema.ts';
import { asAnswered, isSure, recordOf, type Started, startedOf, wanted } from './started.ts';

/**
 * Where it cannot be reached for less long, a flag or a Service may be wrong by mistake, or an agent be away for a moment; where
 * it cannot be told from what an agent lists, a person may stop that.
 */
const cutOffMs = 120_000;
const lookAgainMs = 5_000;

/** Ends what is on record and is to run no longer, wherever that is. */
export class Leaving {
  readonly #agents: Agents;
  readonly #createSettleMs: number;

  constructor(agents: Agents, createSettleMs: number) {
    this.#agents = agents;
    this.#createSettleMs = createSettleMs;
  }

  /**
   * Stops what the resource started elsewhere, or under another name, or may not have any more; answers whether there was any, or
   * reports while there may be.
   */
  async stopOthers(context: Context, kept: Started | undefined): Promise<'nothing' | 'stopped' | Report> {
    const { resource, facts } = context;
    const started = startedOf(resource.object);
    if (started === undefined || (started.url === kept?.url && started.name === kept.name)) {
      delete facts.cutOffSince;
      return 'nothing';
    }
    await resource.confirm();
    const unsure = await this.stop(context, started);
    if (unsure !== undefined) return unsure;
    await resource.insist(() => recordOf(undefined));
    return 'stopped';
  }

  /**
   * Stops a tunnel that is on record, if it still runs as that; reports while it may be started yet. Records are written by
   * tenants, or set back to older ones: another's it is not.
   */
  async stop(context: Context, started: Started): Promise<Report | undefined> {
    const { url } = started;
    const { resource, journal, facts } = context;
    const rival = rivalOf(context, started);
    if (rival !== undefined && isAnothers(started, rival, resource.object)) return undefined;
    const { namespace = '' } = resource.object.metadata;
    let isLeft: boolean;
    try {
      isLeft = await this.#agents.visit(url, namespace, (agent) => this.#stopIn(agent, context, started));
    } catch (error) {
      if (!this.#isLost(context, url, error)) {
        if (!isShutOut(error)) delete facts.cutOffSince;
        throw error;
      }
      const isGivenUp = isDeleting(resource.object) && !(error instanceof OddTunnelError);
      const doubtful = isGivenUp ? undefined : stillCutOff(context, started, error);
      if (doubtful !== undefined) return doubtful;
      journal.event('Orphaned', `${leftBehind(started)} is left behind, if it still runs: ${error.message}`);
      return undefined;
    }
    delete facts.cutOffSince;
    const unsettled = this.#unsettled(context, started);
    if (unsettled === undefined && isLeft) journal.event('Orphaned', leftInDoubt(started));
    return unsettled;
  }

  /** Answers whether what runs is left, as it looks otherwise, and yet may be what an unanswered start made. */
  async #stopIn(agent: AgentConnection, context: Context, started: Started): Promise<boolean> {
    const { url, name } = started;
    const { resource, occasion, call, journal, facts } = context;
    const running = await agent.find(name, occasion.startedAt, call);
    if (running === undefined) return false;
    if (!isOf(running, asAnswered(started, facts))) return !isSure(resource.object, started, facts);
    // To look may have taken minutes, in which a person paused the Agent.
    this.#agents.checkPause(resource.object);
    this.#agents.checkVisit(url, resource.object.metadata.namespace ?? '');
    await agent.stop(name, call);
    journal.event('Deleted', `stopped tunnel ${name}`);
    return false;
  }

  /** What was asked for before and would have been carried out by now is not looked for any more. */
  async settle(context: Context, started: Started | undefined): Promise<void> {
    if (started?.before === undefined || this.#unsettled(context, started) !== undefined) return;
    await context.resource.record(recordOf({ ...started, before: undefined }));
  }

  /** Whether it has to be left, at once or in a while: docs/adr/0007-agents.md. */
  #isLost({ resource }: Context, url: string, error: unknown): error is Error {
    if (error instanceof OddTunnelError) return true;
    if (isShutOut(error)) return !isDeleting(resource.object);
    return isNobodyThere(error) && !this.#agents.isInUse(url);
  }

  /** What was sent and not answered may be carried out yet, and would be nobody's. */
  #unsettled({ resource, facts, time }: Context, started: Started): Report | undefined {
    const { object } = resource;
    // As far as this process can tell: an earlier one may have died over it.
    if (facts.lostStart === undefined && !isSure(object, started, facts)) facts.lostStart = time.now();
    const ms = (facts.lostStart ?? Number.NEGATIVE_INFINITY) + this.#createSettleMs - time.now();
    if (ms <= 0) return undefined;
    const message = `an unanswered start of tunnel ${started.name} may still be carried out`;
    return report(isDeleting(object) ? 'Deleting' : 'Updating', message, { retry: { kind: 'after', ms } });
  }
}

/** It is proven to be the rival's, or he is of another namespace. */
function isAnothers({ url, name }: Started, rival: ManagedObject, object: ManagedObject): boolean {
  return isElsewhere(rival, object) || hasMade(rival, { agent: agentIdentity(url), name });
}

/**
 * What is to be stopped with the resource: what is on record, and where somebody wiped all of that what the status proves, if it is
 * as the spec asks. Of another one the status does not tell which it was.
 */
export function heldBy(object: ManagedObject): Started | undefined {
  const started = startedOf(object);
  if (started !== undefined || hasRecords(object)) return started;
  const { agentURL, tunnelName, startedAt } = (object.status ?? {}) as Status;
  const parsed = parseSpec(specSchema, object);
  if ('report' in parsed || agentURL === undefined || tunnelName !== nameOf(object)) return undefined;
  return { ...wanted(object, parsed.spec, tunnelName, agentURL), startedAt };
}

/** As events and conditions name it. */
export function leftBehind({ url, name }: Started): string {
  return `tunnel ${name} of the agent at ${url}`;
}

function leftInDoubt(started: Started): string {
  return `${leftBehind(started)} may be left behind: it has another definition than was asked for, and it cannot be told whether this resource started it`;
}

/** No request may go where it was. */
function isShutOut(error: unknown): error is Error {
  return error instanceof NotAdmittedError || error instanceof RefusedError;
}

/** Whether that may be for a moment: what runs there would be nobody's. */
function stillCutOff(context: Context, { url, name }: Started, error: Error): Report | undefined {
  const { resource, facts, time } = context;
  const { message } = error;
  const wayOut = error instanceof OddTunnelError ? '; stop it in the agent, or it is left behind' : '';
  facts.cutOffSince ??= time.now();
  const ms = facts.cutOffSince + cutOffMs - time.now();
  if (ms <= 0) {
    delete facts.cutOffSince;
    return undefined;
  }
  // Of what the operator itself allows it is told by a change.
  if (isShutOut(error)) return report('Updating', message, { retry: { kind: 'after', ms } });
  const doubt = `tunnel ${name} may still run at ${url}, and is waited for, two minutes at most: ${message}`;
  const what = isDeleting(resource.object) ? `deleting: ${doubt}` : doubt;
  return report('Unreachable', what + wayOut, { retry: { kind: 'after', ms: Math.min(ms, lookAgainMs) } });
}

/** Nothing listens at the address, or it is none: no agent runs there. */
function isNobodyThere(error: unknown): error is Error {
  const code = error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(String(code));
}
