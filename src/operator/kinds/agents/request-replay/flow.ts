import { ApiError } from '../../../../common/http/errors.ts';
import { waitAway } from '../../../../common/priority.ts';
import type { AgentClient, Replay } from '../../../agent-client/client.ts';
import { annotationOf } from '../../../reconcile/annotations.ts';
import type { ReconcileContext } from '../../../reconcile/context.ts';
import { emit } from '../../../reconcile/events.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { DependencyError, type Outcome, type Report } from '../../../reconcile/outcome.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import { type Finished, finishedIn, isFinal, msToRemoval, refusal, reportOf, unknown } from './finished.ts';
import { type Spec, spec as specSchema } from './schema.ts';

/** An agent, as far as a replay needs it. */
export interface ReplayAgent extends Pick<AgentClient, 'status' | 'replay'> {
  /** Rejects with a RefusedError when this resource may not replay that. */
  check(replay: Replay): Promise<void>;
}

export interface ReplayFlowOptions {
  /** The agent that a resource names. Throws DependencyError when it cannot be used. */
  readonly agentOf: (object: ManagedObject) => ReplayAgent;
  /** A text that no other call gives. */
  readonly nonce: () => string;
}

type Context = ReconcileContext<undefined>;

/** A replay that was begun: when, and a nonce. Stays, so that it is never begun again. */
export const replayIntent = 'edge-operator.dev/replay-intent';

/**
 * Replays a captured request exactly once. The intent is recorded before the request is sent: a reconcile that finds one
 * whose end it does not know sends nothing, and says so.
 */
export class ReplayFlow implements Flow<undefined> {
  readonly #options: ReplayFlowOptions;
  /** Ends that this process saw, by uid, until the status has them. */
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
    const { object, uid } = context;
    const recorded = finishedIn(object);
    if (recorded !== undefined) return this.#conclude(context, recorded);
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return parsed.report;
    const finished = this.#finished.get(uid) ?? (await this.#finish(context, parsed.spec));
    this.#finished.set(uid, finished);
    return withRemoval(context, finished);
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#finished.delete(uid);
    this.#unsent.delete(uid);
  }

  /** It is in the status: what is left is to remove the resource when its time has come. */
  async #conclude(context: Context, finished: Finished): Promise<Outcome> {
    this.forget(context.object);
    const outcome = withRemoval(context, finished);
    if (outcome.retry.kind !== 'after' || outcome.retry.ms > 0) return outcome;
    await context.writer.delete(context.object);
    context.log.info('removed, as ttlSecondsAfterFinished asks');
    return { kind: 'finished' };
  }

  async #finish(context: Context, spec: Spec): Promise<Finished> {
    const intent = annotationOf(context.object, replayIntent);
    if (intent === undefined || intent === this.#unsent.get(context.uid)) return this.#attempt(context, spec);
    return { at: now(context), failure: unknown(intent) };
  }

  /** Throws an ApiError or a DependencyError only where certainly nothing was sent. */
  async #attempt(context: Context, { requestID, tunnelName }: Spec): Promise<Finished> {
    const agent = this.#options.agentOf(context.object);
    // An agent that is away is found here, at no risk, before anything is recorded.
    await waitAway(context.call, () => agent.status());
    await agent.check({ id: requestID, tunnelName });
    // One that may be on record without our knowing stays the same, or it would pass for somebody else's.
    const intent = this.#unsent.get(context.uid) ?? `${now(context)} ${this.#options.nonce()}`;
    const begun = await this.#begin(context, intent);
    try {
      await waitAway(context.call, () => agent.replay({ id: requestID, tunnelName }));
    } catch (error) {
      return this.#failed({ ...context, object: begun }, intent, error);
    }
    emit(context, 'Replayed', `request ${requestID} was replayed`);
    return { at: now(context) };
  }

  /** Whether a write that failed was made is not known: until it succeeded, the intent is known to mean nothing. */
  async #begin({ writer, object, uid }: Context, intent: string): Promise<ManagedObject> {
    this.#unsent.set(uid, intent);
    const begun = await writer.annotate(object, { [replayIntent]: intent });
    this.#unsent.delete(uid);
    return begun;
  }

  /** Withdraws the intent where the agent certainly did nothing. */
  async #failed({ writer, object, uid, clock }: Context, intent: string, error: unknown): Promise<Finished> {
    const at = now({ clock });
    const definite = error instanceof DependencyError || (error instanceof ApiError && error.definite);
    if (!definite) return { at, failure: unknown(intent, error) };
    this.#unsent.set(uid, intent);
    await writer.insist(object, () => ({ [replayIntent]: null }));
    if (error instanceof ApiError && isFinal(error)) return { at, failure: refusal(error) };
    throw error;
  }
}

/** With the time to look again, where the resource is to be removed. */
function withRemoval({ object, clock }: Context, finished: Finished): Report {
  const { requestID, ttlSecondsAfterFinished } = object.spec;
  const outcome = reportOf(finished, String(requestID));
  const ms = msToRemoval(finished, ttlSecondsAfterFinished, clock.now());
  return ms === undefined ? outcome : { ...outcome, retry: { kind: 'after', ms } };
}

function now({ clock }: Pick<Context, 'clock'>): string {
  return new Date(clock.now()).toISOString();
}
