import { ApiError } from '../../../../common/http/errors.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import type { ReconcileContext } from '../../../reconcile/context.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { freshSince } from '../../../reconcile/occasion.ts';
import {
  DependencyError,
  type Outcome,
  RefusedError,
  type Report,
  report,
  reportFailure,
} from '../../../reconcile/outcome.ts';
import { unlessRefused } from '../../../reconcile/refusals.ts';
import { conditionOf, isDeleting, keyOf, type ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import { type Agents, agentKeyOf, NotAdmittedError } from '../registry/agents.ts';
import { agentIdentity, claimOn, claimsOf, isElsewhere, rivalOver } from '../registry/ownership.ts';
import { words } from '../registry/words.ts';
import { decide, following, isOf } from './decide.ts';
import { lookOf, looksLike, shownOf } from './look.ts';
import { type Spec, type Status, spec as specSchema } from './schema.ts';
import { definitionOf, ignoredOf, recordOf, type Started, startedOf, wanted } from './started.ts';

type Context = ReconcileContext<undefined>;

/** Where it cannot be reached for less long, a flag or a Service may be wrong by mistake, or an agent be away for a moment. */
const cutOffMs = 120_000;
const lookAgainMs = 5_000;

/** A tunnel that a context is about. */
interface Asked {
  readonly agent: AgentConnection;
  readonly spec: Spec;
  readonly tunnel: Started;
  /** On record, and not known to have ended: a start without an answer may yet be carried out. */
  readonly before?: Started | undefined;
}

/**
 * The flow of AgentTunnel. What a resource is about to start is on durable record before the call that starts it: only
 * what is on record is ever stopped.
 */
export class TunnelFlow implements Flow<undefined> {
  readonly #agents: Agents;
  readonly #createSettleMs: number;

  /** @param createSettleMs how long after a start of unknown fate the agent may still be carrying it out */
  constructor(agents: Agents, createSettleMs: number) {
    this.#agents = agents;
    this.#createSettleMs = createSettleMs;
  }

  /** What it asks for in an Agent, and what it has in an agent, which Agents of other namespaces may lead to as well. */
  claims(object: ManagedObject): readonly string[] {
    return [...new Set([claimIn(object), ...claimsOf(object)])];
  }

  async ensure(context: Context): Promise<Outcome> {
    const { object } = context.resource;
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return parsed.report;
    const { spec } = parsed;
    const agent = this.#agents.of(object);
    const tunnel = wanted(object, spec, nameOf(object), agent.url);
    const rival = rivalOf(context, tunnel);
    const stopping = await this.#stopOthers(context, rival === undefined ? tunnel : undefined);
    const isWaiting = stopping !== 'nothing' && stopping !== 'stopped';
    if (rival !== undefined) {
      const report = conflict(context, tunnel, rival);
      return isWaiting ? { ...report, retry: stopping.retry } : report;
    }
    if (isWaiting) return stopping;
    return this.#act(context, { agent, spec, tunnel }).catch((error: unknown) => {
      if (stopping === 'nothing') throw error;
      // The status still shows, and proves, what does not run any more.
      return { ...reportFailure(error), fields: {} };
    });
  }

  leavesNothing(object: ManagedObject): boolean {
    return startedOf(object) === undefined;
  }

  async remove(context: Context): Promise<Outcome> {
    const { resource } = context;
    this.#agents.checkPause(resource.object);
    const started = startedOf(resource.object);
    const unsure = started && (await this.#stop(context, started));
    if (unsure !== undefined) return unsure;
    await resource.release();
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const started = startedOf(object);
    return `tunnel ${started?.name} of the agent at ${started?.url}`;
  }

  /**
   * Stops what the resource started elsewhere, or under another name, or may not have any more; answers whether there was any, or
   * reports while there may be.
   */
  async #stopOthers(context: Context, kept: Started | undefined): Promise<'nothing' | 'stopped' | Report> {
    const { resource, facts } = context;
    const started = startedOf(resource.object);
    if (started === undefined || (started.url === kept?.url && started.name === kept.name)) {
      delete facts.cutOffSince;
      return 'nothing';
    }
    await resource.confirm();
    const unsure = await this.#stop(context, started);
    if (unsure !== undefined) return unsure;
    await resource.insist(() => recordOf(undefined));
    return 'stopped';
  }

  async #act(context: Context, asked: Asked): Promise<Outcome> {
    const { resource, facts, call, journal } = context;
    const { agent, spec, tunnel } = asked;
    const { name } = tunnel;
    const running = await agent.find(name, freshSince(context), call);
    facts.observed = true;
    // What another began while we looked is on its record before it runs.
    const rival = rivalOf(context, tunnel);
    if (rival !== undefined) return conflict(context, tunnel, rival);
    const started = startedOf(resource.object);
    const isProven = started !== undefined && isAnswered(resource.object, started);
    const action = decide({ spec, wanted: tunnel, started, isAnswered: isProven, running });
    switch (action.kind) {
      case 'none':
        await this.#settle(context, started);
        return available(context, running as Tunnel, asked);
      case 'adopt':
        await resource.record(recordOf(tunnel));
        journal.event('Adopted', `adopted tunnel ${name}, which ran already as asked`);
        return available(context, running as Tunnel, asked);
      case 'conflict':
        return report('Conflict', takenBy(name, action.field), { fields: {} });
      case 'replace':
        await resource.confirm();
        await agent.stop(name, call);
        return this.#start(context, { ...asked, before: started?.before && started }, () => {
          const changed = action.fields.length === 0 ? '' : `: ${action.fields.join(', ')}`;
          journal.event('Updated', `replaced tunnel ${name}${changed}`);
        });
      case 'start':
        return this.#start(context, { ...asked, before: started }, () =>
          tellOfStart(context, name, started !== undefined),
        );
    }
  }

  #start(context: Context, asked: Asked, onStarted: () => void): Promise<Outcome> {
    return unlessRefused(context, `start ${JSON.stringify(asked.tunnel)}`, async () => {
      try {
        const running = await start(context, asked);
        onStarted();
        return available(context, running, asked);
      } catch (error) {
        // What the status showed does not run any more; whose a tunnel is that may be started yet stays known.
        const isOver = isNotSent(error) && asked.before === undefined;
        const fields = isOver ? {} : placeIn(context.resource.object, asked.tunnel);
        return { ...reportFailure(error), fields };
      }
    });
  }

  /** Whether it has to be left, at once or in a while: docs/adr/0007-agents.md. */
  #isLost({ resource }: Context, url: string, error: unknown): error is Error {
    if (isShutOut(error)) return !isDeleting(resource.object);
    return isNobodyThere(error) && !this.#agents.isInUse(url);
  }

  /**
   * Stops a tunnel that is on record, if it still runs as that; reports while it may be started yet. Records are written by
   * tenants: another's it is not.
   */
  async #stop(context: Context, started: Started): Promise<Report | undefined> {
    const { url, name } = started;
    const { resource, occasion, call, journal, facts } = context;
    const rival = rivalOf(context, started);
    if (rival !== undefined && isElsewhere(rival, resource.object)) return undefined;
    const { namespace = '' } = resource.object.metadata;
    try {
      await this.#agents.visit(url, namespace, async (agent) => {
        const running = await agent.find(name, occasion.startedAt, call);
        if (running === undefined || !isOf(running, started)) return;
        await agent.stop(name, call);
        journal.event('Deleted', `stopped tunnel ${name}`);
      });
    } catch (error) {
      if (!this.#isLost(context, url, error)) {
        if (!isShutOut(error)) delete facts.cutOffSince;
        throw error;
      }
      const doubtful = isDeleting(resource.object) ? undefined : stillCutOff(context, started, error);
      if (doubtful !== undefined) return doubtful;
      journal.event(
        'Orphaned',
        `${this.leftBehind(resource.object)} is left behind, if it still runs: ${error.message}`,
      );
      return undefined;
    }
    delete facts.cutOffSince;
    return this.#unsettled(context, started);
  }

  /** What was asked for before and would have been carried out by now is not looked for any more. */
  async #settle(context: Context, started: Started | undefined): Promise<void> {
    if (started?.before === undefined || this.#unsettled(context, started) !== undefined) return;
    await context.resource.record(recordOf({ ...started, before: undefined }));
  }

  /** What was sent and not answered may be carried out yet, and would be nobody's. */
  #unsettled({ resource, facts, time }: Context, started: Started): Report | undefined {
    const { object } = resource;
    const isSure = isAnswered(object, started) && started.before === undefined;
    // As far as this process can tell: an earlier one may have died over it.
    if (facts.lostStart === undefined && !isSure) facts.lostStart = time.now();
    const ms = (facts.lostStart ?? Number.NEGATIVE_INFINITY) + this.#createSettleMs - time.now();
    if (ms <= 0) return undefined;
    const message = `an unanswered start of tunnel ${started.name} may still be carried out`;
    return report(isDeleting(object) ? 'Deleting' : 'Updating', message, { retry: { kind: 'after', ms } });
  }
}

