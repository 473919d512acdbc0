import type { Call } from '../../common/call.ts';
import type { Log, LogFields } from '../../common/log.ts';
import type { Restorations } from '../../common/restorations.ts';
import type { ReconcileRequest, ReconcileResult } from '../controller/controller.ts';
import type { Connection } from './connections/connection.ts';
import type { ReconcileContext, Time } from './context.ts';
import { deleteResource, reportReleased } from './deletion.ts';
import type { Flow } from './flow.ts';
import { isRequested, occasionOf, priorityOf } from './occasion.ts';
import { concludeForeign, conflictWith } from './ownership/foreign.ts';
import type { Installation } from './ownership/installation.ts';
import { orphanOf } from './ownership/orphans.ts';
import { isSameInstallation, movedAccount, ownershipOf, provenAccountOf } from './ownership/ownership.ts';
import type { Peers } from './ownership/peers.ts';
import { annotation, annotationOf, isForced, isPaused, recordIn, recordsFor } from './resource/annotations.ts';
import { CurrentResource } from './resource/current-resource.ts';
import type { Memory } from './resource/memory.ts';
import { isAsWritten, isHeld, noteOthers, noteRecords } from './resource/records.ts';
import { isDeleting, type ManagedObject, type ResourceCache } from './resource/resource.ts';
import { hasFinalizer, isReleased, type ObjectWriter } from './resource/writer.ts';
import type { Schedule } from './schedule.ts';
import { emit, heard, Journal, type Telling } from './status/events.ts';
import { ContestedError, isTooSoon, type Outcome, type Report, report, reportFailure } from './status/outcome.ts';
import { conclude } from './status/status.ts';
import { Unkept } from './status/unkept.ts';
import { tellOfUnknownAnnotation } from './status/unknown-annotation.ts';

/** What the reconciler of one kind works with. */
export interface ReconcilerOptions<Client> extends Telling {
  readonly cache: ResourceCache;
  /** Throws DependencyError when what a resource uses cannot be used. */
  readonly connectionOf: (object: ManagedObject) => Connection<Client>;
  readonly writer: ObjectWriter;
  readonly memory: Memory;
  readonly peers: Peers;
  readonly time: Time;
  readonly schedule: Schedule;
  readonly installation: Installation;
  /** Of finalizers and records, by uid. */
  readonly restorations: Restorations;
  /** Whether this process may work on it now. */
  readonly isMine: (object: ManagedObject) => boolean;
  /** What a resource uses, for its lines in the log: `{ account: 'team-a/main' }`. */
  readonly uses?: ((object: ManagedObject) => LogFields) | undefined;
}

/** How a reconcile waits. */
type Waiting = Pick<Call, 'signal' | 'away'>;

/** Reconciles every resource of one kind (docs/architecture.md, The flow). Knows no kind: the flow does. */
export class Reconciler<Client> {
  readonly #options: ReconcilerOptions<Client>;
  readonly #flow: Flow<Client>;
  readonly #unkept = new Unkept();

  constructor(options: ReconcilerOptions<Client>, flow: Flow<Client>) {
    this.#options = options;
    this.#flow = flow;
  }

