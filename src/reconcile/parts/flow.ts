import { keyOf } from '../../kube/types.ts';
import { announce } from '../announce.ts';
import { accountKeyOf, winnerOver } from '../claims.ts';
import { isCallFailure } from '../external.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from '../fields.ts';
import { type Flow, isKept } from '../flow.ts';
import { fingerprint } from '../json.ts';
import { DependencyError, type Outcome, type Report, report, reportFailure } from '../outcome.ts';
import type { ReferenceSession, References } from '../references.ts';
import { unlessRefused } from '../refusals.ts';
import { parseSpec } from '../spec.ts';
import { lastDue, type Turn } from '../turn.ts';
import { appliedParts } from './applied.ts';
import type { Part, PartStatus, PartsKind } from './part.ts';
import { type PartAction, planPart } from './plan.ts';
import { type NamedReport, summarise } from './summary.ts';

// biome-ignore lint/suspicious/noExplicitAny: each part has a body and an observation of its own, which only it reads
type AnyPart<Spec, Client> = Part<Spec, Client, any, any>;

interface Planned<Spec, Client> {
  readonly part: AnyPart<Spec, Client>;
  readonly action: PartAction;
  readonly body: unknown;
  readonly observed: unknown;
}

/** How one part came out: its report, unless the spec does not name it, and what is known of it outside. */
interface Result {
  readonly name: string;
  readonly condition: string | undefined;
  readonly report: Report | undefined;
  readonly observed: unknown;
  readonly removed: boolean;
}

/**
 * The flow of kinds made of parts, each a module of the same parent. The parts do not wait for each other; what the
 * resource applied is on durable record before the call that applies it.
 */
export class PartsFlow<Spec extends ManagedSpec, Client> implements Flow<Client> {
  readonly #kind: PartsKind<Spec, Client>;
  readonly #references: References;
  /** Of each claim, what a call of ours last showed and when. */
  readonly #seen = new Map<string, { readonly at: number; readonly observed: unknown; readonly uid: string }>();

  constructor(kind: PartsKind<Spec, Client>, references: References) {
    this.#kind = kind;
    this.#references = references;
  }

  get noun(): string {
    return this.#kind.type.kind;
  }

