import { waitAway } from '../../../../common/call.ts';
import { ApiError } from '../../../../common/http/errors.ts';
import type { AgentClient, Replay, Waiting } from '../../../agent-client/client.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { annotation, annotationOf } from '../../../reconcile/resource/annotations.ts';
import type { CurrentResource } from '../../../reconcile/resource/current-resource.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import { DependencyError, type Outcome, type Report } from '../../../reconcile/status/outcome.ts';
import type { AgentContext as Context } from '../registry/agent-kind.ts';
import { type Finished, finishedIn, isFinal, msToRemoval, refusal, reportOf, unknown } from './finished.ts';
import { type Spec, spec as specSchema } from './schema.ts';

/** An agent, as far as a replay needs it. */
export interface ReplayAgent extends Pick<AgentClient, 'status' | 'replay'> {
  /** Rejects with a RefusedError when this resource may not replay that. */
  check(replay: Replay, waiting?: Waiting): Promise<void>;
}

export interface ReplayFlowOptions {
  /** The agent that a resource names. Throws DependencyError when it cannot be used. */
  readonly agentOf: (object: ManagedObject) => ReplayAgent;
  /** A text that no other call gives. */
  readonly nonce: () => string;
}

/**
 * Replays a captured request once at most. The intent is recorded before the request is sent: a reconcile that finds one
 * whose end it does not know sends nothing, and says so.
 */
export class ReplayFlow implements Flow<undefined> {
  readonly conditions = ['Complete', 'Failed'];
  readonly #options: ReplayFlowOptions;
  /** Ends that this process saw, by uid, for as long as the resource is there: of what a status says it may be emptied. */
  readonly #finished = new Map<string, Finished>();
  /** Intents of this process, by uid, for which it has certainly sent nothing. */
  readonly #unsent = new Map<string, string>();

  constructor(options: ReplayFlowOptions) {
    this.#options = options;
  }

  isOver(object: ManagedObject): boolean {
    return finishedIn(object) !== undefined;
  }

  async ensure(context: Context): Promise<Outcome> {
    const { object, uid } = context.resource;
    const seen = this.#finished.get(uid);
    const recorded = finishedIn(object, seen);
    if (recorded !== undefined) return this.#conclude(context, recorded);
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return parsed.report;
    const finished = seen ?? (await this.#finish(context, parsed.spec));
    this.#finished.set(uid, finished);
    return withRemoval(context, finished);
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#finished.delete(uid);
    this.#unsent.delete(uid);
  }

  /** It is in the status: what is left is to remove the resource when its time has come. */
  async #conclude(context: Context, finished: Finished): Promise<Outcome> {
    const { resource, journal } = context;
    this.#unsent.delete(resource.uid);
    this.#finished.set(resource.uid, finished);
    const outcome = withRemoval(context, finished);
    if (outcome.retry.kind !== 'after' || outcome.retry.ms > 0) return outcome;
    await resource.delete();
    journal.info('removed, as ttlSecondsAfterFinished asks');
    return { kind: 'finished' };
  }

  async #finish(context: Context, spec: Spec): Promise<Finished> {
    const { object, uid } = context.resource;
    const intent = annotationOf(object, annotation.replayIntent);
    if (intent === undefined || intent === this.#unsent.get(uid)) return this.#attempt(context, spec);
    return { at: now(context), failure: unknown(intent) };
  }

  /** Throws an ApiError or a DependencyError only where certainly nothing was sent. */
  async #attempt(context: Context, { requestID, tunnelName }: Spec): Promise<Finished> {
    const { resource, call, journal } = context;
    const agent = this.#options.agentOf(resource.object);
    // An agent that is away is found here, at no risk, before anything is recorded.
    await waitAway(call, () => agent.status(call));
    await waitAway(call, () => agent.check({ id: requestID, tunnelName }, call));
    // One that may be on record without our knowing stays the same, or it would pass for somebody else's.
    const intent = this.#unsent.get(resource.uid) ?? `${now(context)} ${this.#options.nonce()}`;
    await this.#begin(resource, intent);
    try {
      await waitAway(call, () => agent.replay({ id: requestID, tunnelName }));
    } catch (error) {
      return this.#failed(context, intent, error);
    }
    journal.event('Replayed', `request ${requestID} was replayed`);
    return { at: now(context) };
  }

  /**
   * With whose it is, or another installation would take it for that of a process of its own which has died. Whether a write that
   * failed was made is not known: until it succeeded, the intent is known to mean nothing.
   */
  async #begin(resource: CurrentResource, intent: string): Promise<void> {
    this.#unsent.set(resource.uid, intent);
    await resource.sign({ [annotation.replayIntent]: intent });
    this.#unsent.delete(resource.uid);
  }

  /** Withdraws the intent where the agent certainly did nothing. */
  async #failed(context: Context, intent: string, error: unknown): Promise<Finished> {
    const { resource } = context;
    const at = now(context);
    const definite = error instanceof DependencyError || (error instanceof ApiError && error.definite);
    if (!definite) return { at, failure: unknown(intent, error) };
    this.#unsent.set(resource.uid, intent);
    await resource.insist(() => ({ [annotation.replayIntent]: null }));
    if (error instanceof ApiError && isFinal(error)) return { at, failure: refusal(error) };
    throw error;
  }
}

/** With the time to look again, where the resource is to be removed. */
function withRemoval({ resource, time }: Context, finished: Finished): Report {
  const { requestID, ttlSecondsAfterFinished } = resource.object.spec;
  const outcome = reportOf(finished, String(requestID));
  const ms = msToRemoval(finished, ttlSecondsAfterFinished, time.wall());
  return ms === undefined ? outcome : { ...outcome, retry: { kind: 'after', ms } };
}

function now({ time }: Context): string {
  return new Date(time.wall()).toISOString();
}