  /** Brings the resource under `key` one step closer to what it asks for. Aborting `signal` ends only waiting. */
  async reconcile({ key, id: reconcileID, signal, away }: ReconcileRequest): Promise<ReconcileResult> {
    const { cache } = this.#options;
    const cached = cache.get(key);
    const object = cached && (await cache.whole(cached));
    if (object === undefined) return { kind: 'done' };
    const log = this.#logOf(object, { reconcileID });
    const { conditions = [] } = this.#flow;
    const conditionsOf = (of: ManagedObject) => this.#flow.conditionsOf?.(of) ?? [];
    const options = {
      ...this.#options,
      log,
      conditions,
      conditionsOf,
      ownershipOf: (of: ManagedObject) => this.#flow.ownershipOf?.(of) ?? ownershipOf(of),
      unkept: this.#unkept,
      ...heard(this.#options.events),
    };
    const foreign = options.installation.otherOf(object);
    if (foreign !== undefined && !isForced(object) && !isReleased(object)) {
      const facts = this.#factsOf(object);
      facts.isElsewhere = true;
      this.#flow.standDown?.(object);
      if (!this.#isOthers(object)) await this.#flow.handOver?.(new CurrentResource(object, options.writer, facts));
      // How it ended is not overwritten by what is of no matter any more.
      if (this.#flow.isOver?.(object) === true) return { kind: 'done' };
      return concludeForeign(options, object, foreign, conflictWith(foreign, object));
    }
    const outcome = await this.#attempt(options, object, { signal, away }).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      return isTooSoon(error) ? error : reportFailure(error);
    });
    if (isTooSoon(outcome)) return { kind: 'backoff' };
    if (cache.get(key)?.metadata.uid !== object.metadata.uid) {
      // It went meanwhile, and was forgotten: what was learned of it since would be kept for ever.
      this.#forget(object);
      return { kind: 'done' };
    }
    // What was given up because the process ends, something more urgent came, or another replica goes on with it, says
    // nothing about the resource, but what it has made by then.
    const isOver = signal.aborted || !this.#options.isMine(object);
    if (outcome === undefined || (isOver && !isFinal(outcome, object))) return { kind: 'done' };
    this.#remember(object, outcome);
    const ms = this.#unsaidMs(object, outcome);
    if (ms > 0) return { kind: 'after', ms: Math.min(ms, retryMs(outcome)) };
    if (foreign === undefined || outcome.kind === 'finished') return conclude(options, key, object, outcome);
    return concludeForeign(options, object, foreign, outcome);
  }

  /**
   * What is on record of a resource that is held, in case somebody changes that, or replaces it by a manifest without.
   * @param isNew to this process, whatever it knew of it
   */
  note(object: ManagedObject, isNew = false): void {
    if (isNew) this.#options.installation.forget(object.metadata.uid ?? '');
    if (!isHeld(object)) return;
    const facts = this.#factsOf(object);
    const isOthers = this.#isOthers(object);
    if (isNew || isOthers) noteOthers(facts, object);
    if (!isOthers) noteRecords(facts, object, this.#options.time.now());
  }

  /** The resource has gone from Kubernetes. */
  gone(object: ManagedObject): void {
    if (this.#options.isMine(object)) this.#tellOfOrphan(object);
    this.#flow.gone?.(object);
    this.forget(object);
  }

  /** As where another replica goes on with the resource: nothing of it need be remembered. */
  forget(object: ManagedObject): void {
    this.#forget(object);
    this.#options.installation.forget(object.metadata.uid ?? '');
    this.#flow.forget?.(object);
  }

  #forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#options.memory.forget(uid);
    this.#options.restorations.forget(uid);
  }

  async #attempt(options: ReconcilerOptions<Client>, object: ManagedObject, waiting: Waiting): Promise<Outcome> {
    tellOfUnknownAnnotation({ ...this.#options, log: options.log }, object);
    if (isReleased(object)) {
      this.#flow.standDown?.(object);
      return reportReleased(this.#flow, object);
    }
    if (isPaused(object) && !isForced(object) && this.#flow.isOver?.(object) !== true) {
      const says = annotationOf(object, annotation.paused) === 'true' ? 'is "true"' : 'does not say "false"';
      return report('Paused', `no call is made while the annotation ${annotation.paused} ${says}`);
    }
    // What is large is not as the cache has it, and whose it is may have changed without it.
    this.note(object);
    // What goes as it is needs no record, which may be refused, and would make another installation's this one's.
    const recorded = isForced(object) ? object : await this.#recorded(options, object);
    if (!isDeleting(recorded)) return this.#ensure(options, recorded, waiting);
    return deleteResource(recorded, {
      ...options,
      flow: this.#flow,
      facts: this.#factsOf(recorded),
      contextOf: () => this.#context(options, recorded, waiting),
      movedAddress: (context) => this.#movedAddress(context),
    });
  }

  /** A person had it go without the operator, which would have removed what it made. */
  #tellOfOrphan(object: ManagedObject): void {
    const { installation, memory, time } = this.#options;
    const known = memory.known(object.metadata.uid ?? '');
    const left = orphanOf(this.#flow, object, { known, installation: () => installation.name, now: time.now() });
    if (left === undefined) return;
    const note = `${left} is left behind, if it is still there: the finalizer was taken off`;
    emit({ ...this.#options, log: this.#logOf(object) }, object, 'Orphaned', note);
  }

  #logOf(object: ManagedObject, more: LogFields = {}): Log {
    const { log, uses } = this.#options;
    const { namespace, name } = object.metadata;
    return log.child({ kind: object.kind, namespace, name, ...more, ...uses?.(object) });
  }

  /** Another replica works on it, or another installation began to. */
  #isOthers(object: ManagedObject): boolean {
    const { isMine, installation } = this.#options;
    const by = recordIn(object, annotation.installation);
    return !isMine(object) || (by !== undefined && !isSameInstallation(by, installation.name));
  }

  /**
   * A replacement wipes what its manifest does not have, or brings back what it was saved with; without its record, what the
   * resource made would be left behind. Who updates it whole may keep the finalizer and change the records alone. Of one that
   * came while nobody was there the status tells: it is held before anything else is found to be wrong with it. Who does so again
   * and again is not answered as fast: throws a ContestedError meanwhile, for nothing may be done that relies on the record.
   */
  async #recorded(options: ReconcilerOptions<Client>, object: ManagedObject): Promise<ManagedObject> {
    const facts = this.#factsOf(object);
    const { records } = facts;
    const isKnown = records !== undefined || provenAccountOf(object) !== undefined;
    const isWhole = hasFinalizer(object) && (records === undefined || isAsWritten(object, records));
    if (!isKnown || isWhole) return object;
    const resource = new CurrentResource(object, options.writer, facts);
    const waitMs = options.restorations.wait(resource.uid);
    if (waitMs > 0) throw new ContestedError(waitMs);
    options.log.warn('finalizer or records were changed by somebody else; putting them back');
    await resource.record(recordsFor(object, records));
    options.restorations.restored(resource.uid);
    return resource.object;
  }

  async #ensure(options: ReconcilerOptions<Client>, object: ManagedObject, waiting: Waiting): Promise<Outcome> {
    const moved = this.#flow.isBegun?.(object) === true ? undefined : movedAccount(object);
    if (moved !== undefined) return report('Rejected', moved);
    const context = this.#context(options, object, waiting);
    return this.#movedAddress(context) ?? this.#flow.ensure(context);
  }

  #movedAddress({ resource, connection, facts }: ReconcileContext<Client>): Report | undefined {
    const moved = this.#options.installation.movedAddress(resource.object, connection.url);
    delete facts.isElsewhere;
    if (moved === undefined) return undefined;
    facts.isElsewhere = true;
    return report('Rejected', moved);
  }

  #remember(object: ManagedObject, outcome: Outcome): void {
    if (outcome.kind !== 'reported') return;
    const facts = this.#factsOf(object);
    const { reason } = outcome;
    if (reason === 'Available') facts.realizedGeneration = object.metadata.generation ?? 0;
    if (isRequested(object) || reason === 'Available' || reason === 'DependencyNotReady') delete facts.failing;
    const now = this.#options.time.now();
    if (reason === 'Unreachable' || reason === 'Unauthorized')
      facts.failing = { since: now, ...facts.failing, at: now };
    if (outcome.retry.kind === 'backoff') facts.failedAt = now;
  }