  claims(object: ManagedObject): readonly string[] {
    const spec = unparsed<Spec>(object);
    const names = new Set([...this.#askedOf(object), ...appliedParts(object)]);
    return [...names].map((name) => this.#claim(object, spec, name));
  }

  async ensure(turn: Turn<Client>): Promise<Outcome> {
    const parsed = parseSpec(this.#kind.spec, turn.object);
    if ('report' in parsed) return parsed.report;
    const session = this.#references.session(keyOf(turn.object));
    const { spec } = parsed;
    const planned = await this.#each(turn, (part) => this.#plan(turn, spec, part, session));
    session.end();
    const object = await this.#record(turn, planned);
    const results = await Promise.all(planned.map((plan) => this.#finish({ ...turn, object }, spec, plan)));
    await this.#strike(turn, object, results);
    return this.#summary(turn, spec, results);
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || appliedParts(object).size === 0;
  }

  async remove(turn: Turn<Client>): Promise<Outcome> {
    const spec = unparsed<Spec>(turn.object);
    const applied = appliedParts(turn.object);
    const parts = this.#kind.parts.filter((part) => applied.has(part.name));
    const reports = await Promise.all(
      parts.map(async (part) => {
        const done = await this.#delete(turn, spec, part).then(() => undefined, reportFailure);
        return done === undefined ? [] : [{ name: part.name, condition: part.condition, report: done }];
      }),
    );
    const failed = reports.flat();
    if (failed.length > 0) {
      const { parts: _, ...summary } = summarise(failed, '');
      return { ...summary, message: `deleting: ${summary.message}` };
    }
    await turn.writer.removeFinalizer(turn.object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    return `${[...appliedParts(object)].join(', ')} of ${this.#kind.parent(unparsed(object))}`;
  }

  forget(object: ManagedObject): void {
    this.#references.forget(keyOf(object));
    for (const [claim, seen] of this.#seen) if (seen.uid === object.metadata.uid) this.#seen.delete(claim);
  }

  close(): void {
    this.#references.close();
  }

  /** One part's failure is its own. */
  async #each(
    turn: Turn<Client>,
    plan: (part: AnyPart<Spec, Client>) => Promise<Planned<Spec, Client> | Report>,
  ): Promise<readonly (Planned<Spec, Client> | { readonly part: AnyPart<Spec, Client>; readonly report: Report })[]> {
    const applied = appliedParts(turn.object);
    const asked = this.#askedOf(turn.object);
    const parts = this.#kind.parts.filter((part) => asked.has(part.name) || applied.has(part.name));
    return Promise.all(
      parts.map(async (part) => {
        const planned = await plan(part).catch(reportFailure);
        return 'action' in planned ? planned : { part, report: planned };
      }),
    );
  }

  async #plan(
    turn: Turn<Client>,
    spec: Spec,
    part: AnyPart<Spec, Client>,
    session: ReferenceSession,
  ): Promise<Planned<Spec, Client> | Report> {
    const asked = this.#askedOf(turn.object).has(part.name);
    const rival = this.#rivalOf(turn, spec, part);
    if (rival !== undefined && asked) return conflict(part.noun, rival);
    const body = asked ? await part.desired(spec, session.read) : undefined;
    const observed = asked ? await this.#observe(turn, spec, part) : undefined;
    const action = planPart({
      noun: part.noun,
      managementPolicy: spec.managementPolicy,
      asked,
      applied: appliedParts(turn.object).has(part.name),
      exists: observed !== undefined,
      differences: observed === undefined ? [] : part.diff(body, observed),
      refusal: asked ? part.refusal?.(body, observed) : undefined,
    });
    return { part, action, body, observed };
  }

  async #observe(turn: Turn<Client>, spec: Spec, part: AnyPart<Spec, Client>): Promise<unknown> {
    const claim = this.#claim(turn.object, spec, part.name);
    const since = turn.asked ? turn.startedAt : lastDue(turn, turn.object);
    const known = this.#seen.get(claim);
    if (known !== undefined && known.at >= since && known.uid === turn.uid) return known.observed;
    const sentAt = turn.clock.now();
    const observed: unknown = await part.get(turn.account.client, spec, turn.call);
    this.#remember(turn, claim, observed, sentAt);
    turn.memory.of(turn.uid).observed = true;
    return observed;
  }

  /** Puts on record, before any call that applies them, which parts are this resource's to remove. */
  async #record(
    turn: Turn<Client>,
    planned: readonly (Planned<Spec, Client> | { readonly part: AnyPart<Spec, Client> })[],
  ): Promise<ManagedObject> {
    if (turn.object.spec.managementPolicy === 'Observe') return turn.object;
    const asked = this.#askedOf(turn.object);
    const ours = planned.filter((plan) => 'action' in plan && plan.action.kind !== 'stop' && asked.has(plan.part.name));
    const applied = new Set([...appliedParts(turn.object), ...ours.map((plan) => plan.part.name)]);
    return applied.size === 0 ? turn.object : turn.writer.recordApplied(turn.object, applied);
  }

  async #finish(
    turn: Turn<Client>,
    spec: Spec,
    plan: Planned<Spec, Client> | { readonly part: AnyPart<Spec, Client>; readonly report: Report },
  ): Promise<Result> {
    const { part } = plan;
    const base = { name: part.name, condition: part.condition, observed: undefined, removed: false };
    if (!('action' in plan)) return { ...base, report: plan.report };
    const { action, body, observed } = plan;
    if (action.kind === 'stop') return { ...base, observed, report: report(action.reason, action.message) };
    if (action.kind === 'none') {
      const asked = this.#askedOf(turn.object).has(part.name);
      return { ...base, observed, report: asked ? available(part.noun) : undefined };
    }
    if (action.kind === 'delete') {
      const failure = await this.#delete(turn, spec, part).then(() => undefined, reportFailure);
      return { ...base, removed: failure === undefined, report: failure };
    }
    let replaced: unknown;
    const outcome = await unlessRefused(turn, `${part.name} ${fingerprint(body)}`, async () => {
      replaced = await this.#replace(turn, spec, part, { ...plan, action });
      return available(part.noun);
    });
    return { ...base, observed: replaced ?? observed, report: outcome.kind === 'reported' ? outcome : undefined };
  }

  async #replace(
    turn: Turn<Client>,
    spec: Spec,
    part: AnyPart<Spec, Client>,
    { body, observed, action }: Planned<Spec, Client> & { readonly action: { readonly fields: readonly string[] } },
  ): Promise<unknown> {
    const claim = this.#claim(turn.object, spec, part.name);
    const replaced: unknown = await part.replace(turn.account.client, spec, body, turn.call).catch((error: unknown) => {
      this.#seen.delete(claim);
      throw missingParent(error, this.#kind.parent(spec));
    });
    this.#remember(turn, claim, replaced, turn.clock.now());
    const parent = this.#kind.parent(spec);
    const fields = action.fields.join(', ');
    if (observed === undefined) announce(turn, 'Created', `applied ${part.noun} to ${parent}`);
    else if (!this.#isDrift(turn, part)) announce(turn, 'Updated', `updated ${fields} of ${part.noun} of ${parent}`);
    else {
      announce(turn, 'DriftCorrected', `put back ${fields} of ${part.noun} of ${parent}`);
      turn.onDriftCorrected?.();
    }
    return replaced;
  }

  async #delete(turn: Turn<Client>, spec: Spec, part: AnyPart<Spec, Client>): Promise<void> {
    // What an older resource holds is that one's to delete.
    if (this.#rivalOf(turn, spec, part) !== undefined) return;
    const result = await part.delete(turn.account.client, spec, turn.call);
    this.#seen.delete(this.#claim(turn.object, spec, part.name));
    const how = result === 'deleted' ? 'removed' : 'was gone already';
    announce(turn, 'Deleted', `${part.noun} of ${this.#kind.parent(spec)} ${how}`);
  }

  async #strike(turn: Turn<Client>, object: ManagedObject, results: readonly Result[]): Promise<void> {
    const removed = results.filter((result) => result.removed).map((result) => result.name);
    if (removed.length === 0) return;
    const left = [...appliedParts(object)].filter((name) => !removed.includes(name));
    await turn.writer.recordApplied(object, new Set(left));
  }

  #summary(turn: Turn<Client>, spec: Spec, results: readonly Result[]): Report {
    const named = results.flatMap(({ report: own, ...result }): NamedReport[] =>
      own === undefined ? [] : [{ ...result, report: own }],
    );
    const summary = summarise(named, `${this.#kind.parent(spec)} is as the spec asks`);
    return { ...summary, fields: this.#kind.status(this.#statuses(turn, results)) };
  }

  /** What is not known now stays as it was shown; a part that is not asked for is not shown. */
  #statuses(turn: Turn<Client>, results: readonly Result[]): ReadonlyMap<string, PartStatus> {
    const asked = this.#askedOf(turn.object);
    const before = turn.object.status ?? {};
    return new Map(
      results
        .filter((result) => asked.has(result.name))
        .map((result) => {
          const part = this.#kind.parts.find((candidate) => candidate.name === result.name);
          const shown = result.observed === undefined ? (before[result.name] ?? {}) : part?.status(result.observed);
          return [result.name, { ...(shown as object), applied: result.report?.reason === 'Available' }];
        }),
    );
  }

  #isDrift(turn: Turn<Client>, part: AnyPart<Spec, Client>): boolean {
    if (turn.drift || part.condition === undefined) return turn.drift;
    const condition = conditionOf(turn.object, part.condition);
    return condition?.status === 'True' && condition.observedGeneration === turn.object.metadata.generation;
  }

  #remember(turn: Turn<Client>, claim: string, observed: unknown, at: number): void {
    this.#seen.set(claim, { at, observed, uid: turn.uid });
  }

