import { appliedParts } from '../annotations.ts';
import { winnerOver } from '../claims.ts';
import { lastDue, type Turn } from '../context.ts';
import { announce } from '../events.ts';
import { isCallFailure } from '../external/contract.ts';
import { fingerprint } from '../json.ts';
import { DependencyError, type Report, report, reportFailure } from '../outcome.ts';
import { notTaken, refusedLately, unlessRefused } from '../refusals.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from '../resource.ts';
import type { Part, ReadReference } from './part.ts';
import { type PartAction, planPart } from './plan.ts';

// biome-ignore lint/suspicious/noExplicitAny: each part has a body and an observation of its own, which only it reads
export type AnyPart<Spec, Client> = Part<Spec, Client, any, any>;

/** Of each claim, what a call of ours last showed, when, and for which resource. */
export type Seen = Map<string, { readonly at: number; readonly observed: unknown; readonly uid: string }>;

/** What is to be done about a part: an action, or a report when that is clear without one. */
export interface Plan {
  readonly action: PartAction;
  readonly body?: unknown;
  readonly observed?: unknown;
  readonly report?: Report;
}

export interface Result {
  /** undefined for a part that the spec does not name and that is gone. */
  readonly report: Report | undefined;
  /** What is out there, as far as this turn learned it. */
  readonly observed?: unknown;
  /** What this resource is not to remove: it is gone, or was never applied. */
  readonly isForeign?: boolean;
}

/** One part in one reconcile. */
export class PartTurn<Spec extends ManagedSpec, Client> {
  readonly part: AnyPart<Spec, Client>;
  readonly asked: boolean;
  readonly #turn: Turn<Client>;
  readonly #spec: Spec;
  readonly #parent: string;
  readonly #claim: string;
  readonly #seen: Seen;

  constructor(
    part: AnyPart<Spec, Client>,
    context: { turn: Turn<Client>; spec: Spec; parent: string; claim: string; asked: boolean; seen: Seen },
  ) {
    this.part = part;
    this.asked = context.asked;
    this.#turn = context.turn;
    this.#spec = context.spec;
    this.#parent = context.parent;
    this.#claim = context.claim;
    this.#seen = context.seen;
  }

  /** Reads, and changes nothing. One part's failure is its own: it becomes a report. */
  async plan(read: ReadReference): Promise<Plan> {
    const rival = this.#rival();
    if (rival !== undefined && this.asked) return stop(conflict(this.part.noun, rival));
    try {
      return await this.#compare(read);
    } catch (error) {
      return stop(reportFailure(error));
    }
  }

  async act({ action, body, observed, report: known }: Plan): Promise<Result> {
    if (action.kind === 'stop') return { observed, report: known ?? report(action.reason, action.message) };
    if (action.kind === 'none') return { observed, report: this.asked ? this.#available() : undefined };
    if (action.kind === 'delete') return this.#removed();
    let replaced: unknown;
    let isForeign = false;
    const outcome = await unlessRefused(this.#turn, this.#attemptOf(body), async () => {
      try {
        replaced = await this.#replace(body, observed, action.fields);
      } catch (error) {
        isForeign = !this.#isApplied() && isCallFailure(error) && error.definite;
        throw error;
      }
      return this.#taken(body, replaced);
    });
    return { observed: replaced ?? observed, report: outcome.kind === 'reported' ? outcome : undefined, isForeign };
  }

