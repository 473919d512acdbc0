import { ApiError } from '../../../../common/http/errors.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { freshSince } from '../../../reconcile/occasion.ts';
import { nextRecreation, noteRecreation, noteStanding, type Pauses } from '../../../reconcile/recreation.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import {
  DependencyError,
  type Outcome,
  type Report,
  report,
  reportFailure,
} from '../../../reconcile/status/outcome.ts';
import { unlessRefused } from '../../../reconcile/status/refusals.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import type { AgentContext as Context } from '../registry/agent-kind.ts';
import type { Agents } from '../registry/agents.ts';
import { claimsOf } from '../registry/ownership.ts';
import { words } from '../registry/words.ts';
import { decide, following } from './decide.ts';
import { heldBy, Leaving, leftBehind } from './leaving.ts';
import { lookOf, looksLike, shownOf, shownOptionsOf } from './look.ts';
import { addressKept, keptOf, publicClaimOf, takenAddress } from './public-address.ts';
import { claimIn, conflict, nameOf, rivalOf } from './rival.ts';
import { type Spec, type Status, spec as specSchema } from './schema.ts';
import {
  asAnswered,
  baselineIn,
  definitionOf,
  ignoredOf,
  isAnswered,
  isSure,
  recordOf,
  type Started,
  startedOf,
  wanted,
} from './started.ts';

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
  readonly #leaving: Leaving;

  /** @param createSettleMs how long after a start of unknown fate the agent may still be carrying it out */
  constructor(agents: Agents, createSettleMs: number) {
    this.#agents = agents;
    this.#leaving = new Leaving(agents, createSettleMs);
  }

  /** What it asks for in an Agent, and what it has in an agent, which Agents of other namespaces may lead to as well. */
  claims(object: ManagedObject): readonly string[] {
    return [...new Set([claimIn(object), ...claimsOf(object), publicClaimOf(object) ?? []].flat())];
  }

  async ensure(context: Context): Promise<Outcome> {
    const { object } = context.resource;
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return parsed.report;
    const { spec } = parsed;
    const agent = this.#agents.of(object);
    const tunnel = wanted(object, spec, nameOf(object), agent.url);
    const rival = rivalOf(context, tunnel);
    const stopping = await this.#leaving.stopOthers(context, rival === undefined ? tunnel : undefined);
    const isWaiting = stopping !== 'nothing' && stopping !== 'stopped';
    if (rival !== undefined) {
      const report = conflict(context, tunnel, rival);
      return isWaiting ? { ...report, retry: stopping.retry } : report;
    }
    if (isWaiting) return stopping;
    const acting = this.#act(context, { agent, spec, tunnel });
    if (stopping === 'nothing') return acting;
    // The status still shows, and proves, what does not run any more.
    return { fields: keptOf(object, tunnel), ...(await acting.catch(reportFailure)) };
  }

  leavesNothing(object: ManagedObject): boolean {
    return heldBy(object) === undefined;
  }

  async remove(context: Context): Promise<Outcome> {
    const { resource } = context;
    this.#agents.checkPause(resource.object);
    const started = heldBy(resource.object);
    const unsure = started && (await this.#leaving.stop(context, started));
    return unsure ?? { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const started = heldBy(object);
    return started === undefined ? 'no tunnel' : leftBehind(started);
  }

  async #act(context: Context, asked: Asked): Promise<Report> {
    const { resource, facts, call, journal } = context;
    const { agent, spec, tunnel } = asked;
    const { name } = tunnel;
    const running = await agent.find(name, freshSince(context), call);
    facts.observed = true;
    // To look may have taken minutes, in which a person paused the Agent, or gave it another address.
    if (this.#agents.of(resource.object) !== agent) return report('Updating', `the Agent is at ${agent.url} no longer`);
    // What another began while we looked is on its record before it runs.
    const rival = rivalOf(context, tunnel);
    if (rival !== undefined) return conflict(context, tunnel, rival);
    const recorded = startedOf(resource.object);
    const started = recorded && asAnswered(recorded, facts);
    const isProven = started !== undefined && isAnswered(resource.object, started, facts);
    const baseline = started && baselineIn(resource.object, started);
    const action = decide({ spec, wanted: tunnel, started, isAnswered: isProven, baseline, running });
    const isToStart = ['start', 'replace', 'correct'].includes(action.kind);
    const taken = isToStart ? takenAddress(context, agent, spec, tunnel) : undefined;
    if (taken !== undefined) return running ? taken : { ...taken, fields: keptOf(resource.object, tunnel) };
    switch (action.kind) {
      case 'none':
        noteStanding(context);
        await recordLook(context, started);
        await this.#leaving.settle(context, started);
        return available(context, running as Tunnel, asked);
      case 'adopt':
        await resource.record(recordOf(tunnel));
        journal.event('Adopted', `adopted tunnel ${name}, which ran already as asked`);
        return available(context, running as Tunnel, asked);
      case 'conflict':
        return report('Conflict', takenBy(context, name, action.field), {
          fields: addressKept(resource.object, tunnel.url),
        });
      case 'replace':
        await resource.confirm();
        await agent.stop(name, call);
        return this.#start(context, { ...asked, before: started?.before && started }, () => {
          const changed = action.fields.length === 0 ? '' : `: ${action.fields.join(', ')}`;
          journal.event('Updated', `replaced tunnel ${name}${changed}`);
        });
      case 'correct': {
        const early = tooSoon(context, `tunnel ${name} has other options again`);
        if (early !== undefined) return early;
        await resource.confirm();
        await agent.stop(name, call);
        const again = await this.#start(context, { ...asked, before: started?.before && started }, () =>
          journal.event('DriftCorrected', `replaced tunnel ${name}: it had other options than it was started with`),
        );
        return again.reason === 'Available' ? startedAgain(context, name, again) : again;
      }
      case 'start': {
        const early = isProven ? tooSoon(context, `tunnel ${name} vanished again`, afterAgentPauses) : undefined;
        if (early !== undefined) return early;
        const again = await this.#start(context, { ...asked, before: started }, () =>
          tellOfStart(context, name, started !== undefined),
        );
        return isProven && again.reason === 'Available' ? startedAgain(context, name, again) : again;
      }
    }
  }

  #start(context: Context, asked: Asked, onStarted: () => void): Promise<Report> {
    return unlessRefused(context, `start ${JSON.stringify(asked.tunnel)}`, async () => {
      try {
        const running = await start(context, asked);
        onStarted();
        return available(context, running, asked);
      } catch (error) {
        // What the status showed does not run any more; whose a tunnel is, and its public address, stays known.
        return { ...reportFailure(error), fields: keptOf(context.resource.object, asked.tunnel) };
      }
    });
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
  const running = await agent.start(definitionOf(spec, tunnel.name), call).catch(async (error: unknown) => {
    if (isNotSent(error)) await resource.insist(() => recordOf(before));
    else facts.lostStart = time.now();
    throw error;
  });
  const shown = shownOf(running);
  facts.answeredStart = asked.startedAt;
  facts.answeredLook = looksLike(shown, tunnel.shown) ? undefined : lookOf(shown);
  await recordLook(context, asked);
  return running;
}