  #askedOf(object: ManagedObject): ReadonlySet<string> {
    const whole = this.#kind.parts.filter((part) => part.condition === undefined);
    const named = this.#kind.parts.filter((part) => object.spec[part.name] !== undefined);
    return new Set([...whole, ...named].map((part) => part.name));
  }

  #rivalOf({ object, cache }: Turn<Client>, spec: Spec, part: AnyPart<Spec, Client>): ManagedObject | undefined {
    return winnerOver(object, cache.claimants(this.#claim(object, spec, part.name)));
  }

  #claim(object: ManagedObject, spec: Spec, name: string): string {
    return `${accountKeyOf(object)} ${this.#kind.parent(spec)} ${name}`;
  }
}

function available(noun: string): Report {
  return report('Available', `the ${noun} is as the spec asks`);
}

function conflict(noun: string, rival: ManagedObject): Report {
  const { namespace, name } = rival.metadata;
  const who = `${rival.kind} ${namespace}/${name}`;
  return report('Conflict', `the ${noun} is managed by ${who}, which is older: remove it from one of the two`);
}

/** For what needs nothing but the ids of the parent, which the CRD guarantees: a resource must be deletable always. */
function unparsed<Spec>(object: ManagedObject): Spec {
  return object.spec as Spec;
}

/** A PUT that is answered by 404 has no parent to go to. */
function missingParent(error: unknown, parent: string): unknown {
  if (!isCallFailure(error) || error.reason !== 'NotFound') return error;
  return new DependencyError(`${parent} does not exist`);
}
