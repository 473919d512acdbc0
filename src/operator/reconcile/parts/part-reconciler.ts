import { ApiError } from '../../../common/http/errors.ts';
import { dueSince, isDeleting, type ReconcileContext } from '../context.ts';
import { emit } from '../events.ts';
import { fingerprint } from '../json.ts';
import { witnessesApartMs } from '../memory.ts';
import { DependencyError, type Report, report, reportFailure } from '../outcome.ts';
import { appliedParts, rivalName, standingOnPart, winnerOver } from '../ownership.ts';
import { notTaken, refusedLately, unlessRefused } from '../refusals.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from '../resource.ts';
import type { Part, ReadReference } from './part.ts';
import { type PartAction, planPart } from './plan.ts';

// biome-ignore lint/suspicious/noExplicitAny: each part has a body and an observation of its own, which only it reads
export type AnyPart<Spec, Client> = Part<Spec, Client, any, any>;

/** Of each claim, what a call of ours last showed, when, and for which resource. */
export type Seen = Map<string, { readonly at: number; readonly observed: unknown; readonly uid: string }>;

/** What is to be done about a part: an action, or a report when that is clear without one. */
export interface PartPlan {
  readonly action: PartAction;
  readonly body?: unknown;
  readonly observed?: unknown;
  readonly report?: Report;
}

export interface PartResult {
  /** undefined for a part that the spec does not name and that is gone. */
  readonly report: Report | undefined;
  /** What is out there, as far as this context learned it. */
  readonly observed?: unknown;
  /** What this resource is not to remove: it is gone, or was never applied. */
  readonly isForeign?: boolean;
}

/** One part in one reconcile. */
export class PartReconciler<Spec extends ManagedSpec, Client> {
  readonly part: AnyPart<Spec, Client>;
  readonly named: boolean;
  readonly #context: ReconcileContext<Client>;
  readonly #spec: Spec;
  readonly #parent: string;
  readonly #claim: string;
  readonly #seen: Seen;

  constructor(
    part: AnyPart<Spec, Client>,
    context: {
      context: ReconcileContext<Client>;
      spec: Spec;
      parent: string;
      claim: string;
      named: boolean;
      seen: Seen;
    },
  ) {
    this.part = part;
    this.named = context.named;
    this.#context = context.context;
    this.#spec = context.spec;
    this.#parent = context.parent;
    this.#claim = context.claim;
    this.#seen = context.seen;
  }