/** Where that could not be written the next look does: until then only this process knows that look. */
async function recordLook({ resource, facts }: Context, started: Started | undefined): Promise<void> {
  if (facts.answeredLook === undefined || started === undefined) return;
  await resource.insist(() => recordOf(asAnswered(started, facts)));
  delete facts.answeredLook;
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

/** All tunnels end with their agent, which may be started anew some times before it stays, and is to have them again then. */
const afterAgentPauses: Pauses = { shortestMs: 10_000, longestMs: 120_000 };

/** What vanishes again and again is started later and later, unless a person asks. */
function tooSoon(context: Context, what: string, pauses?: Pauses): Report | undefined {
  const { times, waitMs } = nextRecreation(context, pauses);
  if (waitMs <= 0 || context.occasion.requested) return undefined;
  const message = `${what}, after ${times} others: the agent may say why it does not stay; it is started again later, or at once by ${annotation.reconcileAt}`;
  return report('Creating', message, { retry: { kind: 'after', ms: waitMs } });
}

/** One that did not stay before is believed when it is seen. */
function startedAgain(context: Context, name: string, running: Report): Report {
  noteRecreation(context);
  const { times } = nextRecreation(context);
  if (times === 1) return running;
  const message = `tunnel ${name} was started again, after ${times} that did not stay: looking whether it stays`;
  return { ...running, ...report('Creating', message, { retry: { kind: 'resync' } }) };
}

function tellOfStart({ occasion, journal }: Context, name: string, before: boolean): void {
  if (before && occasion.drift) journal.event('DriftCorrected', `started tunnel ${name} again: it no longer ran`);
  else journal.event('Created', `started tunnel ${name}`);
}

function available({ resource }: Context, running: Tunnel, { spec, tunnel }: Asked): Report {
  const { name, uri, public_url } = running;
  const { url, name: tunnelName } = tunnel;
  const fields: Omit<Status, 'conditions' | 'observedGeneration'> = {
    uri: words(uri),
    agentURL: url,
    tunnelName,
    startedAt: startedOf(resource.object)?.startedAt,
    shownOptions: shownOptionsOf(running),
    publicURL: words(public_url),
  };
  const ignored = ignoredOf(spec).map((option) => `spec.options.${option}`);
  const more = ignored.length === 0 ? '' : `, without ${ignored.join(', ')}: what has a field of its own is no option`;
  return report('Available', `tunnel ${words(name)} runs${more}`, { fields });
}

function takenBy({ resource: { object }, facts }: Context, name: string, field: string): string {
  const started = startedOf(object);
  if (started !== undefined && !isSure(object, started, facts)) {
    return `a tunnel ${name} runs in the agent, with another ${field}, and it cannot be told whether this resource started it: stop it, or give spec the definition that it shows; or, where it is another's, set spec.tunnelName to another name`;
  }
  return `a tunnel ${name} that this resource did not start runs in the agent, with another ${field}: stop it, or set spec.tunnelName to another name`;
}
