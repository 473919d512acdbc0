import type { AgentClient } from '../../../agent-client/client.ts';
import { annotation, annotationOf } from '../../../reconcile/annotations.ts';
import type { Turn } from '../../../reconcile/context.ts';
import { announce } from '../../../reconcile/events.ts';
import { isCallFailure } from '../../../reconcile/external/contract.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import type { Outcome, Report } from '../../../reconcile/outcome.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import { type Finished, finishedIn, isFinal, msToRemoval, refusal, reportOf, unknown } from './finished.ts';
import { type Spec, spec as specSchema } from './schema.ts';

export interface ReplayFlowOptions {
  /** The agent that a resource names. Throws DependencyError when it cannot be used. */
  readonly agentOf: (object: ManagedObject) => Pick<AgentClient, 'status' | 'replay'>;
  /** A text that no other call gives. */
  readonly nonce: () => string;
}

type ReplayTurn = Turn<undefined>;

/**
 * Replays a captured request exactly once. The intent is recorded before the request is sent: a reconcile that finds one
 * whose end it does not know sends nothing, and says so.
 */
export class ReplayFlow implements Flow<undefined> {
  readonly noun = 'replay';
  readonly #options: ReplayFlowOptions;
  /** Ends that this process saw, by uid, until the status has them. */
  readonly #finished = new Map<string, Finished>();
  /** Intents of this process, by uid, for which it has certainly sent nothing. */
  readonly #unsent = new Map<string, string>();

  constructor(options: ReplayFlowOptions) {
    this.#options = options;
  }

  claims(): readonly string[] {
    return [];
  }

  isOver(object: ManagedObject): boolean {
    return finishedIn(object) !== undefined;
  }

  async ensure(turn: ReplayTurn): Promise<Outcome> {
    const { object, uid } = turn;
    const recorded = finishedIn(object);
    if (recorded !== undefined) return this.#conclude(turn, recorded);
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return parsed.report;
    const finished = this.#finished.get(uid) ?? (await this.#finish(turn, parsed.spec));
    this.#finished.set(uid, finished);
    return withRemoval(turn, finished);
  }

  leavesNothing(): boolean {
    return true;
  }

  /** Never asked for: nothing is left outside. */
  async remove(): Promise<Outcome> {
    return { kind: 'finished' };
  }

  leftBehind(): string {
    return 'nothing';
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#finished.delete(uid);
    this.#unsent.delete(uid);
  }

  close(): void {}

  /** It is in the status: what is left is to remove the resource when its time has come. */
  async #conclude(turn: ReplayTurn, finished: Finished): Promise<Outcome> {
    this.forget(turn.object);
    const outcome = withRemoval(turn, finished);
    if (outcome.retry.kind !== 'after' || outcome.retry.ms > 0) return outcome;
    await turn.writer.remove(turn.object);
    turn.log.info('removed, as ttlSecondsAfterFinished asks');
    return { kind: 'finished' };
  }

  async #finish(turn: ReplayTurn, spec: Spec): Promise<Finished> {
    const intent = annotationOf(turn.object, annotation.replayIntent);
    if (intent === undefined || intent === this.#unsent.get(turn.uid)) return this.#attempt(turn, spec);
    return { at: now(turn), failure: unknown(intent) };
  }

  /** Throws a CallFailure or a DependencyError only where certainly nothing was sent. */
  async #attempt(turn: ReplayTurn, { requestID, tunnelName }: Spec): Promise<Finished> {
    const agent = this.#options.agentOf(turn.object);
    // An agent that is away is found here, at no risk, before anything is recorded.
    await agent.status();
    // One that may be on record without our knowing stays the same, or it would pass for somebody else's.
    const intent = this.#unsent.get(turn.uid) ?? `${now(turn)} ${this.#options.nonce()}`;
    const begun = await this.#begin(turn, intent);
    try {
      await agent.replay({ id: requestID, tunnelName });
    } catch (error) {
      return this.#failed({ ...turn, object: begun }, intent, error);
    }
    announce(turn, 'Replayed', `request ${requestID} was replayed`);
    return { at: now(turn) };
  }

  /** Whether a write that failed was made is not known: until it succeeded, the intent is known to mean nothing. */
  async #begin({ writer, object, uid }: ReplayTurn, intent: string): Promise<ManagedObject> {
    this.#unsent.set(uid, intent);
    const begun = await writer.beginReplay(object, intent);
    this.#unsent.delete(uid);
    return begun;
  }

  /** Withdraws the intent where the agent certainly did nothing. */
  async #failed({ writer, object, uid, clock }: ReplayTurn, intent: string, error: unknown): Promise<Finished> {
    const at = now({ clock });
    const definite = isCallFailure(error) && error.definite;
    if (!definite) return { at, failure: unknown(intent, error) };
    this.#unsent.set(uid, intent);
    await writer.cancelReplay(object);
    if (isFinal(error)) return { at, failure: refusal(error) };
    throw error;
  }
}

/** With the time to look again, where the resource is to be removed. */
function withRemoval({ object, clock }: ReplayTurn, finished: Finished): Report {
  const { requestID, ttlSecondsAfterFinished } = object.spec;
  const outcome = reportOf(finished, String(requestID));
  const ms = msToRemoval(finished, ttlSecondsAfterFinished, clock.now());
  return ms === undefined ? outcome : { ...outcome, retry: { kind: 'after', ms } };
}

function now({ clock }: Pick<ReplayTurn, 'clock'>): string {
  return new Date(clock.now()).toISOString();
}