  /** For how long nothing is said yet of what is on its way: it would still be said while the resource waits for its turn. */
  #unsaidMs(object: ManagedObject, outcome: Outcome): number {
    const facts = this.#factsOf(object);
    const now = this.#options.time.now();
    if (outcome.kind !== 'reported' || outcome.isPending !== true) {
      delete facts.pendingSince;
      return 0;
    }
    facts.pendingSince ??= now;
    return facts.pendingSince + onItsWayMs - now;
  }

  #context(options: ReconcilerOptions<Client>, object: ManagedObject, waiting: Waiting): ReconcileContext<Client> {
    const { writer, connectionOf, schedule, peers, time } = options;
    const facts = this.#factsOf(object);
    const resource = new CurrentResource(object, writer, facts);
    return {
      resource,
      facts,
      connection: connectionOf(object),
      call: {
        priority: priorityOf(object, facts),
        namespace: object.metadata.namespace,
        // What waited for its turn may be for an account that is paused by then, is to go, or has lost its key.
        permit: () => void connectionOf(object),
        ...waiting,
      },
      occasion: occasionOf(object, facts, schedule, time.now()),
      ...{ peers, time },
      journal: new Journal(resource, options),
    };
  }

  #factsOf(object: ManagedObject) {
    return this.#options.memory.of(object.metadata.uid ?? '');
  }
}

/** An account's first check takes no longer, unless it says itself what stands in its way. */
const onItsWayMs = 5_000;

function retryMs(outcome: Outcome): number {
  return outcome.kind === 'reported' && outcome.retry.kind === 'after' ? outcome.retry.ms : Number.POSITIVE_INFINITY;
}

/** It is so whatever else was given up: all is done, or what was made is not on record of the status yet. */
function isFinal(outcome: Outcome, object: ManagedObject): boolean {
  if (outcome.kind === 'finished' || outcome.reason === 'Available') return true;
  const made = outcome.ownership?.id;
  return made !== undefined && made !== ownershipOf(object).id;
}
