import { keyOf } from '../../kube/types.ts';
import type { ReconcileContext } from '../context.ts';
import { type Flow, isKept } from '../flow.ts';
import { appliedParts, isObserver, ownershipOf } from '../ownership/ownership.ts';
import type { References } from '../referents/references.ts';
import {
  conditionOf,
  isDeleting,
  type ManagedObject,
  type ManagedSpec,
  type Ownership,
  type PartGenerations,
} from '../resource/resource.ts';
import { parseSpec } from '../resource/spec.ts';
import type { Outcome, Report } from '../status/outcome.ts';
import { askedNow } from './generations.ts';
import type { PartStatus, PartsContract } from './part.ts';
import { type PartPlan, PartReconciler, type PartResult } from './part-reconciler.ts';
import { claimThere, type LostDeletes, type Seen } from './part-scope.ts';
import { PartsRecord } from './record.ts';
import { type NamedReport, summarise } from './summary.ts';

export interface PartsFlowOptions {
  readonly references: References;
  /** How long after a change of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
}

/**
 * The flow of kinds made of parts, each a module of the same parent. The parts do not wait for each other; what the
 * resource applies is on durable record before the call that applies it.
 */
export class PartsFlow<Spec extends ManagedSpec, Client> implements Flow<Client> {
  readonly conditions: readonly string[];
  readonly #contract: PartsContract<Spec, Client>;
  readonly #options: PartsFlowOptions;
  readonly #seen: Seen = new Map();
  readonly #lostDeletes: LostDeletes = new Map();

  constructor(contract: PartsContract<Spec, Client>, options: PartsFlowOptions) {
    this.conditions = contract.parts.flatMap(({ condition }) => condition ?? []);
    this.#contract = contract;
    this.#options = options;
  }