/**
 * Records, starts, and records again where the agent shows another definition than was asked. What certainly did not
 * start leaves on record what was there before.
 */
async function start(context: Context, { agent, spec, tunnel, before }: Asked): Promise<Tunnel> {
  const { resource, call, facts, time } = context;
  const asked = { ...following(tunnel, before), startedAt: momentOf(context) };
  await resource.record(recordOf(asked));
  await resource.confirm();
  try {
    const running = await agent.start(definitionOf(spec, tunnel.name), call);
    const shown = lookOf(shownOf(running));
    if (!looksLike(shown, tunnel.shown)) await resource.insist(() => recordOf({ ...asked, shown }));
    return running;
  } catch (error) {
    if (isNotSent(error)) await resource.insist(() => recordOf(before));
    else facts.lostStart = time.now();
    throw error;
  }
}

/** Of each start another one, wherever the clock was set to: by it the status tells which was answered. */
function momentOf({ resource, time }: Context): string {
  const { startedAt } = (resource.object.status ?? {}) as Status;
  const now = new Date(time.wall());
  return new Date(now.toISOString() === startedAt ? now.getTime() + 1 : now).toISOString();
}

/** Or certainly not carried out. */
function isNotSent(error: unknown): boolean {
  return error instanceof DependencyError || (error instanceof ApiError && error.definite);
}