  /** What an older resource holds is that one's to delete. Throws as calls do. */
  async delete(): Promise<void> {
    if (this.#rival() !== undefined) return;
    const result = await this.part.delete(this.#turn.account.client, this.#spec, this.#turn.call);
    this.#seen.delete(this.#claim);
    const how = result === 'deleted' ? 'removed' : 'was gone already';
    announce(this.#turn, 'Deleted', `${this.part.noun} of ${this.#parent} ${how}`);
  }

  async #compare(read: ReadReference): Promise<Plan> {
    const body: unknown = this.asked ? await this.part.desired(this.#spec, read) : undefined;
    const observed = this.asked ? await this.#observe() : undefined;
    const action = planPart({
      noun: this.part.noun,
      managementPolicy: this.#spec.managementPolicy,
      asked: this.asked,
      applied: this.#isApplied(),
      exists: observed !== undefined,
      differences: observed === undefined ? [] : this.part.diff(body, observed),
      refusal: this.asked ? this.part.refusal?.(body, observed) : undefined,
    });
    const refused = action.kind === 'replace' ? refusedLately(this.#turn, this.#attemptOf(body)) : undefined;
    return refused === undefined ? { action, body, observed } : { ...stop(refused), observed };
  }

  async #observe(): Promise<unknown> {
    const turn = this.#turn;
    const since = turn.asked ? turn.startedAt : lastDue(turn, turn.object);
    const known = this.#seen.get(this.#claim);
    if (known !== undefined && known.at >= since && known.uid === turn.uid) return known.observed;
    const sentAt = turn.clock.now();
    const observed: unknown = await this.part.get(turn.account.client, this.#spec, turn.call);
    this.#remember(observed, sentAt);
    return observed;
  }

  async #replace(body: unknown, observed: unknown, fields: readonly string[]): Promise<unknown> {
    const turn = this.#turn;
    let replaced: unknown;
    try {
      replaced = await this.part.replace(turn.account.client, this.#spec, body, turn.call);
    } catch (error) {
      this.#seen.delete(this.#claim);
      throw this.#parentMissing(error) ? new DependencyError(`${this.#parent} does not exist`) : error;
    }
    this.#remember(replaced, turn.clock.now());
    this.#announceReplaced(observed === undefined, fields);
    return replaced;
  }

  async #removed(): Promise<Result> {
    try {
      await this.delete();
      return { report: undefined, isForeign: true };
    } catch (error) {
      return { report: reportFailure(error) };
    }
  }

  /** On record from an earlier turn. */
  #isApplied(): boolean {
    return appliedParts(this.#turn.object).has(this.part.name);
  }

  /** Names a PUT, and shows nothing of what is in it. */
  #attemptOf(body: unknown): string {
    return `${this.part.name} ${fingerprint(body)}`;
  }

  /** A PUT that is answered by 404 has no parent to go to. */
  #parentMissing(error: unknown): boolean {
    return isCallFailure(error) && error.reason === 'NotFound';
  }

  #announceReplaced(isNew: boolean, fields: readonly string[]): void {
    const what = `${this.part.noun} of ${this.#parent}`;
    const drift = this.#isDrift();
    if (isNew) announce(this.#turn, 'Created', `applied ${what}`);
    else if (drift) announce(this.#turn, 'DriftCorrected', `put back ${fields.join(', ')} of ${what}`);
    else announce(this.#turn, 'Updated', `updated ${fields.join(', ')} of ${what}`);
    if (drift && !isNew) this.#turn.onDriftCorrected?.();
  }

  /** Another part may be in trouble: what counts is that this one was as this generation asks. */
  #isDrift(): boolean {
    const { drift, object } = this.#turn;
    if (drift || this.part.condition === undefined) return drift;
    const condition = conditionOf(object, this.part.condition);
    return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation;
  }

  #rival(): ManagedObject | undefined {
    return winnerOver(this.#turn.object, this.#turn.cache.claimants(this.#claim));
  }

  #remember(observed: unknown, at: number): void {
    this.#seen.set(this.#claim, { at, observed, uid: this.#turn.uid });
    this.#turn.memory.of(this.#turn.uid).observed = true;
  }

  /** The service may accept a PUT and do otherwise. */
  #taken(body: unknown, replaced: unknown): Report {
    const ignored = this.part.diff(body, replaced);
    return ignored.length === 0 ? this.#available() : notTaken(this.part.noun, ignored);
  }

  #available(): Report {
    return report('Available', `the ${this.part.noun} is as the spec asks`);
  }
}

function stop(known: Report): Plan {
  return { action: { kind: 'stop', reason: known.reason, message: known.message }, report: known };
}

function conflict(noun: string, rival: ManagedObject): Report {
  const { namespace, name } = rival.metadata;
  const who = `${rival.kind} ${namespace}/${name}`;
  return report('Conflict', `the ${noun} is managed by ${who}, which is older: remove it from one of the two`);
}