  /** Who only observes claims nothing: what is proven to be his is known. */
  claims(object: ManagedObject): readonly string[] {
    const proven = ownershipOf(object).parts ?? [];
    const names = isObserver(object) ? proven : [...this.#namedBy(object), ...appliedParts(object)];
    return [...new Set(names)].map((name) => this.#claim(object, name));
  }

  conditionsOf(object: ManagedObject): readonly string[] {
    const named = this.#namedBy(object);
    return this.#contract.parts.flatMap(({ name, condition }) => (named.has(name) ? (condition ?? []) : []));
  }

  ownershipOf(object: ManagedObject): Ownership {
    const known = ownershipOf(object);
    if (known.parts === undefined || isDeleting(object)) return known;
    const named = this.#namedBy(object);
    const applied = this.#contract.parts.filter(({ name }) => known.parts?.includes(name));
    const asked = applied.map((part) => [part.name, askedNow(object, part, named.has(part.name))] as const);
    return { ...known, generations: { ...known.generations, ...Object.fromEntries(asked) } };
  }

  async ensure(context: ReconcileContext<Client>): Promise<Outcome> {
    const { resource, time } = context;
    const { object } = resource;
    const parsed = parseSpec(this.#contract.spec, object);
    if ('report' in parsed) return parsed.report;
    const record = new PartsRecord(context);
    const parts = this.#partsOf(context, parsed.spec);
    const session = this.#options.references.session(keyOf(object));
    const plans = await Promise.all(
      parts.map(async (part): Promise<Planned> => ({ part, plan: await timed(part.plan(session), time) })),
    );
    session.end();
    const planned = plans.map(({ part, plan }): Planned => ({ part, plan: { ...part.recheck(plan), at: plan.at } }));
    if (parsed.spec.managementPolicy !== 'Observe') await record.add(namesOf(planned.filter(isToApply)));
    if (planned.some(({ plan: { action } }) => isChange(action))) await resource.confirm();
    const acted = await Promise.all(
      planned.map(async ({ part, plan }): Promise<Acted> => {
        const result = await timed(part.act(plan), time);
        return { part, plan, result: plan.action.kind === 'stop' ? { ...result, at: plan.at } : result };
      }),
    );
    await record.remove(new Set(namesOf(acted.filter(({ result }) => result.isDropped))));
    const settled = await Promise.all(
      acted.map(async (each) => {
        const result = await each.part.settle(each.plan, each.result, session);
        return { ...each, result: { ...each.result, ...result } };
      }),
    );
    const unanswered = this.#unanswered(context, namesOf(acted.filter(isReplaced)));
    return {
      ...this.#summary(object, parsed.spec, settled, time.now()),
      ...record.ownership({
        tried: namesOf(acted.filter(isTried)),
        unanswered,
        contested: contested(resource.object, parts),
        generations: generations(object, settled),
      }),
    };
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || appliedParts(object).size === 0;
  }

  async remove(context: ReconcileContext<Client>): Promise<Outcome> {
    const { resource, time } = context;
    const applied = appliedParts(resource.object);
    const parts = this.#partsOf(context, idsOf<Spec>(resource.object)).filter(({ part }) => applied.has(part.name));
    const reports = await Promise.all(
      parts.map(async (each): Promise<NamedReport[]> => {
        const unsure = await each.delete();
        return unsure === undefined ? [] : [{ ...each.part, report: unsure, at: time.now() }];
      }),
    );
    const failed = reports.flat();
    if (failed.length === 0) return { kind: 'finished' };
    // What is gone is not to be removed again: it may be somebody else's by then.
    const record = new PartsRecord(context);
    await record.remove(applied.difference(new Set(failed.map(({ name }) => name))));
    const summary = summarise(failed, '', time.now());
    const ownership = record.ownership({ unanswered: this.#unanswered(context) });
    return { ...summary, message: `deleting: ${summary.message}`, ...ownership };
  }

  leftBehind(object: ManagedObject): string {
    return `${[...appliedParts(object)].join(', ')} of ${this.#contract.parent(idsOf(object))}`;
  }

  forget(object: ManagedObject): void {
    this.#options.references.forget(keyOf(object));
    for (const [claim, seen] of this.#seen) if (seen.uid === object.metadata.uid) this.#seen.delete(claim);
  }

  close(): void {
    this.#options.references.close();
  }

  /** The parts that the spec names, and those that it named once. */
  #partsOf(context: ReconcileContext<Client>, spec: Spec): readonly PartReconciler<Spec, Client>[] {
    const { resource, facts, time } = context;
    const { object } = resource;
    const [named, applied] = [this.#namedBy(object), appliedParts(object)];
    const parent = this.#contract.parent(spec);
    // As far as this process, which meets them, can tell: an earlier one may have died over a change of theirs.
    facts.lostParts ??= new Map(
      this.#contract.parts
        .filter(({ name }) => applied.has(name))
        .map((part): [string, number] => [part.name, settledMs(object, part, named.has(part.name), time.wall())])
        .filter(([, ms]) => ms < this.#options.createSettleMs)
        .map(([name, ms]) => [name, time.now() - ms]),
    );
    return this.#contract.parts
      .filter(({ name }) => named.has(name) || applied.has(name))
      .map((part) => {
        const claim = this.#claim(object, part.name);
        return new PartReconciler(part, context, {
          spec,
          parent,
          claim,
          named: named.has(part.name),
          applied: applied.has(part.name),
          seen: this.#seen,
          lostDeletes: this.#lostDeletes,
          createSettleMs: this.#options.createSettleMs,
        });
      });
  }

  /** The parts of which a change or a delete had no answer, since they were last changed; to take them off alone would be a write. */
  #unanswered(context: ReconcileContext<Client>, replaced: readonly string[] = []): readonly string[] {
    const { object } = context.resource;
    const { lostParts } = context.facts;
    const before = new Set(ownershipOf(object).unanswered).difference(new Set(replaced));
    const isLost = (name: string) => {
      const lostAt = lostParts?.get(name) ?? Number.NEGATIVE_INFINITY;
      if (lostAt + this.#options.createSettleMs > context.time.now() || before.has(name)) return true;
      return this.#lostDeletes.has(claimThere({ claim: this.#claim(object, name) }, context));
    };
    return [...appliedParts(object)].filter(isLost);
  }

  #summary(object: ManagedObject, spec: Spec, acted: readonly Acted[], now: number): Report {
    const named = acted.flatMap(({ part: { part }, result: { report, at } }): NamedReport[] =>
      report === undefined ? [] : [{ ...part, report, at }],
    );
    const parent = this.#contract.parent(spec);
    const whenAvailable = named.length === 0 ? `nothing of ${parent} is asked for` : `${parent} is as the spec asks`;
    const summary = summarise(named, whenAvailable, now);
    return { ...summary, fields: this.#contract.status(statuses(object, acted)) };
  }

  #namedBy(object: ManagedObject): ReadonlySet<string> {
    const isNamed = ({ name, condition }: { name: string; condition: string | undefined }) =>
      condition === undefined || object.spec[name] !== undefined;
    return new Set(this.#contract.parts.filter(isNamed).map(({ name }) => name));
  }

  #claim(object: ManagedObject, name: string): string {
    return `${this.#contract.parent(idsOf(object))} ${name}`;
  }
}

type Timed<T> = T & { readonly at: number };

// biome-ignore lint/suspicious/noExplicitAny: what its spec and its client are only the part knows
type AnyReconciler = PartReconciler<any, any>;

/** What is to be done about one part in this reconcile. */
interface Planned {
  readonly part: AnyReconciler;
  readonly plan: Timed<PartPlan>;
}

/** What came of it. */
interface Acted extends Planned {
  readonly result: Timed<PartResult>;
}

/** With when it was known. */
async function timed<T>(work: Promise<T>, { now }: { readonly now: () => number }): Promise<Timed<T>> {
  return { ...(await work), at: now() };
}

function namesOf(parts: readonly Pick<Planned, 'part'>[]): readonly string[] {
  return parts.map(({ part: { part } }) => part.name);
}

const isChange = ({ kind }: PartPlan['action']): boolean => kind === 'replace' || kind === 'delete';

/** The resource may have applied it from now on. */
const isToApply = ({ part, plan }: Planned): boolean => part.named && plan.action.kind !== 'stop';

const isReplaced = ({ plan, result }: Acted): boolean =>
  plan.action.kind === 'replace' && result.report?.reason === 'Available';

/** And nobody else turned out to have it meanwhile. */
const isTried = (acted: Acted): boolean => isToApply(acted) && acted.result.report?.reason !== 'Conflict';

/** For which generation each part is from now on. */
function generations(object: ManagedObject, acted: readonly Acted[]): Readonly<Record<string, PartGenerations>> {
  const { generation = 1 } = object.metadata;
  const of = ({ part: { part, named }, result: { report } }: Acted): PartGenerations => ({
    ...askedNow(object, part, named),
    ...(named && report?.reason === 'Available' && { inPlace: generation }),
  });
  return Object.fromEntries(acted.map((each) => [each.part.part.name, of(each)]));
}

/** Those that another one has; of what is asked for no more and not removed yet, those that he had. */
function contested(object: ManagedObject, parts: readonly AnyReconciler[]): readonly string[] {
  const before = new Set(ownershipOf(object).contested).intersection(appliedParts(object));
  const isContested = ({ named, rival, part: { name } }: AnyReconciler) =>
    named ? rival !== undefined : before.has(name);
  return parts.filter(isContested).map(({ part }) => part.name);
}

/**
 * For how long nothing was sent to the part that the service may still be carrying out, by the status: not at all where it says
 * nothing of a change that was begun since, since it is in place where one before that had no answer, and else for ever. That the
 * part, or all of the resource, is to go is no such change.
 */
function settledMs(
  object: ManagedObject,
  { name, condition = 'Ready' }: { readonly name: string; readonly condition?: string | undefined },
  named: boolean,
  now: number,
): number {
  const { generation = 0 } = object.metadata;
  const { status, observedGeneration = 0, lastTransitionTime = '' } = conditionOf(object, condition) ?? {};
  const asked = named && !isDeleting(object) ? generation : generation - 1;
  if (status !== 'True' || observedGeneration < asked) return 0;
  if (ownershipOf(object).unanswered?.includes(name) !== true) return Number.POSITIVE_INFINITY;
  return Math.max(0, now - (Date.parse(lastTransitionTime) || Number.NEGATIVE_INFINITY));
}

/** For what needs the ids of the parent only, which the CRD guarantees: a resource must always be deletable. */
function idsOf<Spec>(object: ManagedObject): Spec {
  return object.spec as Spec;
}

/** What is not known now stays as it was shown; a part that is not asked for, or certainly not there, is not shown. */
function statuses(object: ManagedObject, acted: readonly Acted[]): ReadonlyMap<string, PartStatus> {
  const shown = new Map<string, PartStatus>();
  for (const {
    part: { part, named, isAbsent },
    result: { observed, report },
  } of acted) {
    const before = part.condition === undefined ? object.status : object.status?.[part.name];
    const known = isAbsent ? {} : { ...(before as object) };
    const fields = observed === undefined ? known : part.status(observed);
    if (named) shown.set(part.name, { ...fields, applied: report?.reason === 'Available' });
  }
  return shown;
}
