import { ApiError } from '../../../common/http/errors.ts';
import type { ReconcileContext } from '../context.ts';
import { fingerprint } from '../json.ts';
import { witnessesApartMs } from '../memory.ts';
import { DependencyError, type Report, report, reportFailure } from '../outcome.ts';
import { rivalName, standingOnPart } from '../ownership.ts';
import { notTaken, refusedLately, unlessRefused } from '../refusals.ts';
import { conditionOf, isDeleting, type ManagedObject, type ManagedSpec } from '../resource.ts';
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

export interface PartOptions<Spec> {
  readonly spec: Spec;
  /** As people call it. */
  readonly parent: string;
  /** As two resources of the same part have it alike. */
  readonly claim: string;
  /** The spec names the part. */
  readonly named: boolean;
  /** On record from an earlier reconcile. */
  readonly applied: boolean;
  readonly seen: Seen;
  /** How long after a change of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
}

/** One part in one reconcile. */
export class PartReconciler<Spec extends ManagedSpec, Client> {
  readonly part: AnyPart<Spec, Client>;
  readonly named: boolean;
  readonly #context: ReconcileContext<Client>;
  readonly #options: PartOptions<Spec>;

  constructor(part: AnyPart<Spec, Client>, context: ReconcileContext<Client>, options: PartOptions<Spec>) {
    this.part = part;
    this.named = options.named;
    this.#context = context;
    this.#options = options;
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
        isForeign = !this.#options.applied && error instanceof ApiError && error.definite;
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
    const { connection, call, facts, time } = this.#context;
    const { absentParts } = facts;
    const absentAt = absentParts.get(this.part.name);
    let result: 'deleted' | 'absent';
    if (absentAt === undefined) {
      result = await this.part.delete(connection.client, this.#options.spec, call);
      if (result === 'absent') return this.#lookAgain(witnessesApartMs);
    } else {
      const waitMs = absentAt + witnessesApartMs - time.now();
      if (waitMs > 0) return this.#lookAgain(waitMs);
      absentParts.delete(this.part.name);
      // There after all: what said that it is not was something else.
      if ((await this.part.get(connection.client, this.#options.spec, call)) !== undefined) return this.delete();
      result = 'absent';
    }
    this.#options.seen.delete(this.#options.claim);
    const how = result === 'deleted' ? 'removed' : 'was gone already';
    this.#context.journal.event('Deleted', `${this.part.displayName} of ${this.#options.parent} ${how}`);
    return undefined;
  }

  /** What was sent and not answered may be carried out after the delete, and would then be nobody's. */
  #unsettled(): Report | undefined {
    const { lostParts } = this.#context.facts;
    const lostAt = lostParts.get(this.part.name) ?? Number.NEGATIVE_INFINITY;
    const waitMs = lostAt + this.#options.createSettleMs - this.#context.time.now();
    if (waitMs > 0) {
      const message = `an unanswered change of the ${this.part.displayName} may still be carried out`;
      return this.#waiting(message, waitMs);
    }
    lostParts.delete(this.part.name);
    return undefined;
  }

  /** One answer is one witness. */
  #lookAgain(ms: number): Report {
    const { facts, time } = this.#context;
    const { absentParts } = facts;
    if (!absentParts.has(this.part.name)) absentParts.set(this.part.name, time.now());
    return this.#waiting(`the ${this.part.displayName} was not found: making sure that it is gone`, ms);
  }

  #waiting(message: string, ms: number): Report {
    const reason = isDeleting(this.#context.resource.object) ? 'Deleting' : 'Updating';
    return report(reason, message, { retry: { kind: 'after', ms } });
  }

  async #compare(read: ReadReference): Promise<PartPlan> {
    const body: unknown = this.named ? await this.part.desired(this.#options.spec, read) : undefined;
    const observed = this.named ? await this.#observe() : undefined;
    const action = planPart({
      displayName: this.part.displayName,
      managementPolicy: this.#options.spec.managementPolicy,
      named: this.named,
      applied: this.#options.applied,
      exists: observed !== undefined,
      differences: observed === undefined ? [] : this.part.diff(body, observed),
      refusal: this.named ? this.part.refusal?.(body, observed) : undefined,
    });
    const refused = action.kind === 'replace' ? refusedLately(this.#context, this.#attemptOf(body)) : undefined;
    return refused === undefined ? { action, body, observed } : { ...stop(refused), observed };
  }

  async #observe(): Promise<unknown> {
    const { resource, occasion, connection, call, time } = this.#context;
    const dueSince = Math.max(occasion.lastDue(), connection.since ?? Number.NEGATIVE_INFINITY);
    const since = occasion.requested ? occasion.startedAt : dueSince;
    const known = this.#options.seen.get(this.#options.claim);
    if (known !== undefined && known.at >= since && known.uid === resource.uid) return known.observed;
    const sentAt = time.now();
    const observed: unknown = await this.part.get(connection.client, this.#options.spec, call);
    this.#remember(observed, sentAt);
    return observed;
  }

  async #replace(body: unknown, observed: unknown, fields: readonly string[]): Promise<unknown> {
    const { connection, call, facts, time } = this.#context;
    const { spec, seen, claim, parent } = this.#options;
    let replaced: unknown;
    try {
      replaced = await this.part.replace(connection.client, spec, body, call);
    } catch (error) {
      seen.delete(claim);
      const isLost = !(error instanceof ApiError && error.definite);
      if (isLost) facts.lostParts.set(this.part.name, time.now());
      throw isParentMissing(error) ? new DependencyError(`${parent} does not exist`) : error;
    }
    this.#remember(replaced, time.now());
    this.#tellReplaced(observed === undefined, fields);
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

  /** Names a PUT, and shows nothing of what is in it. */
  #attemptOf(body: unknown): string {
    return `${this.part.name} ${fingerprint(body)}`;
  }

  #tellReplaced(isNew: boolean, fields: readonly string[]): void {
    const { journal } = this.#context;
    const what = `${this.part.displayName} of ${this.#options.parent}`;
    if (isNew) journal.event('Created', `applied ${what}`);
    else if (this.#isDrift()) journal.event('DriftCorrected', `put back ${fields.join(', ')} of ${what}`);
    else journal.event('Updated', `updated ${fields.join(', ')} of ${what}`);
  }

  /** Another part may be in trouble: what counts is that this one was as this generation asks. */
  #isDrift(): boolean {
    const { occasion, resource } = this.#context;
    if (occasion.drift || this.part.condition === undefined) return occasion.drift;
    const { object } = resource;
    const condition = conditionOf(object, this.part.condition);
    return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation;
  }

  #rival(): ManagedObject | undefined {
    const { resource, peers } = this.#context;
    return peers.rivalOf(resource.object, this.#options.claim, standingOnPart(this.part.name));
  }

  #conflict(rival: ManagedObject): Report {
    const who = rivalName(this.#context.resource.object, rival);
    return report('Conflict', `the ${this.part.displayName} is managed by ${who}: remove it from one of the two`);
  }

  #remember(observed: unknown, at: number): void {
    const { facts, resource } = this.#context;
    this.#options.seen.set(this.#options.claim, { at, observed, uid: resource.uid });
    facts.observed = true;
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

/** A PUT that is answered by 404 has no parent to go to. */
function isParentMissing(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'NotFound';
}