function tellOfStart({ occasion, journal }: Context, name: string, before: boolean): void {
  if (before && occasion.drift) journal.event('DriftCorrected', `started tunnel ${name} again: it no longer ran`);
  else journal.event('Created', `started tunnel ${name}`);
}

/** Of the same Agent, or of another one that leads to the same agent. */
function rivalOf({ resource: { object }, peers }: Context, { url, name }: Started): ManagedObject | undefined {
  const tunnel = { agent: agentIdentity(url), name };
  const claimants = [claimIn(object), claimOn(tunnel)].flatMap((claim) => peers.claimants(claim));
  return rivalOver(object, claimants, tunnel);
}

function conflict({ resource: { object } }: Context, { name }: Started, rival: ManagedObject): Report {
  return report('Conflict', isElsewhere(rival, object) ? heldElsewhere(name) : heldBy(rival), { fields: {} });
}

function available({ resource }: Context, { name, uri, public_url }: Tunnel, { spec, tunnel }: Asked): Report {
  const { url, name: tunnelName } = tunnel;
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = {
    uri: words(uri),
    agentURL: url,
    tunnelName,
    startedAt: startedOf(resource.object)?.startedAt,
    publicURL: words(public_url),
  };
  const ignored = ignoredOf(spec).map((option) => `spec.options.${option}`);
  const more = ignored.length === 0 ? '' : `, without ${ignored.join(', ')}: what has a field of its own is no option`;
  return report('Available', `tunnel ${words(name)} runs${more}`, { fields });
}

/** What the status proves of it: where it was, for this resource. */
function placeIn({ status }: ManagedObject, { url, name }: Started): Pick<Status, 'agentURL' | 'tunnelName'> {
  const { agentURL, tunnelName } = (status ?? {}) as Status;
  return agentURL === url && tunnelName === name ? { agentURL, tunnelName } : {};
}

/** This start of it was answered, by the status. */
function isAnswered(object: ManagedObject, started: Started): boolean {
  const { startedAt, uri } = (object.status ?? {}) as Status;
  const { observedGeneration = 0 } = conditionOf(object, 'Ready') ?? {};
  const isOfThat = startedAt === started.startedAt && observedGeneration >= (started.generation ?? 0);
  return isOfThat && uri !== undefined && placeIn(object, started).agentURL !== undefined;
}

/** No request may go where it was. */
function isShutOut(error: unknown): error is Error {
  return error instanceof NotAdmittedError || error instanceof RefusedError;
}

/** Whether that may be for a moment: what runs there would be nobody's. */
function stillCutOff({ facts, time }: Context, { url, name }: Started, error: Error): Report | undefined {
  const { message } = error;
  facts.cutOffSince ??= time.now();
  const ms = facts.cutOffSince + cutOffMs - time.now();
  if (ms <= 0) {
    delete facts.cutOffSince;
    return undefined;
  }
  // Of what the operator itself allows it is told by a change.
  if (isShutOut(error)) return report('Updating', message, { retry: { kind: 'after', ms } });
  const doubt = `tunnel ${name} may still run at ${url}, and is waited for, two minutes at most: ${message}`;
  return report('Unreachable', doubt, { retry: { kind: 'after', ms: Math.min(ms, lookAgainMs) } });
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
