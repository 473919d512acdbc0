import { ApiError } from '../../../common/http/errors.ts';
import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { rivalName } from '../ownership/ownership.ts';
import { unlessTaken } from '../permits.ts';
import type { ReferenceSession } from '../referents/references.ts';
import { fingerprint } from '../resource/json.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { DependencyError, MissingError, type Report, report, reportFailure } from '../status/outcome.ts';
import { isSentAgain, notTaken, refusedLately, unlessRefused } from '../status/refusals.ts';
import { InPlace } from './in-place.ts';
import { missedOnce, takenOut, underway, unsettledDelete } from './obstacles.ts';
import { tellAdopted, tellerOf } from './part-events.ts';
import { PartRemoval } from './part-removal.ts';
import { type AnyPart, isProven, mayBeKept, type PartScope, rivalOf, sightOf, unreadMs } from './part-scope.ts';
import { type PartAction, planPart } from './plan.ts';

/** What the resource refers to. */
export type Referred = Pick<ReferenceSession, 'read' | 'hasChanged'>;

/** What is to be done about a part: an action, or a report when that is clear without one. */
export interface PartPlan {
  readonly action: PartAction;
  readonly body?: unknown;
  /** What a PUT is to send: the body, and what the spec leaves out as it is there. */
  readonly filled?: unknown;
  readonly observed?: unknown;
  readonly report?: Report;
}

export interface PartResult {
  /** undefined for a part that the spec does not name and that is gone. */
  readonly report: Report | undefined;
  /** What is out there, as far as this context learned it. */
  readonly observed?: unknown;
  /** What this resource is not to remove: it is gone, or was never applied. */
  readonly isDropped?: boolean;
}

/** One part in one reconcile. */
export class PartReconciler<Spec extends ManagedSpec, Client> {
  readonly part: AnyPart<Spec, Client>;
  readonly named: boolean;
  readonly #context: ReconcileContext<Client>;
  readonly #scope: PartScope<Spec>;
  readonly #inPlace: InPlace;
  #metRival = false;

  constructor(part: AnyPart<Spec, Client>, context: ReconcileContext<Client>, scope: PartScope<Spec>) {
    this.part = part;
    this.named = scope.named;
    this.#context = context;
    this.#scope = scope;
    this.#inPlace = new InPlace(context, { ...part, spec: scope.spec, applied: scope.applied });
  }

