import type { ReconcileResult } from '../controller/controller.ts';
import { annotation, annotationOf, recordsOf } from './annotations.ts';
import { announce } from './announce.ts';
import { movedAccount } from './claims.ts';
import type { ManagedObject } from './fields.ts';
import type { Flow } from './flow.ts';
import { type Outcome, report, reportFailure } from './outcome.ts';
import { settle } from './settle.ts';
import { isAsked, isDeleting, isDrift, isPaused, priorityOf, type Tools, type Turn } from './turn.ts';
import { hasFinalizer } from './writer.ts';

/** Reconciles every resource of one kind (docs/architecture.md, The flow). Knows no kind: the flow does. */
export class Reconciler<Client> {
  readonly #tools: Tools<Client>;
  readonly #flow: Flow<Client>;

  constructor(tools: Tools<Client>, flow: Flow<Client>) {
    this.#tools = tools;
    this.#flow = flow;
  }

  /** Brings the resource under `key` one step closer to what it asks for. Aborting `signal` ends only waiting. */
  async reconcile(key: string, reconcileID: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = this.#tools.cache.get(key);
    if (object === undefined) return { kind: 'done' };
    const { namespace, name } = object.metadata;
    const log = this.#tools.log.child({ kind: object.kind, namespace, name, reconcileID });
    const tools = { ...this.#tools, log };
    const outcome = await this.#attempt(tools, object, signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      return reportFailure(error);
    });
    // What was given up because the process ends, or something more urgent came, says nothing about the resource.
    const givenUp = signal.aborted && outcome?.kind === 'reported' && outcome.reason !== 'Available';
    if (outcome === undefined || givenUp) return { kind: 'done' };
    this.#remember(object, outcome);
    return settle(tools, key, object, outcome);
  }

  /** What is on record of a resource that is held, in case somebody replaces it by a manifest without. */
  note(object: ManagedObject): void {
    if (hasFinalizer(object)) this.#factsOf(object).records = recordsOf(object);
  }

  /** The resource is gone from Kubernetes: nothing of it need be remembered. */
  forget(object: ManagedObject): void {
    this.#tools.memory.forget(object.metadata.uid ?? '');
    this.#flow.forget(object);
  }

  async #attempt(tools: Tools<Client>, object: ManagedObject, signal: AbortSignal): Promise<Outcome> {
    if (isDeleting(object) && !hasFinalizer(object)) return { kind: 'finished' };
    if (isPaused(object) && this.#flow.isOver?.(object) !== true) {
      return report('Paused', `no call is made while the annotation ${annotation.paused} is "true"`);
    }
    if (isDeleting(object)) return this.#delete(tools, object, signal);
    return this.#ensure(tools, await this.#recorded(tools, object), signal);
  }

  /** A replacement wipes what its manifest does not have; without its record, what the resource made would be left behind. */
  async #recorded(tools: Tools<Client>, object: ManagedObject): Promise<ManagedObject> {
    const { records } = this.#factsOf(object);
    if (records === undefined || hasFinalizer(object)) return object;
    tools.log.warn('finalizer and records were removed by somebody else; putting them back');
    return tools.writer.restoreRecords(object, { ...records, ...recordsOf(object) });
  }

  async #ensure(tools: Tools<Client>, object: ManagedObject, signal: AbortSignal): Promise<Outcome> {
    const moved = movedAccount(object);
    if (moved !== undefined) return report('Rejected', moved);
    return this.#flow.ensure(this.#turn(tools, object, signal));
  }

  async #delete(tools: Tools<Client>, object: ManagedObject, signal: AbortSignal): Promise<Outcome> {
    const forced = !this.#flow.leavesNothing(object) && annotationOf(object, annotation.forceOrphan) === 'true';
    if (forced) announce({ ...tools, object }, 'Orphaned', `${this.#flow.leftBehind(object)} is left behind, as asked`);
    if (forced || this.#flow.leavesNothing(object)) {
      await tools.writer.removeFinalizer(object);
      return { kind: 'finished' };
    }
    try {
      return await this.#flow.remove(this.#turn(tools, object, signal));
    } catch (error) {
      const failure = reportFailure(error);
      return { ...failure, message: `deleting: ${failure.message}` };
    }
  }

  #remember(object: ManagedObject, outcome: Outcome): void {
    if (outcome.kind !== 'reported') return;
    const facts = this.#factsOf(object);
    if (outcome.reason === 'Available') facts.realizedGeneration = object.metadata.generation ?? 0;
    if (outcome.retry.kind === 'backoff') facts.failedAt = this.#tools.clock.now();
  }

  #turn(tools: Tools<Client>, object: ManagedObject, signal: AbortSignal): Turn<Client> {
    const facts = this.#factsOf(object);
    return {
      ...tools,
      object,
      uid: object.metadata.uid ?? '',
      account: tools.accountOf(object),
      call: { priority: priorityOf(object, facts), signal },
      startedAt: tools.clock.now(),
      asked: isAsked(object),
      drift: isDrift(object, facts),
    };
  }

  #factsOf(object: ManagedObject) {
    return this.#tools.memory.of(object.metadata.uid ?? '');
  }
}