  /** Reads, and changes nothing. One part's failure is its own: it becomes a report. */
  async plan(read: ReadReference): Promise<PartPlan> {
    const rival = this.#rival();
    if (rival !== undefined && this.named) return stop(this.#conflict(rival));
    try {
      return await this.#compare(read);
    } catch (error) {
      return stop(reportFailure(error));
    }
  }

  async act({ action, body, observed, report: known }: PartPlan): Promise<PartResult> {
    if (action.kind === 'stop') return { observed, report: known ?? report(action.reason, action.message) };
    if (action.kind === 'none') return { observed, report: this.named ? this.#available() : undefined };
    if (action.kind === 'delete') return this.#removed();
    let replaced: unknown;
    let isForeign = false;
    const outcome = await unlessRefused(this.#context, this.#attemptOf(body), async () => {
      try {
        replaced = await this.#replace(body, observed, action.fields);
      } catch (error) {
        isForeign = !this.#isApplied() && error instanceof ApiError && error.definite;
        throw error;
      }
      return this.#taken(body, replaced);
    });
    return { observed: replaced ?? observed, report: outcome.kind === 'reported' ? outcome : undefined, isForeign };
  }

  /** What another resource has a better claim to is that one's to delete. Reports while it is not certain that it is gone; throws as calls do. */
  async delete(): Promise<Report | undefined> {
    if (this.#rival() !== undefined) return undefined;
    const unsettled = this.#unsettled();
    if (unsettled !== undefined) return unsettled;
    const { connection, call, memory, uid, monotonic } = this.#context;
    const { absentParts } = memory.of(uid);
    const absentAt = absentParts.get(this.part.name);
    let result: 'deleted' | 'absent';
    if (absentAt === undefined) {
      result = await this.part.delete(connection.client, this.#spec, call);
      if (result === 'absent') return this.#lookAgain(witnessesApartMs);
    } else {
      const waitMs = absentAt + witnessesApartMs - monotonic.now();
      if (waitMs > 0) return this.#lookAgain(waitMs);
      absentParts.delete(this.part.name);
      // There after all: what said that it is not was something else.
      if ((await this.part.get(connection.client, this.#spec, call)) !== undefined) return this.delete();
      result = 'absent';
    }
    this.#seen.delete(this.#claim);
    const how = result === 'deleted' ? 'removed' : 'was gone already';
    emit(this.#context, 'Deleted', `${this.part.displayName} of ${this.#parent} ${how}`);
    return undefined;
  }

  /** What was sent and not answered may be carried out after the delete, and would then be nobody's. */
  #unsettled(): Report | undefined {
    const { memory, uid, monotonic, object, createSettleMs } = this.#context;
    const { lostParts } = memory.of(uid);
    const waitMs = (lostParts.get(this.part.name) ?? Number.NEGATIVE_INFINITY) + createSettleMs - monotonic.now();
    if (waitMs > 0) {
      const message = `an unanswered change of the ${this.part.displayName} may still be carried out`;
      return report(isDeleting(object) ? 'Deleting' : 'Updating', message, { retry: { kind: 'after', ms: waitMs } });
    }
    lostParts.delete(this.part.name);
    return undefined;
  }

  /** One answer is one witness. */
  #lookAgain(ms: number): Report {
    const { memory, uid, monotonic, object } = this.#context;
    const { absentParts } = memory.of(uid);
    if (!absentParts.has(this.part.name)) absentParts.set(this.part.name, monotonic.now());
    const message = `the ${this.part.displayName} was not found: making sure that it is gone`;
    return report(isDeleting(object) ? 'Deleting' : 'Updating', message, { retry: { kind: 'after', ms } });
  }

  async #compare(read: ReadReference): Promise<PartPlan> {
    const body: unknown = this.named ? await this.part.desired(this.#spec, read) : undefined;
    const observed = this.named ? await this.#observe() : undefined;
    const action = planPart({
      displayName: this.part.displayName,
      managementPolicy: this.#spec.managementPolicy,
      named: this.named,
      applied: this.#isApplied(),
      exists: observed !== undefined,
      differences: observed === undefined ? [] : this.part.diff(body, observed),
      refusal: this.named ? this.part.refusal?.(body, observed) : undefined,
    });
    if (this.named && action.kind === 'none') this.#inPlace().set(this.part.name, fingerprint(body));
    const refused = action.kind === 'replace' ? refusedLately(this.#context, this.#attemptOf(body)) : undefined;
    return refused === undefined ? { action, body, observed } : { ...stop(refused), observed };
  }

  async #observe(): Promise<unknown> {
    const context = this.#context;
    const since = context.requested ? context.startedAt : dueSince(context);
    const known = this.#seen.get(this.#claim);
    if (known !== undefined && known.at >= since && known.uid === context.uid) return known.observed;
    const sentAt = context.monotonic.now();
    const observed: unknown = await this.part.get(context.connection.client, this.#spec, context.call);
    this.#remember(observed, sentAt);
    return observed;
  }

  async #replace(body: unknown, observed: unknown, fields: readonly string[]): Promise<unknown> {
    const context = this.#context;
    let replaced: unknown;
    try {
      replaced = await this.part.replace(context.connection.client, this.#spec, body, context.call);
    } catch (error) {
      this.#seen.delete(this.#claim);
      const isLost = !(error instanceof ApiError && error.definite);
      if (isLost) context.memory.of(context.uid).lostParts.set(this.part.name, context.monotonic.now());
      throw this.#parentMissing(error) ? new DependencyError(`${this.#parent} does not exist`) : error;
    }
    this.#remember(replaced, context.monotonic.now());
    this.#emitReplaced(body, observed === undefined, fields);
    this.#inPlace().set(this.part.name, fingerprint(body));
    return replaced;
  }

  async #removed(): Promise<PartResult> {
    try {
      const unsure = await this.delete();
      return unsure === undefined ? { report: undefined, isForeign: true } : { report: unsure };
    } catch (error) {
      return { report: reportFailure(error) };
    }
  }

  /** On record from an earlier context. */
  #isApplied(): boolean {
    return appliedParts(this.#context.object).has(this.part.name);
  }

  /** Names a PUT, and shows nothing of what is in it. */
  #attemptOf(body: unknown): string {
    return `${this.part.name} ${fingerprint(body)}`;
  }

  /** A PUT that is answered by 404 has no parent to go to. */
  #parentMissing(error: unknown): boolean {
    return error instanceof ApiError && error.reason === 'NotFound';
  }

  #emitReplaced(body: unknown, isNew: boolean, fields: readonly string[]): void {
    const what = `${this.part.displayName} of ${this.#parent}`;
    const drift = this.#isDrift(body);
    if (isNew) emit(this.#context, 'Created', `applied ${what}`);
    else if (drift) emit(this.#context, 'DriftCorrected', `put back ${fields.join(', ')} of ${what}`);
    else emit(this.#context, 'Updated', `updated ${fields.join(', ')} of ${what}`);
    if (drift && !isNew) this.#context.onDriftCorrected?.();
  }

  /** Another part may be in trouble: what counts is that this one was as this generation asks. */
  #isDrift(body: unknown): boolean {
    const { drift, object } = this.#context;
    const inPlace = this.#inPlace().get(this.part.name);
    // What it refers to has changed.
    if (inPlace !== undefined && inPlace !== fingerprint(body)) return false;
    if (drift || this.part.condition === undefined) return drift;
    const condition = conditionOf(object, this.part.condition);
    return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation;
  }

  #inPlace(): Map<string, string> {
    return this.#context.memory.of(this.#context.uid).inPlace;
  }

  /** Who has a better claim, by what their accounts really are. */
  #rival(): ManagedObject | undefined {
    const { object, cache, accountOf } = this.#context;
    const account = accountOf(object);
    const rivals = cache.claimants(this.#claim).filter((other) => accountOf(other) === account);
    return winnerOver(object, rivals, standingOnPart(this.part.name));
  }

  #conflict(rival: ManagedObject): Report {
    const who = rivalName(this.#context.object, rival);
    return report('Conflict', `the ${this.part.displayName} is managed by ${who}: remove it from one of the two`);
  }

  #remember(observed: unknown, at: number): void {
    this.#seen.set(this.#claim, { at, observed, uid: this.#context.uid });
    this.#context.memory.of(this.#context.uid).observed = true;
  }

  /** The service may accept a PUT and do otherwise. */
  #taken(body: unknown, replaced: unknown): Report {
    const ignored = this.part.diff(body, replaced);
    return ignored.length === 0 ? this.#available() : notTaken(this.part.displayName, ignored);
  }

  #available(): Report {
    return report('Available', `the ${this.part.displayName} is as the spec asks`);
  }
}

function stop(known: Report): PartPlan {
  return { action: { kind: 'stop', reason: known.reason, message: known.message }, report: known };
}