  /** Reads, and changes nothing. One part's failure is its own: it becomes a report. */
  async plan(referred: Referred): Promise<PartPlan> {
    if (this.#isWanted) this.#context.facts.left?.delete(this.#scope.claim);
    try {
      const known = [this.part, this.#context, this.#scope] as const;
      const left = takenOut(...known) ?? this.#conflict() ?? unsettledDelete(...known);
      return left === undefined ? await this.#compare(referred) : stop(left);
    } catch (error) {
      return stop(reportFailure(error));
    }
  }

  /**
   * The plan as it stands when those of the other parts are made: reading waits for its turn, for minutes where the budget is small,
   * and who has it on record himself that he applied a part is asked no more who has had it before.
   */
  recheck(plan: PartPlan): PartPlan {
    const conflict = this.#conflict();
    return conflict === undefined ? plan : stop(conflict);
  }

  async act({ action, body, filled, observed, report: known }: PartPlan): Promise<PartResult> {
    if (action.kind === 'stop') return { observed, report: known ?? report(action.reason, action.message) };
    if (action.kind === 'none') {
      if (this.#isWanted && !this.#scope.applied) tellAdopted(this.part, this.#context, this.#scope);
      return { observed, report: this.named ? this.#available() : undefined };
    }
    if (action.kind === 'delete') return this.#removed();
    const conflict = this.#conflict();
    if (conflict !== undefined) return { observed, report: conflict, isDropped: !this.#scope.applied };
    const tell = tellerOf(this.part, this.#context, this.#scope, this.#inPlace, body);
    let shown = observed;
    let isDropped = false;
    const attempt = this.#attemptTo('put', body);
    const outcome = await unlessRefused(this.#context, attempt, async () => {
      try {
        shown = await this.#replace(body, filled);
      } catch (error) {
        isDropped = !this.#scope.applied && isDefinite(error);
        throw error;
      }
      const isAgain = isSentAgain(this.#context, this.part.name, attempt, action.fields);
      if (isAgain || this.part.diff(body, shown).length > 0) {
        // Without an answer it is not known.
        this.#scope.seen.delete(this.#scope.claim);
        shown = await this.#read();
      }
      const ignored = shown === undefined ? undefined : this.part.diff(body, shown);
      if (ignored !== undefined) tell(observed === undefined, action.fields, ignored);
      return this.#taken(ignored);
    });
    return { observed: shown, report: outcome, isDropped };
  }

  /**
   * While this part or another one waited for its turn, who has a part that is asked for may have gone, and what is in place have
   * come to be asked for otherwise.
   */
  async settle({ body }: PartPlan, result: PartResult, referred: Referred): Promise<PartResult> {
    const goOn = (message: string) => report(this.#underway, message, { retry: { kind: 'after', ms: 0 } });
    if (this.#metRival && this.rival === undefined)
      return { ...result, report: goOn(`the ${this.part.displayName} is nobody else's any more`) };
    if (result.report?.reason !== 'Available' || !referred.hasChanged()) return result;
    try {
      if (fingerprint(await this.#desired(referred)) === fingerprint(body)) return result;
      return { ...result, report: goOn(`what the ${this.part.displayName} refers to has changed meanwhile`) };
    } catch (error) {
      return { ...result, report: reportFailure(error) };
    }
  }

  /** Reports while it is not certain that it is gone. */
  delete(): Promise<Report | undefined> {
    return new PartRemoval(this.part, this.#context, this.#scope, this.#inPlace).perform();
  }

  async #compare(referred: Referred): Promise<PartPlan> {
    // Of what is missing is told without a call.
    let body = await this.#desired(referred);
    const unseen = this.named ? await this.#look() : undefined;
    if (unseen !== undefined) return stop(unseen);
    if (referred.hasChanged()) body = await this.#desired(referred);
    const observed = this.named ? sightOf(this.#scope, this.#context)?.observed : undefined;
    const leftOut = observed === undefined || !this.#scope.applied ? [] : this.#inPlace.leftOut(body);
    const action = planPart({
      displayName: this.part.displayName,
      managementPolicy: this.#scope.spec.managementPolicy,
      named: this.named,
      applied: this.#scope.applied,
      exists: observed !== undefined,
      differences: observed === undefined ? [] : this.part.diff(body, observed),
      setMore: leftOut === undefined || leftOut.length > 0,
      refusal: this.named ? this.part.refusal?.(body, observed) : undefined,
    });
    // Who only observes leaves more there than is asked for.
    const isObserved = this.#scope.spec.managementPolicy === 'Observe';
    if (this.named && !isObserved && action.kind === 'none') this.#inPlace.set(body, this.#seenAt());
    if (action.kind !== 'replace') return { action, body, observed };
    const refused =
      refusedLately(this.#context, this.#attemptTo('put', body)) ?? missedOnce(this.part, this.#context, this.#scope);
    if (refused !== undefined) return { ...stop(refused), observed };
    const fields = [...new Set([...action.fields, ...(leftOut ?? [])])];
    return { action: { ...action, fields }, body, filled: this.#filled(body, observed, leftOut), observed };
  }

  async #desired({ read }: Referred): Promise<unknown> {
    return this.named ? await this.part.desired(this.#scope.spec, read) : undefined;
  }

  /** Where it is not known what left the spec, all that this leaves out may have. */
  #filled(body: unknown, observed: unknown, leftOut: readonly string[] | undefined): unknown {
    if (observed === undefined || leftOut === undefined) return body;
    return this.part.filled?.(body, observed, leftOut) ?? body;
  }

  /** Whether what is out there is known as of now; reports why not, where that is for long. */
  async #look(): Promise<Report | undefined> {
    const { occasion, connection } = this.#context;
    const dueSince = Math.max(occasion.lastDue(), keySinceOf(connection));
    const since = occasion.requested ? occasion.startedAt : dueSince;
    const known = sightOf(this.#scope, this.#context);
    if (known !== undefined && known.at >= since) return undefined;
    return unlessRefused(this.#context, this.#attemptTo('get'), async () => {
      await this.#read();
      return undefined;
    });
  }

  async #read(): Promise<unknown> {
    const { connection, call, time } = this.#context;
    const sentAt = time.now();
    const observed: unknown = await this.part.get(connection.client, this.#scope.spec, call);
    this.#remember(observed, sentAt);
    return observed;
  }

  async #replace(body: unknown, filled: unknown): Promise<unknown> {
    const { connection, time } = this.#context;
    const { spec, seen, claim, parent } = this.#scope;
    const call = unlessTaken(this.#context.call, () => this.#conflict() !== undefined);
    const sentAt = time.now();
    let replaced: unknown;
    try {
      replaced = await this.part.replace(connection.client, spec, filled, call);
    } catch (error) {
      seen.delete(claim);
      if (!(error instanceof ApiError && error.definite)) this.#setLost(sentAt);
      throw isParentMissing(error) ? new MissingError(`${parent} does not exist`, { cause: error }) : error;
    }
    this.#remember(replaced, sentAt);
    this.#inPlace.set(body, sentAt);
    return replaced;
  }

  async #removed(): Promise<PartResult> {
    const unsure = await this.delete();
    return unsure === undefined ? { report: undefined, isDropped: true } : { report: unsure };
  }

  #setLost(sentAt: number): void {
    const { facts, time } = this.#context;
    // Who missed it before is no witness of what is there from now on.
    facts.absentParts?.delete(this.part.name);
    facts.lostParts ??= new Map();
    facts.lostParts.set(this.part.name, time.now());
    this.#inPlace.setLost(sentAt);
  }

  #seenAt(): number {
    return sightOf(this.#scope, this.#context)?.at ?? this.#context.time.now();
  }

  /** Names a call of this very part in the account that is used, and shows nothing of what is in it. */
  #attemptTo(method: 'get' | 'put', body?: unknown): string {
    return `${method} ${this.#scope.claim} ${fingerprint([this.#context.connection.key, body])}`;
  }

  /** It was looked for, and is not there. */
  get isAbsent(): boolean {
    const known = sightOf(this.#scope, this.#context);
    return known !== undefined && known.observed === undefined;
  }

  /** Who has a better claim on a part that is asked for. */
  get rival(): ManagedObject | undefined {
    return this.#isWanted ? rivalOf(this.part, this.#context, this.#scope) : undefined;
  }

  /** Who only observes a part has no claim on it, and no rivals. */
  get #isWanted(): boolean {
    return this.named && this.#scope.spec.managementPolicy !== 'Observe';
  }

  #conflict(): Report | undefined {
    const { object } = this.#context.resource;
    const { rival } = this;
    if (rival === undefined) {
      const mayBeAnothers = this.#isWanted && !isProven(this.part, object);
      return mayBeAnothers && mayBeKept(this.part, this.#context, this.#scope) ? this.#unknownOwner() : undefined;
    }
    this.#metRival = true;
    const who = rivalName(object, rival);
    return report('Conflict', `the ${this.part.displayName} is managed by ${who}: remove it from one of the two`);
  }

  /** Applied now, it might be taken from who has it, whose account is not read yet. */
  #unknownOwner(): Report {
    const message = `it is not known yet whose the ${this.part.displayName} is`;
    return report(this.#underway, message, { retry: { kind: 'after', ms: unreadMs } });
  }

  /** @param at before the call: while it was under way another key may have been put in force */
  #remember(observed: unknown, at: number): void {
    const { facts, resource, connection } = this.#context;
    this.#scope.seen.set(this.#scope.claim, { at, observed, uid: resource.uid, account: connection.key });
    facts.observed = true;
    if (observed !== undefined) facts.absentParts?.delete(this.part.name);
  }

  get #underway(): 'Updating' | 'Creating' {
    return underway(this.#scope.applied);
  }

  /** The service may accept a PUT and do otherwise. */
  #taken(ignored: readonly string[] | undefined): Report {
    if (ignored === undefined)
      return report(this.#underway, `the ${this.part.displayName} was put in place and is not found: looking again`, {
        retry: { kind: 'backoff' },
      });
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

/** Nothing was done. */
function isDefinite(error: unknown): boolean {
  if (error instanceof DependencyError) return isDefinite(error.cause);
  return error instanceof ApiError && error.definite;
}
